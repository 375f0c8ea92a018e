// A story: whoever is new goes through it with Next alone, or with keys; it asks, says what the run says, and has a goal.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { LAPTOP, PHONE, suite } from "../harness.mjs";

const { onPage } = suite();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rooms that are lit, dimmed and not there yet, and the scene's number. */
function scene(app) {
  return app.page.evaluate(() => {
    const rooms = (kind) => [...document.querySelectorAll(`.room${kind}`)].map((room) => room.id.replace("room-", ""));
    return {
      number: document.querySelector("[data-testid=scene-number]").textContent,
      lit: rooms(":not(.dimmed, .folded)"),
      folded: rooms(".folded"),
      words: document.querySelector("[data-testid=scene-words]").textContent,
    };
  });
}

test("who looks closer for the first time is told that the lesson goes on, and is not shown all tools", onPage({ firstVisit: true }, async (app) => {
  await app.id("story-closer").click();
  await app.id("mixes").waitFor();
  assert.equal(await app.id("btn-until").count(), 0);
  await app.id("btn-tools").click();
  await app.page.locator("[data-testid=btn-until]:focus").waitFor();
  assert.equal(await app.id("btn-tools").count(), 0);
  await app.page.keyboard.press("m");
  await app.id("story-closer").click();
  await app.id("strip").waitFor();
  assert.equal(await app.id("mixes").count(), 0);
  await app.reload();
  await app.call("load", "first-look");
  assert.ok(await app.id("btn-until").isVisible());
}));

test("from what goes on in a lesson's run a button leads to the sandbox", onPage({ firstVisit: true }, async (app) => {
  await app.id("story-closer").click();
  await app.id("mixes").locator("button").click();
  await app.page.waitForFunction(() => window.deltascope.getState().lesson === "sandbox");
  assert.equal(await app.id("mixes").count(), 0);
}));

test("the first visit is told a story, and Next is all it takes", onPage({ firstVisit: true, viewport: LAPTOP }, async (app) => {
  assert.equal((await app.state()).lesson, "first-look");
  const first = await scene(app);
  assert.deepEqual([first.number, first.lit], ["1 of 7", ["api", "indexer", "processor"]]);
  assert.deepEqual(first.folded, ["reflector", "queue", "pop", "now"]);
  const told = [first.words];
  let played = 0;
  for (let at = 2; at <= 7; at += 1) {
    // The first press plays, the second finishes. Words and question come with their moment, not before it.
    await app.id("story-next").click();
    const seen = await app.page.evaluate(async () => {
      await new Promise(requestAnimationFrame);
      const text = (id) => document.querySelector(`[data-testid=${id}]`)?.textContent;
      const { playing } = window.deltascope.getState();
      const asks = text("question") ?? text("goal");
      return { playing, words: text("scene-words"), number: text("scene-number"), asks, live: text("meanwhile") };
    });
    if (seen.playing) {
      assert.deepEqual([seen.number, seen.words, seen.asks], [`${at} of 7`, "", undefined]);
      assert.ok(seen.live, "nothing says what happens meanwhile");
      await app.id("story-next").click();
    }
    played += Number(seen.playing);
    const now = await scene(app);
    assert.equal(now.number, `${at} of 7`);
    assert.ok(!told.includes(now.words));
    told.push(now.words);
  }
  assert.ok(played > 1, `${played} plays were seen`);
  assert.deepEqual((await scene(app)).folded, ["now"]);
  assert.equal(await app.id("story-next").count(), 0);
  assert.ok(await app.id("goal").isVisible());
  // Who has been here is not told it again.
  await app.reload();
  assert.notEqual((await app.state()).lesson, "first-look");
}));

test("a question is answered by the run, right or wrong, and the goal by acting", onPage({ link: "#v1;lesson=first-look;scene=4", viewport: LAPTOP }, async (app) => {
  // The speed is chosen among the machinery. At 1× this test takes three times as long and shows no more.
  await app.page.keyboard.press("m");
  await app.id("select-speed").selectOption("800");
  await app.page.keyboard.press("m");
  const answers = app.id("answer");
  assert.deepEqual(await answers.allTextContents(), ["1 time", "2 times", "3 times"]);
  // Nobody writes before it is one's turn.
  assert.equal(await app.id("btn-create").count(), 0);
  // Whoever goes on without an answer is told so.
  const onward = () => app.id("story-next").textContent();
  assert.equal(await onward(), "Skip the question");
  await answers.nth(0).click();
  await app.id("verdict").waitFor();
  assert.match(await app.id("verdict").textContent(), /^No\. It is: 3 times\..*newest.*each delta becomes one call/);
  assert.equal(await onward(), "Next");
  assert.ok(!(await app.state()).playing);
  // Once more, and right; the answers that say nothing any more are gone.
  await app.id("story-back").click();
  await app.id("story-back").click();
  await app.id("story-next").click();
  await app.id("story-next").click();
  assert.equal((await scene(app)).number, "4 of 7");
  await answers.filter({ hasText: "3 times" }).click();
  await app.id("verdict").waitFor();
  assert.match(await app.id("verdict").textContent(), /^Right\..*each delta becomes one call/);
  // To the goal, which is reached with the buttons of the stage.
  await app.page.goto(`${app.url}#v1;lesson=first-look;scene=7`);
  await app.id("goal").waitFor();
  for (const hints of [1, 2, 3]) {
    await app.id("hint").click();
    await app.page.waitForFunction((n) => document.querySelectorAll(".hints p").length === n, hints);
  }
  assert.equal(await app.id("hint").count(), 0);
  assert.ok(await app.id("story-run").isDisabled(), "nothing has been done that time could show");
  // At the end of the run nothing is left to run, until one does something.
  await app.toEnd();
  assert.ok(await app.id("story-run").isDisabled());
  await app.id("btn-cut").click();
  assert.ok(await app.id("story-run").isEnabled());
  await app.call("inject", { op: "delete", object: { metadata: { namespace: "default", name: "web-1" } } });
  await app.id("btn-compact").click();
  await app.id("story-run").click();
  await app.eventually("time runs", (state) => state.playing);
  // It stops once the handler has returned: its line is there, and it still says what it received.
  await app.id("goal-reached").waitFor();
  assert.ok(!(await app.state()).playing);
  assert.equal(await app.id("output-line").last().textContent(), "OnDelete: DeletedFinalStateUnknown{web-1}");
  assert.equal(await app.page.locator(".load").textContent(), "last: DeletedFinalStateUnknown");
  // What led to the goal makes room for what it teaches, until one goes back to it.
  assert.ok(!(await app.id("scene-words").isVisible()));
  assert.ok(await app.page.locator(".tale-ask").evaluate((of) => of.scrollHeight <= of.clientHeight), "it is read whole");
  await app.id("story-back").click();
  await app.id("scene-words").waitFor();
  assert.ok(await app.id("goal-reached").isVisible());
}));

test("an attempt that fails is told what is missing, and starting over begins with nothing chosen", onPage({ link: "#v1;lesson=first-look;scene=7", viewport: LAPTOP }, async (app) => {
  await app.id("goal").waitFor();
  const pod = app.page.locator(".api .obj", { hasText: "web-1" });
  await pod.click();
  await app.id("btn-delete").click();
  assert.equal(await app.id("goal-missed").count(), 0);
  await app.toEnd();
  assert.match(await app.id("goal-missed").textContent(), /^Not yet\..*received the Pod itself/);
  // What is deleted cannot be chosen, and says so.
  assert.match(await app.id("act-first").textContent(), /create a Pod first/);
  assert.equal(await app.page.locator(".obj.chosen").count(), 0);
  await app.id("goal-again").click();
  await app.id("goal-missed").waitFor({ state: "detached" });
  for (const pressed of ["true", "false"]) {
    await pod.click();
    assert.equal(await pod.getAttribute("aria-pressed"), pressed);
  }
  await pod.click();
  await app.id("goal-again").click();
  await app.page.waitForFunction(() => document.querySelector(".obj.chosen") === null);
}));

test("the menu of the title opens a lesson as the shelf does", onPage({ viewport: LAPTOP }, async (app) => {
  await app.id("select-lesson").selectOption("tombstone");
  await app.eventually("the story is told", ({ lesson, scene }) => lesson === "tombstone" && scene?.index === 1);
}));

test("whoever hears a story has its words before the stage, and nothing that no scene has come to", onPage({ link: "#v1;lesson=first-look;scene=1", viewport: LAPTOP }, async (app) => {
  const cdp = await app.context.newCDPSession(app.page);
  /** What there is for assistive technology, in order. */
  const heard = async () => {
    const { nodes } = await cdp.send("Accessibility.getFullAXTree");
    const of = new Map(nodes.map((node) => [node.nodeId, node]));
    const names = [];
    const read = (node) => {
      if (!node.ignored) names.push(node.name?.value);
      node.childIds.forEach((id) => of.has(id) && read(of.get(id)));
    };
    read(nodes[0]);
    return names.filter((name) => /^(Next|Stage|API SERVER|REFLECTOR|INDEXER|HANDLERS|API server → Reflector.*)$/.test(name));
  };
  const first = await heard();
  assert.deepEqual([...new Set(first)], ["Next", "Stage", "API SERVER", "INDEXER", "HANDLERS"]);
  await app.call("scene", 7);
  const last = await heard();
  assert.ok(last.includes("REFLECTOR"), `${last}`);
  // For the eye the stage is above them.
  const tops = await app.page.evaluate(() => [".stage", ".tale"].map((one) => document.querySelector(one).getBoundingClientRect().top));
  assert.ok(tops[0] < tops[1], `${tops}`);
}));

for (const theme of ["light", "dark"]) {
  test(`a whole story by keys alone, and axe finds nothing in it: ${theme}`, onPage({ link: "#v1;lesson=first-look;scene=1", theme, viewport: LAPTOP }, async (app) => {
    await app.page.evaluate(axe);
    const press = (key) => app.page.keyboard.press(key);
    const keys = ["ArrowRight", "PageDown", " "];
    for (let at = 1; ; at += 1) {
      await app.arrived();
      assert.equal((await scene(app)).number, `${at} of 7`);
      const found = await app.page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
        return violations.map((one) => [one.id, one.nodes.map((node) => node.html)]);
      });
      assert.deepEqual(found, [], `scene ${at}`);
      if (at === 7) break;
      if (at === 4) {
        // Tab leads to the answers.
        await app.id("answer").nth(1).focus();
        await press("Enter");
        await app.id("verdict").waitFor();
      }
      const key = keys[at % keys.length];
      await press(key);
      // An open question is passed with the third press: the first leads to the answers, the second shows what happens.
      if (at === 6) {
        await app.id("led").filter({ hasText: "again shows the answer" }).waitFor();
        assert.equal((await scene(app)).number, "6 of 7");
        await press(key);
        await app.id("verdict").waitFor();
        assert.equal((await scene(app)).number, "6 of 7");
        await press(key);
      }
    }
    await press("ArrowLeft");
    assert.equal((await scene(app)).number, "6 of 7");
    // The microscope at the same moment, and back.
    const { step } = await app.state();
    await press("m");
    await app.id("transport").waitFor();
    assert.equal(await app.id("story").count(), 0);
    assert.equal((await app.state()).step, step);
    await press("m");
    await app.id("story").waitFor();
    assert.deepEqual([(await app.state()).step, (await scene(app)).number], [step, "6 of 7"]);
  }));
}

test("an open question is answered by digits, again each time one comes to it, and no key skips it", onPage({ link: "#v1;lesson=first-look;scene=4", viewport: LAPTOP }, async (app) => {
  const press = (key) => app.page.keyboard.press(key);
  const question = async () => (await app.state()).scene.question;
  for (const key of ["ArrowRight", " ", "PageDown"]) {
    await app.call("scene", 4);
    await press(key);
    await app.page.locator(".tale-ask .answer:focus").waitFor();
    assert.match(await app.id("led").textContent(), /again shows the answer/);
    await press(key);
    await app.eventually(`${key} shows it`, (state) => state.scene.question.answered === "shown");
    await app.id("verdict").waitFor();
    await press(key);
    await app.eventually(`${key} goes on`, (state) => state.scene.index === 5);
    await app.call("scene", 3);
  }
  await app.call("scene", 4);
  // No such answer, and one.
  await press("9");
  assert.equal((await question()).answered, null);
  await press("2");
  await app.eventually("answered", (state) => state.scene.question.answered === 1);
  // Another class: back to the question, also from within the play.
  await press("PageUp");
  await app.eventually("again", (state) => state.scene.index === 4 && state.scene.question.answered === null && !state.playing);
  await press("3");
  await app.id("verdict").filter({ hasText: "Right." }).waitFor();
  await press("PageUp");
  assert.equal(await app.page.locator(".answer[aria-pressed=true]").count(), 0);
  await press("1");
  await app.id("verdict").filter({ hasText: "No. It is: 3 times." }).waitFor();
  // A field takes the digit; what moves in it does not go on.
  await app.page.goto(`${app.url}#v1;lesson=dedup;scene=2`);
  const field = app.id("answer-number");
  await field.waitFor();
  await press("3");
  await app.page.locator("[data-testid=answer-number]:focus").waitFor();
  assert.equal(await field.inputValue(), "3");
  await press("ArrowRight");
  assert.equal((await app.state()).scene.index, 2);
  await press("Enter");
  await app.eventually("answered", (state) => state.scene.question.answered === 3);
  // What a remote sends answers with what is typed; where nothing is, it shows the answer.
  await app.call("scene", 2);
  await press("4");
  await press("PageDown");
  await app.eventually("answered", (state) => state.scene.question.answered === 4);
  await app.call("scene", 2);
  await press("ArrowRight");
  await app.page.locator("[data-testid=answer-number]:focus").waitFor();
  await press("ArrowRight");
  await app.eventually("shown", (state) => state.scene.question.answered === "shown");
}));

test("on a phone one room is shown at a time: the one that the scene is about", onPage({ link: "#v1;lesson=first-look;scene=1", viewport: PHONE }, async (app) => {
  const shown = () =>
    app.page.evaluate(() => [...document.querySelectorAll(".room")].filter((room) => room.checkVisibility()).map((room) => room.id.replace("room-", "")));
  const rooms = [];
  for (let at = 1; at <= 5; at += 1) {
    await app.arrived();
    rooms.push(...(await shown()));
    const wide = await app.page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(wide, PHONE.width, `scene ${at}`);
    await app.id("story-next").click();
  }
  assert.deepEqual(rooms, ["api", "api", "queue", "queue", "processor"]);
}));

test("on a phone a map says where in the path one is, and leads to each room", onPage({ link: "#v1;lesson=first-look;scene=4", viewport: PHONE }, async (app) => {
  const map = () =>
    app.page.evaluate(() => {
      const named = (of) => [...document.querySelectorAll(`.room-map ${of}`)].map((stop) => stop.textContent);
      const rooms = [...document.querySelectorAll(".room")].filter((room) => room.checkVisibility({ opacityProperty: true }));
      return { all: named("button"), lit: named(".lit button"), here: named("[aria-current]"), rooms: rooms.map((room) => room.id.replace("room-", "")) };
    });
  await app.arrived();
  const all = ["API server", "Reflector", "Queue", "Pop", "Indexer", "Handlers"];
  assert.deepEqual(await map(), { all, lit: ["Queue"], here: ["Queue"], rooms: ["queue"] });
  // Also a room that the story has not come to.
  await app.id("map-indexer").click();
  assert.deepEqual(await map(), { all, lit: ["Queue"], here: ["Indexer"], rooms: ["indexer"] });
  // A question leaves the room its height.
  assert.ok(await app.id("question").isVisible());
  const high = await app.page.evaluate(() => document.querySelector(".stage").clientHeight);
  assert.ok(high >= PHONE.height * 0.3, `${high} px`);
  await app.id("story-next").click();
  await app.arrived();
  assert.deepEqual((await map()).here, ["Handlers"]);
  const wide = await app.page.evaluate(() => document.querySelector(".room-map ol").scrollWidth);
  assert.ok(wide <= PHONE.width, `${wide} px`);
}));

test("on a phone one acts where the goal's tools are, and stays there", onPage({ link: "#v1;lesson=first-look;scene=7", viewport: PHONE }, async (app) => {
  await app.id("goal").waitFor();
  const here = () => app.page.evaluate(() => document.querySelector(".room-map [aria-current]").textContent);
  // From the start what one acts with is in sight, above the panel.
  assert.equal(await here(), "API server");
  const bottom = (id) => app.id(id).evaluate((of) => of.getBoundingClientRect().bottom);
  const top = await app.id("story").evaluate((of) => of.getBoundingClientRect().top);
  assert.ok(Math.max(await bottom("btn-create"), await bottom("btn-compact")) < top);
  // And all that is said.
  for (const lang of ["en", "zh"]) {
    const { scrollHeight, clientHeight } = await app.id("story").evaluate(({ scrollHeight, clientHeight }) => ({ scrollHeight, clientHeight }));
    assert.ok(scrollHeight <= clientHeight, `${lang}: ${scrollHeight} > ${clientHeight}`);
    await app.id("toggle-lang").click();
  }
  await app.id("hint").click();
  assert.equal(await here(), "API server");
  // Its words have taken the place of the scene's.
  assert.equal(await app.id("scene-words").isVisible(), false);
  await app.id("btn-cut").click();
  await app.eventually("the watch is cut", ({ step, steps }) => step < steps);
  assert.equal(await here(), "API server");
  await app.page.locator(".api .obj", { hasText: "web-1" }).click();
  await app.id("btn-delete").click();
  await app.id("btn-compact").click();
  await app.toEnd();
  await app.id("goal-reached").waitFor();
  // What came about is seen where it happened.
  assert.equal(await here(), "Handlers");
}));

test("on a phone no room recedes, and the newest line is above what fades", onPage({ link: "#v1;lesson=late-handler;scene=6", viewport: PHONE }, async (app) => {
  await app.arrived();
  const above = await app.page.evaluate(() => {
    const bottom = (of) => of.getBoundingClientRect().bottom;
    return bottom(document.querySelector(".stage")) - bottom([...document.querySelectorAll(".output .line")].at(-1));
  });
  assert.ok(above >= 24, `${above} px above the end of the stage`);
  // Trails are left out of what recedes.
  await app.page.goto(`${app.url}#v1;lesson=first-look;scene=4`);
  await app.id("map-indexer").click();
  const { opacity } = await app.id("room-indexer").evaluate((room) => ({ opacity: getComputedStyle(room).opacity }));
  assert.deepEqual([await app.page.locator(".dimmed, .folded").count(), opacity], [0, "1"]);
}));

test("the first story's stage has nothing that the story has no words for", onPage({ link: "#v1;lesson=first-look;scene=7", viewport: LAPTOP }, async (app) => {
  const unexplained = ["HasSynced", "listener", "allowWatchBookmarks", "↻", "held", "watch errors"];
  const seen = () => app.page.evaluate(() => document.querySelector(".stage").innerText);
  const found = (text) => unexplained.filter((word) => text.includes(word));
  assert.deepEqual(found(await seen()), []);
  // What it is doing, and nothing to choose from.
  assert.deepEqual(await app.page.locator(".state").evaluateAll((all) => all.filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => one.textContent)), ["WATCH"]);
  await app.page.keyboard.press("m");
  await app.id("transport").waitFor();
  assert.deepEqual(found(await seen()), unexplained);
}));

test("what a handler prints does not lead over another one's places", onPage({ link: "#v1;lesson=slow-handler;scene=2", viewport: LAPTOP }, async (app) => {
  const near = await app.page.evaluate(async () => {
    for (let n = 0; n < 4; n += 1) await new Promise(requestAnimationFrame);
    const stage = document.querySelector("#motion").getBoundingClientRect();
    const places = [...document.querySelectorAll(".lst:nth-child(2) .ring i")].map((place) => place.getBoundingClientRect());
    const paths = [...document.querySelectorAll("#motion path")].filter((path) => path.getTotalLength() > 40);
    const points = paths.flatMap((path) => Array.from({ length: 200 }, (_, n) => path.getPointAtLength((path.getTotalLength() * n) / 199)));
    const by = 3;
    const over = points.filter(({ x, y }) => places.some((place) =>
      x + stage.left > place.left - by && x + stage.left < place.right + by && y + stage.top > place.top - by && y + stage.top < place.bottom + by));
    return { paths: paths.length, over: over.length };
  });
  assert.ok(near.paths > 0);
  assert.equal(near.over, 0);
}));

test("a marked word says what it is, by mouse and by keyboard", onPage({ link: "#v1;lesson=first-look;scene=1", viewport: PHONE }, async (app) => {
  const { page } = app;
  const says = app.id("term-says");
  const term = (name) => page.locator(".tale .term", { hasText: name });
  const shown = async (name, text) => {
    await says.waitFor();
    assert.match(await says.textContent(), text);
    const { left, right, top, bottom } = await says.evaluate((of) => of.getBoundingClientRect().toJSON());
    assert.ok(left >= 0 && right <= PHONE.width && top >= 0 && bottom <= PHONE.height, `${name}: ${[left, right, top, bottom]}`);
    assert.equal(await term(name).getAttribute("aria-describedby"), await says.getAttribute("id"));
    assert.equal(await term(name).getAttribute("aria-expanded"), "true");
  };
  const gone = () => says.waitFor({ state: "detached" });
  await term("cache").hover();
  await shown("cache", /copy of the API server/);
  // Whoever reads it may point at it.
  await says.hover();
  assert.equal(await says.count(), 1);
  await page.mouse.move(5, 5);
  await gone();
  await term("cache").click();
  await page.mouse.move(5, 5);
  await shown("cache", /copy of the API server/);
  await app.id("room-api").click();
  await gone();
  await term("informer").focus();
  await shown("informer", /tells your handlers/);
  await page.keyboard.press("Escape");
  await gone();
  await page.keyboard.press("Enter");
  await shown("informer", /tells your handlers/);
  await page.keyboard.press("Enter");
  await gone();
  // The story's keys are the story's, and the focus does not get lost with the words.
  await page.keyboard.press("ArrowRight");
  await app.arrived();
  assert.deepEqual([(await app.state()).scene.index, await page.evaluate(() => document.activeElement.className)], [2, "tale"]);
  await app.id("toggle-lang").click();
  await term("watch").click();
  await shown("watch", /一直打开的请求/);
  await page.keyboard.press("Escape");
  await app.id("btn-help").click();
  assert.match(await page.locator(".help .terms").last().innerText(), /Reflector[^]*负责 List 和 watch/);
}));

test("the words of a story can be read from far away", onPage({ link: "#v1;lesson=first-look;scene=5", viewport: LAPTOP }, async (app) => {
  const sizes = await app.page.evaluate(() =>
    [...document.querySelectorAll(".tale-say .words p, .tale-say .words b")].map((one) => parseFloat(getComputedStyle(one).fontSize)));
  assert.ok(sizes.length > 2 && sizes.every((size) => size >= 20), `${sizes}`);
}));

test("where a program has called nothing, one is told to add something first", onPage({ lesson: "deltafifo", viewport: LAPTOP }, async (app) => {
  await app.call("seek", 0);
  assert.equal(await app.id("act-first").textContent(), "+ Add an object first");
  await app.id("btn-create").click();
  await app.id("form-object").locator("input").first().fill("");
  await app.id("form-object").locator("[type=submit]").click();
  // Its objects need no namespace.
  assert.equal(await app.id("wrong").textContent(), "Needed.");
}));

test("where a program fills the queue, one acts as the program: by clicks alone to the goal", onPage({ link: "#v1;lesson=deltafifo;scene=5", viewport: LAPTOP }, async (app) => {
  await app.id("goal").waitFor();
  const words = (id) => app.id(id).textContent();
  assert.deepEqual([await words("btn-create"), await words("btn-edit"), await words("btn-delete")], ["+ Add", "~ Update", "× Delete"]);
  // Why it cannot be pressed, and what a Pop of nothing does, is said.
  assert.ok(await app.id("btn-delete").isDisabled());
  assert.match(await words("act-first"), /Choose a call/);
  await app.id("btn-pop").click();
  await app.page.getByText("Pop waits until something comes").waitFor();
  await app.id("goal-again").click();
  await app.page.getByText("Pop waits until something comes").waitFor({ state: "detached" });
  // What is deleted can be deleted again: a program may call what it likes.
  await app.id("stream-line").last().click();
  assert.equal(await app.id("stream-line").last().getAttribute("aria-pressed"), "true");
  await app.id("btn-edit").click();
  await app.id("form-object").getByText("Update", { exact: true }).click();
  await app.id("form-object").waitFor({ state: "detached" });
  await app.id("btn-delete").click();
  await app.id("btn-delete").click();
  await app.id("btn-pop").click();
  assert.equal(await app.id("goal-reached").count(), 0);
  await app.id("story-run").click();
  await app.eventually("time runs", (state) => state.playing);
  await app.toEnd();
  await app.id("goal-reached").waitFor();
  // Six lines of the lesson, and four of an Update and one Delete.
  assert.equal((await app.state()).output.length, 10);
}));

test("whoever has reached a goal sees side by side what all generations make of it", onPage({ link: "#v1;lesson=realfifo;scene=5" }, async (app) => {
  await app.id("goal").waitFor();
  assert.equal(await app.id("story-race").count(), 0);
  for (const name of ["web-0", "web-1", "web-0"]) {
    await app.call("inject", { op: "update", object: { metadata: { namespace: "default", name } } });
  }
  await app.toEnd();
  await app.id("goal-reached").waitFor();
  await app.id("story-race").click();
  const { scene } = await app.eventually("the four generations", (s) => s.comparison?.with === "race");
  assert.equal(scene, null);
  await app.page.locator(".race-lane .c").first().waitFor();
  const joined = (era) => app.page.locator(`.race-lane[data-era='${era}'] .c.joined`).count();
  assert.deepEqual([await joined("1.32"), await joined("1.34")], [1, 0], "both changes of web-0 leave a DeltaFIFO together");
}));
