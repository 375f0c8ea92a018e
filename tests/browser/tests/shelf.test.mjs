// The shelf: when it opens, what it finds, its keys, its courses, and what is remembered.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { DESKTOP, LAPTOP, PHONE, blockStorage, suite } from "../harness.mjs";

const { onPage } = suite();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const isOpen = (app) => app.id("shelf").isVisible();
/** The lessons on the shelf, in order. */
const cards = (app) => app.page.locator(".shelf a.card").evaluateAll((all) => all.map((card) => card.dataset.testid.replace("card-", "")));
const focused = (app) => app.page.evaluate(() => document.activeElement?.dataset.testid ?? null);

test("the first visit tells a story, the second opens the shelf, and a tick taken away ends that", onPage({ firstVisit: true, asFound: true }, async (app) => {
  assert.ok(await app.id("story").isVisible());
  assert.equal((await app.state()).lesson, "first-look");
  assert.equal(await isOpen(app), false);
  await app.reload();
  await app.id("shelf").waitFor();
  assert.equal(await app.id("room-queue").isVisible(), false, "it is in the place of the stage");
  await app.id("shelf-first").uncheck();
  await app.reload();
  await app.id("room-queue").waitFor();
  assert.equal(await isOpen(app), false);
}));

test("a symptom finds its lesson in both languages, and a card opens its story", onPage({}, async (app) => {
  await app.id("btn-lessons").click();
  await app.id("shelf").waitFor();
  const all = await cards(app);
  for (const [query, first] of [["too old resource version", "gone-410"], ["  DELETEDfinalstateUNKNOWN ", "tombstone"], ["入门", "first-look"], ["realfifo", "realfifo"], ["1.34", "realfifo"]]) {
    await app.id("shelf-search").fill(query);
    assert.equal((await cards(app))[0], first, query);
    assert.match(await app.id("shelf-found").textContent(), /^[1-9]/);
  }
  // A word of the glossary says what it is; a version is the one in which a card opens its story.
  await app.id("shelf-search").fill("realfifo");
  assert.match(await app.id("shelf-term").textContent(), /^RealFIFO .*0\.33/);
  await app.id("shelf-search").fill("client-go 0.34");
  assert.match(await app.id("card-gone-410").textContent(), /client-go 0\.34/);
  assert.match(await app.id("card-gone-410").getAttribute("href"), /era=1\.34/);
  await app.id("shelf-search").fill("xyzzy");
  assert.deepEqual(await cards(app), []);
  await app.id("shelf-search").fill("");
  assert.deepEqual(await cards(app), all);
  await app.id("card-tombstone").click();
  const { lesson, scene } = await app.eventually("the story is told", (s) => s.scene !== null);
  assert.deepEqual([lesson, scene.index], ["tombstone", 1]);
  assert.equal(await isOpen(app), false);
  await app.id("btn-lessons").click();
  await app.id("card-sandbox").click();
  await app.eventually("the sandbox is open", (s) => s.lesson === "sandbox" && s.scene === null);
  assert.equal(await isOpen(app), false);
}));

test("a link opens the shelf with a search and leaves the run that is open", onPage({ link: "#v1;shelf;q=relist" }, async (app) => {
  await app.id("shelf").waitFor();
  assert.equal(await app.id("shelf-search").inputValue(), "relist");
  assert.ok((await cards(app)).length > 0);
  assert.equal(await app.id("shelf-link").getAttribute("href"), "#v1;shelf;q=relist");
  await app.call("load", "tombstone");
  assert.equal(await isOpen(app), false, "what is opened is shown");
  await app.page.evaluate(() => (location.hash = "#v1;shelf;course=short"));
  await app.id("shelf").waitFor();
  assert.equal((await cards(app)).length, 5);
  assert.equal((await app.state()).lesson, "tombstone");
}));

test("the address says what the shelf has opened, and in which course; Back leads to the shelf", onPage({}, async (app) => {
  const { page } = app;
  const chosen = () => app.id("select-lesson").locator("option:checked").textContent();
  const told = () => app.eventually("its story is told", (s) => s.lesson === "deltafifo" && s.scene?.index === 1);
  await app.id("btn-lessons").click();
  assert.equal(await page.title(), "Lessons · deltascope");
  assert.equal(await chosen(), "Choose a lesson…");
  await app.id("course-short").click();
  await app.id("card-deltafifo").click();
  await told();
  assert.notEqual(await chosen(), "Choose a lesson…");
  await app.call("scene", 2);
  await page.goBack();
  await app.id("shelf").waitFor();
  assert.equal(new URL(page.url()).hash, "#v1;shelf;course=short");
  assert.equal((await cards(app)).length, 5);
  await page.goForward();
  await app.id("shelf").waitFor({ state: "detached" });
  assert.equal((await app.state()).scene?.index, 2, "the run is as it was left");
  // It names the scene, too, so that the page may be loaded anew.
  assert.equal(new URL(page.url()).hash, "#v1;lesson=deltafifo;scene=2;course=short");
  await app.reload();
  const { scene } = await app.eventually("its scene is told", (s) => s.lesson === "deltafifo" && s.scene?.index === 2);
  assert.equal(await page.title(), `${await app.page.locator(".where > b").textContent()} · deltascope`);
  await app.call("scene", scene.of);
  assert.equal(await app.id("story-next-lesson").getAttribute("href"), "#v1;lesson=resync-is-not-relist;scene=1;course=short");
}));

/** How far the shelf is read: on a narrow screen the page scrolls, and not the shelf. */
const readTo = (app) => app.page.evaluate(() => document.scrollingElement.scrollTop + document.querySelector(".shelf").scrollTop);
const isReadTo = (app, top) =>
  app.page.waitForFunction((top) => document.scrollingElement.scrollTop + document.querySelector(".shelf")?.scrollTop === top, top);

for (const viewport of [DESKTOP, PHONE]) {
  test(`Back leads to the cards where they were left, and Forward to a run as it was left (${viewport.width})`, onPage({ viewport }, async (app) => {
    const { page } = app;
    const card = app.id("card-myinformer");
    await app.id("btn-lessons").click();
    await card.scrollIntoViewIfNeeded();
    const left = await readTo(app);
    assert.ok(left > 500, `${left}`);
    await card.click();
    const { step: opened } = await app.eventually("it is open", (s) => s.lesson === "myinformer");
    await app.call("step", 1);
    const { step } = await app.state();
    assert.notEqual(step, opened);
    await page.goBack();
    await app.id("shelf").waitFor();
    await isReadTo(app, left);
    await page.goForward();
    await app.id("shelf").waitFor({ state: "detached" });
    assert.equal((await app.state()).step, step);
    // Opened afresh, the shelf begins at its beginning, and so does a course.
    await app.id("btn-lessons").click();
    await app.id("shelf").waitFor();
    assert.equal(await readTo(app), 0);
    await card.scrollIntoViewIfNeeded();
    assert.ok(await readTo(app) > 500);
    await app.id("course-short").evaluate((course) => course.click());
    await app.id("course-close").waitFor();
    assert.equal(await readTo(app), 0);
    await app.id("course-close").click();
    // Also in the generation that was searched for.
    await app.id("shelf-search").fill("client-go 0.34");
    await app.id("card-gone-410").click();
    await app.eventually("its story is told", (s) => s.lesson === "gone-410" && s.scene?.index === 1);
    await app.call("scene", 2);
    const { step: told, era } = await app.state();
    assert.equal(era, "1.34");
    await page.goBack();
    await app.id("shelf").waitFor();
    await page.goForward();
    await app.id("shelf").waitFor({ state: "detached" });
    const { step: now, scene } = await app.state();
    assert.deepEqual([now, scene?.index], [told, 2]);
  }));
}

test("on a phone the lessons open at their top, also where they point at the next one", onPage({ link: "#v1;lesson=first-look;scene=7", viewport: PHONE }, async (app) => {
  await app.eventually("it is told", (s) => s.lessonProgress["first-look"]?.ended);
  await app.id("btn-lessons").click();
  await app.id("shelf").waitFor();
  await app.page.locator(".card.next:focus").waitFor();
  assert.equal(await readTo(app), 0);
}));

test("the keyboard searches, goes through the cards, opens one and leaves", onPage({}, async (app) => {
  const { keyboard } = app.page;
  await app.id("btn-lessons").focus();
  await keyboard.press("Enter");
  await app.id("shelf").waitFor();
  const { step } = await app.state();
  await keyboard.press("/");
  assert.equal(await focused(app), "shelf-search");
  await keyboard.type("a.");
  assert.equal((await app.state()).step, step, "no key reaches the stage");
  await app.id("shelf-search").fill("");
  const order = await cards(app);
  for (const [key, to] of [["ArrowDown", 0], ["ArrowRight", 1], ["ArrowRight", 2], ["ArrowLeft", 1]]) {
    await keyboard.press(key);
    assert.equal(await focused(app), `card-${order[to]}`, key);
  }
  const top = () => app.page.evaluate(() => document.activeElement.getBoundingClientRect().top);
  const before = await top();
  await keyboard.press("ArrowDown");
  assert.ok(await top() > before, "a row down");
  await keyboard.press("ArrowUp");
  await keyboard.press("Escape");
  assert.equal(await isOpen(app), false);
  assert.equal(await focused(app), "btn-lessons");
  await keyboard.press("Enter");
  await keyboard.press("ArrowDown");
  await keyboard.press("Enter");
  await app.eventually("the first card's story is told", (s) => s.lesson === order[0] && s.scene?.index === 1);
}));

test("progress survives a reload, is said to scripts, and can be forgotten", onPage({}, async (app) => {
  assert.deepEqual((await app.state()).lessonProgress, {});
  await app.id("btn-lessons").click();
  await app.id("begin-short").click();
  await app.eventually("it is begun", (s) => s.lessonProgress["first-look"]?.opened);
  const { scene } = await app.state();
  await app.call("scene", scene.of);
  const told = { "first-look": { opened: true, ended: true, reached: false } };
  assert.deepEqual((await app.eventually("it is told", (s) => s.lessonProgress["first-look"].ended)).lessonProgress, told);
  const next = await app.id("story-next-lesson").textContent();
  await app.id("story-lessons").click();
  const pointed = app.page.locator(".shelf a.card.next");
  assert.equal(await pointed.getAttribute("data-testid"), "card-deltafifo", "the next of the course");
  assert.ok(next.includes((await pointed.locator(".ask").textContent()).replace(/^\d+/, "")), next);
  assert.equal(await focused(app), "card-deltafifo");
  await app.reload();
  assert.deepEqual((await app.state()).lessonProgress, told);
  await app.id("btn-lessons").click();
  await app.id("card-first-look").locator(".so-far").waitFor();
  await app.id("shelf-forget").click();
  assert.deepEqual((await app.state()).lessonProgress, {});
  // The address still names the lesson: opening it would begin it.
  await app.page.evaluate(() => history.replaceState(null, "", location.pathname));
  await app.reload();
  assert.deepEqual((await app.state()).lessonProgress, {});
}));

test("what one tab forgets, another does not bring back", onPage({ link: "#v1;lesson=first-look;scene=1" }, async (app) => {
  await app.eventually("it is begun", (s) => s.lessonProgress["first-look"]?.opened);
  const other = await app.context.newPage();
  await other.goto(app.url);
  await other.waitForFunction(() => window.deltascope?.drawn.then(() => true));
  await other.evaluate(() => window.deltascope.drawn);
  await other.getByTestId("btn-lessons").click();
  await other.getByTestId("shelf-forget").click();
  await app.eventually("it is forgotten here too", (s) => Object.keys(s.lessonProgress).length === 0);
  await app.call("load", "deltafifo");
  await app.call("scene", 1);
  await app.eventually("only what came since", (s) => s.lessonProgress.deltafifo?.opened);
  assert.deepEqual(Object.keys((await app.state()).lessonProgress), ["deltafifo"]);
}));

test("the page works where storage is blocked", onPage({ firstVisit: true }, async (app) => {
  await app.page.addInitScript(blockStorage);
  await app.reload();
  await app.id("story").waitFor();
  await app.id("btn-lessons").click();
  await app.id("card-tombstone").click();
  const { lessonProgress } = await app.eventually("it is told", (s) => s.lesson === "tombstone" && s.scene !== null);
  assert.ok(lessonProgress.tombstone.opened, "until the page is left");
}));

test("a course has notes for its teacher, and only they are printed", onPage({}, async (app) => {
  await app.id("btn-lessons").click();
  await app.id("teach-long").click();
  const lessons = app.page.locator(".notes-of");
  await app.page.waitForFunction(() => document.querySelectorAll(".notes-of").length === 13);
  const first = await lessons.first().textContent();
  for (const words of ["How many times will your handler be called?", "1 time", "3 times", "Scene 5", "Your turn"]) {
    assert.ok(first.includes(words), `${words}: ${first}`);
  }
  await app.page.emulateMedia({ media: "print" });
  assert.equal(await app.id("btn-lessons").isVisible(), false);
  assert.equal(await app.id("teach-print").isVisible(), false);
  assert.ok(await lessons.first().isVisible());
  await app.page.emulateMedia({ media: "screen" });
  await app.id("teach-back").click();
  assert.equal((await cards(app)).length, 13);
  await app.id("course-close").click();
  assert.ok((await cards(app)).length > 13);
  // The course begins in front of a class.
  await app.id("teach-long").click();
  await app.id("teach-present").click();
  await app.page.locator("html.presenting").waitFor();
  const { lesson, scene } = await app.state();
  assert.deepEqual([lesson, scene.index], ["first-look", 1]);
  await app.page.goBack();
  await app.page.locator(".notes-of").first().waitFor();
  await app.page.locator("html:not(.presenting)").waitFor();
}));

for (const viewport of [DESKTOP, PHONE]) {
  test(`Back leads from a scene to the notes that it was opened from, as far as they were read (${viewport.width})`, onPage({ viewport }, async (app) => {
    const { page } = app;
    const all = () => page.waitForFunction(() => document.querySelectorAll(".notes-of").length === 13);
    await app.id("btn-lessons").click();
    await app.id("teach-long").click();
    await all();
    const link = page.locator(".notes-of").nth(6).locator("a.scene").first();
    await link.scrollIntoViewIfNeeded();
    const read = await readTo(app);
    assert.ok(read > 500, `${read}`);
    const [, lesson, scene] = /lesson=([^;]+);scene=(\d+)/.exec(await link.getAttribute("href"));
    await link.click();
    await app.eventually("the scene is shown", (s) => s.lesson === lesson && s.scene?.index === Number(scene));
    assert.equal(await isOpen(app), false);
    await app.id("story-next").click();
    await page.goBack();
    await all();
    assert.equal(new URL(page.url()).hash, "#v1;shelf;course=long;teach");
    await isReadTo(app, read);
    assert.equal((await app.state()).playing, false, "nothing goes on unseen");
    assert.ok(await link.isVisible());
    await page.goForward();
    await app.eventually("the run is as it was left", (s) => s.lesson === lesson && s.scene?.index === Number(scene) + 1);
    assert.equal(await isOpen(app), false);
    // The link of a course that there is not opens the lessons.
    await page.evaluate(() => (location.hash = "#v1;shelf;course=none;teach"));
    await app.id("shelf-search").waitFor();
  }));
}

test("Back leads to the notes from whatever stands before the stage, and leaves what was open before them", onPage({ link: "#v1;lesson=deltafifo" }, async (app) => {
  const { page } = app;
  const link = (n) => page.locator("[data-testid=notes] a.scene").nth(n);
  const back = async (course) => {
    await page.goBack();
    await app.id("notes").waitFor();
    assert.equal(new URL(page.url()).hash, `#v1;shelf;course=${course};teach`);
  };
  await app.id("btn-lessons").click();
  await app.id("teach-short").click();
  await page.waitForFunction(() => document.querySelectorAll(".notes-of").length === 5);
  const before = page.url();
  for (const open of ["presenter", "handout", "sources", "help"]) {
    await link(2).click();
    await app.id("story-next").waitFor();
    if (open === "handout" || open === "sources") {
      await app.call("scene", 99);
      await app.id("story-more").click();
    }
    if (open === "handout") await app.id("story-handout").click();
    if (open === "presenter" || open === "help") await page.keyboard.press({ presenter: "p", help: "?" }[open]);
    await page.locator({ presenter: "html.presenting", handout: "html.on-paper", sources: "dialog[open]", help: "dialog[open]" }[open]).waitFor();
    await back("short");
    assert.equal(await page.locator("html.presenting, html.on-paper, dialog[open]").count(), 0, open);
  }
  // What was open before the notes has its own place in the history.
  await page.goBack();
  await page.waitForURL(before, { timeout: 5_000 });
  await app.eventually("the lesson is open again", (s) => s.lesson === "deltafifo" && s.scene === null);
  assert.equal(await isOpen(app), false);
  // Where they were read to is of use once: opened afresh, they begin at their beginning.
  await app.id("btn-lessons").click();
  await app.id("teach-short").click();
  const top = () => app.id("shelf").evaluate((shelf) => shelf.scrollTop);
  await link(9).click();
  await app.id("story-next").waitFor();
  await back("short");
  await page.waitForFunction(() => document.querySelector(".shelf").scrollTop > 0);
  await app.id("teach-back").click();
  await app.id("teach-short").click();
  await page.waitForFunction(() => document.querySelectorAll(".notes-of").length === 5);
  assert.equal(await top(), 0);
}));

for (const viewport of [DESKTOP, LAPTOP, PHONE]) {
  test(`axe finds nothing on the shelf at ${viewport.width}, and nothing is wider than the screen`, onPage({ viewport }, async (app) => {
    await app.page.evaluate(axe);
    await app.id("btn-lessons").click();
    await app.id("shelf").waitFor();
    for (const what of ["cards", "notes"]) {
      if (what === "notes") {
        await app.id("teach-short").click();
        await app.page.waitForFunction(() => document.querySelectorAll(".notes-of").length === 5);
      }
      for (const [lang, theme] of [["en", "light"], ["zh", "dark"]]) {
        await app.language(lang);
        await app.theme(theme);
        await app.page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished.catch(() => {}))));
        const found = await app.page.evaluate(async () => {
          const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
          return violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`)]);
        });
        assert.deepEqual(found, [], `${what} ${lang} ${theme}`);
        const over = await app.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${what} ${lang}: ${over} px too wide`);
      }
    }
  }));
}
