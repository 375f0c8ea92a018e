// In front of a class: the presenter, the code of a link, and the handout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { LAPTOP, PHONE, suite } from "../harness.mjs";

const { onPage } = suite();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const STORY = "#v1;lesson=first-look;scene=1";
const HANDOUT = "#v1;lesson=first-look;handout";
/** The rooms of each scene. */
const LIT = [
  ["api", "indexer", "processor"],
  ["api", "reflector"],
  ["reflector", "queue"],
  ["queue"],
  ["queue", "pop", "indexer", "processor"],
  ["api", "reflector", "indexer"],
  ["api", "reflector", "queue", "pop", "indexer", "processor"],
];

const press = (app, key) => app.page.keyboard.press(key);
const presents = (app) => app.page.evaluate(() => document.documentElement.classList.contains("presenting"));
const number = (app) => app.id("scene-number").textContent();

/** Begins the presenter, and waits until it is laid out. */
async function present(app) {
  await press(app, "p");
  await app.page.waitForFunction(() => document.documentElement.classList.contains("presenting"));
  await settled(app);
}

async function settled(app) {
  await app.page.evaluate(async () => {
    for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame);
  });
}

async function next(app) {
  const { scene } = await app.state();
  await press(app, "PageDown");
  // At an open question the second press shows what happens, and the third one goes on.
  if (scene.question && scene.question.answered === null) {
    await app.id("led").filter({ hasText: "→" }).waitFor();
    assert.equal((await app.state()).scene.index, scene.index);
    assert.equal(await app.page.locator(".tale-ask :focus").count(), 1);
    await press(app, "PageDown");
    await app.eventually("it is decided", (state) => state.scene.question.answered === "shown");
    if ((await app.state()).playing) await press(app, "PageDown");
    await app.id("verdict").waitFor();
    await press(app, "PageDown");
  }
  if ((await app.state()).playing) await press(app, "PageDown");
  await app.eventually("the play is over", (state) => !state.playing);
  await settled(app);
}

/** What is read on the screen in smaller letters than `least` px, and how much is read at all. */
function small(app, least) {
  return app.page.evaluate((least) => {
    const found = [];
    let count = 0;
    for (const part of document.querySelectorAll(".grid .room, .tale")) {
      const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const of = text.parentElement;
        if (!text.data.trim() || of.closest(".heard") || !of.checkVisibility({ visibilityProperty: true })) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        if (range.getBoundingClientRect().width <= 1) continue;
        count += 1;
        const scale = of.ownerSVGElement ? of.getScreenCTM().a : (of.currentCSSZoom ?? 1);
        const size = Number.parseFloat(getComputedStyle(of).fontSize) * scale;
        if (size < least) found.push(`${size} ${part.className} ${of.className} ${text.data}`);
      }
    }
    return { found, count };
  }, least);
}

/** What is on the screen: the rooms, and how much of the stage they fill. */
function rooms(app) {
  return app.page.evaluate(() => {
    const box = (of) => of.getBoundingClientRect();
    const stage = box(document.querySelector(".stage"));
    const rooms = [...document.querySelectorAll(".grid > .room")].filter((room) => box(room).width > 0);
    const filled = rooms.reduce((sum, room) => sum + box(room).width * box(room).height, 0);
    const outside = rooms.filter((room) => {
      const { left, right, top, bottom } = box(room);
      return left < stage.left || right > stage.right + 0.5 || top < stage.top || bottom > stage.bottom + 0.5;
    });
    const tale = box(document.querySelector(".tale"));
    return {
      shown: rooms.map((room) => room.id.replace("room-", "")),
      filled: filled / (stage.width * stage.height),
      outside: outside.map((room) => room.id),
      rest: innerHeight - stage.height - tale.height,
      scrolls: document.documentElement.scrollHeight > innerHeight,
    };
  });
}

for (const lang of ["en", "zh"]) {
  test(`every scene is read from the back: only its rooms, letters from 20 px (${lang})`, onPage({ link: STORY, lang, viewport: LAPTOP }, async (app) => {
    await app.page.evaluate(() => document.fonts.ready);
    await present(app);
    for (const [scene, lit] of LIT.entries()) {
      if (scene > 0) await next(app);
      const { found, count } = await small(app, 20);
      assert.deepEqual(found, [], `scene ${scene + 1}`);
      assert.ok(count > 12, `${count} texts in scene ${scene + 1}`);
      const { shown, filled, outside, rest, scrolls } = await rooms(app);
      assert.deepEqual([shown, outside, scrolls], [lit, [], false], `scene ${scene + 1}`);
      assert.ok(filled > 0.8, `the rooms of scene ${scene + 1} fill ${filled} of the stage`);
      assert.ok(Math.abs(rest) < 2, `nothing but stage and panel: ${rest} px are left in scene ${scene + 1}`);
    }
    assert.ok(!(await app.id("select-lesson").isVisible()));
    const above = await app.page.evaluate(() => document.elementFromPoint(20, 4).className);
    assert.match(above, /^stage\b/, "the stage begins at the top");
  }));
}

test("the requests stand in their order, the newest at the bottom", onPage({ link: "#v1;lesson=first-look;scene=2", viewport: LAPTOP }, async (app) => {
  const order = () => app.page.evaluate(() => {
    const rows = [...document.querySelectorAll(".requests li")].filter((row) => getComputedStyle(row).visibility === "visible");
    return rows.sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top).map((row) => row.textContent.split(" ")[0]);
  });
  await present(app);
  assert.deepEqual(await order(), ["LIST", "WATCH"]);
}));

test("a question's answers and what the run says to one are read as well", onPage({ link: "#v1;lesson=first-look;scene=4", viewport: LAPTOP }, async (app) => {
  await present(app);
  await app.id("answer").nth(0).click();
  if ((await app.state()).playing) await press(app, "PageDown");
  await app.id("verdict").waitFor();
  await settled(app);
  assert.deepEqual((await small(app, 20)).found, []);
  const { left, cut } = await app.page.evaluate(() => {
    const asked = document.querySelector(".tale-ask");
    return { left: asked.scrollHeight - asked.clientHeight, cut: document.querySelector(".tale").scrollHeight > document.querySelector(".tale").clientHeight };
  });
  assert.ok(left <= 1 && !cut, `${left} px of the answer are out of sight`);
}));

test("P begins and ends it at the same moment, and nothing has moved", onPage({ link: STORY, viewport: LAPTOP }, async (app) => {
  await next(app);
  await next(app);
  const boxes = () => app.page.evaluate(() =>
    [...document.querySelectorAll(".room, .tale, .masthead")].map((one) => Object.values(one.getBoundingClientRect().toJSON()).map(Math.round)));
  await settled(app);
  const [before, state, at] = [await boxes(), await app.state(), await number(app)];
  await app.id("story-present").click();
  await app.page.waitForFunction(() => document.documentElement.classList.contains("presenting"));
  await settled(app);
  assert.notDeepEqual(await boxes(), before);
  assert.equal(await number(app), at);
  await press(app, "P");
  await app.page.waitForFunction(() => !document.documentElement.classList.contains("presenting"));
  await settled(app);
  assert.deepEqual(await boxes(), before);
  assert.deepEqual(await app.state(), state);
}));

test("it is the same where the page may not fill the screen, and Escape leaves it", onPage({ link: STORY, viewport: LAPTOP }, async (app) => {
  const asked = await app.page.evaluateHandle(() => {
    const asked = { times: 0 };
    Element.prototype.requestFullscreen = () => {
      asked.times += 1;
      return Promise.reject(new TypeError("not here"));
    };
    return asked;
  });
  await present(app);
  assert.equal(await asked.evaluate(({ times }) => times), 1);
  await next(app);
  assert.equal(await number(app), "2 of 7");
  await press(app, "Escape");
  await app.page.waitForFunction(() => !document.documentElement.classList.contains("presenting"));
  assert.equal(await number(app), "2 of 7");
}));

test("B and a remote's full stop blank the screen, and a key that would go on only shows it again", onPage({ link: STORY, viewport: LAPTOP }, async (app) => {
  // Without a presenter there is nothing to blank.
  await press(app, "b");
  assert.equal(await app.id("blanked").count(), 0);
  await present(app);
  for (const [key, back] of [["b", "b"], [".", "PageDown"], ["b", " "], [".", "Escape"]]) {
    await press(app, key);
    await app.id("blanked").waitFor();
    const covers = await app.page.evaluate(() => {
      const { width, height } = document.querySelector(".blanked").getBoundingClientRect();
      return [width === innerWidth && height === innerHeight, document.elementFromPoint(40, 40).className];
    });
    assert.deepEqual(covers, [true, "blanked"]);
    await press(app, back);
    await app.id("blanked").waitFor({ state: "detached" });
    assert.equal(await number(app), "1 of 7", back);
  }
  assert.ok(await presents(app));
}));

test("a ring follows the pointer, and clicks go through it", onPage({ link: STORY, viewport: LAPTOP }, async (app) => {
  assert.equal(await app.id("pointer").count(), 0);
  await present(app);
  for (const [x, y] of [[300, 200], [900, 420]]) {
    await app.page.mouse.move(x, y);
    const ring = await app.id("pointer").boundingBox();
    assert.ok(Math.hypot(ring.x + ring.width / 2 - x, ring.y + ring.height / 2 - y) < 2, JSON.stringify(ring));
    const over = await app.page.evaluate(([x, y]) => document.elementFromPoint(x, y).className, [x, y]);
    assert.notEqual(over, "pointer");
  }
  // The button under the ring gets the click.
  await app.id("story-next").click();
  assert.equal(await number(app), "2 of 7");
  // Where it rests, it does not stay over what is read.
  const seen = () => app.id("pointer").evaluate((ring) => getComputedStyle(ring).opacity);
  await app.page.mouse.move(300, 200);
  assert.equal(await seen(), "1");
  await app.id("pointer").evaluate((ring) => ring.getAnimations().forEach((one) => one.finish()));
  assert.equal(await seen(), "0");
}));

test("a page that is loaded anew presents the scene that it presented", onPage({ link: STORY, viewport: LAPTOP }, async (app) => {
  await present(app);
  await next(app);
  await next(app);
  const again = async () => {
    await app.reload();
    await app.eventually("the scene", (state) => state.scene?.index === 3);
  };
  await again();
  await app.page.locator("html.presenting").waitFor();
  await press(app, "p");
  await app.page.locator("html:not(.presenting)").waitFor();
  await again();
  await settled(app);
  assert.ok(!(await presents(app)));
  // Who has looked closer was no longer presenting.
  await present(app);
  await press(app, "m");
  await app.page.waitForFunction(() => history.state === null);
  await again();
  await settled(app);
  assert.ok(!(await presents(app)));
}));

test("nothing else is presented in place of what does not open again", onPage({ link: STORY, viewport: LAPTOP }, async (app) => {
  await present(app);
  await app.page.evaluate(() => history.replaceState(true, "", "#v1;lesson=none;scene=1"));
  await app.reload();
  await app.eventually("it is said", (state) => state.error !== null);
  await app.page.evaluate((link) => (location.hash = link), STORY);
  await app.eventually("the story", (state) => state.scene?.index === 1);
  await settled(app);
  assert.ok(!(await presents(app)));
}));

test("a handout that was closed does not come back", onPage({ link: "#v1;lesson=first-look;scene=3;handout", viewport: LAPTOP }, async (app) => {
  await app.id("handout").waitFor();
  await press(app, "Escape");
  await app.page.waitForFunction(() => location.hash === "#v1;lesson=first-look;scene=3");
  await app.reload();
  await app.eventually("the scene", (state) => state.scene?.index === 3);
  assert.equal(await app.id("handout").count(), 0);
}));

test("what moves between scenes keeps to the boxes as they are", onPage({ link: "#v1;lesson=first-look;scene=2", viewport: LAPTOP, motion: true }, async (app) => {
  await present(app);
  await press(app, "PageDown");
  const seen = await app.page.waitForFunction(() => {
    const stage = document.querySelector("#motion")?.getBoundingClientRect();
    for (const fly of document.querySelectorAll("#motion > .fly")) {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", /path\(["'](.*)["']\)/.exec(fly.style.offsetPath)?.[1] ?? "");
      const length = path.getTotalLength();
      if (length === 0) continue;
      const rooms = [...document.querySelectorAll(".grid > .room")].map((room) => room.getBoundingClientRect());
      const inside = [0, length].map((at) => {
        const { x, y } = path.getPointAtLength(at);
        const [left, top] = [x + stage.left, y + stage.top];
        // What comes from a room that is not shown comes over the edge of the one that is.
        const by = at === 0 ? 160 : 1;
        const first = Math.min(...rooms.map((room) => room.left));
        return rooms.some((room) => left >= (room.left === first ? first - by : room.left - 1) && left <= room.right + 1 && top >= room.top - 1 && top <= room.bottom + 1);
      });
      return { inside, length };
    }
    return undefined;
  });
  const { inside, length } = await seen.jsonValue();
  assert.deepEqual(inside, [true, true]);
  assert.ok(length > 20);
}));

test("on a phone there is no presenter", onPage({ link: STORY, viewport: PHONE }, async (app) => {
  assert.equal(await app.id("story-present").count(), 0);
  await press(app, "p");
  await settled(app);
  assert.ok(!(await presents(app)));
}));

test("Q shows the link to this moment as a code, dark on light in both themes", onPage({ link: STORY, theme: "dark", viewport: LAPTOP }, async (app) => {
  await present(app);
  await press(app, "q");
  const path = () => app.id("code").locator("path").getAttribute("d");
  const first = await path();
  // Here no phone reaches the page; whoever has a keyboard can type the address.
  assert.match(await app.id("code-opens").textContent(), /on this machine alone/);
  assert.equal(await app.id("code-link").textContent(), await app.call("getUrl"));
  assert.match(first, /^(M\d+ \d+h\d+v1h-\d+z)+$/);
  const { light, dark, high, side } = await app.id("code").evaluate((code) => {
    const style = getComputedStyle(code);
    return { light: style.backgroundColor, dark: style.fill, high: code.getBoundingClientRect().height, side: code.viewBox.baseVal.width };
  });
  const bright = (colour) => /\d+/.exec(colour)[0] > 127;
  assert.deepEqual([bright(light), bright(dark)], [true, false], `${light}, ${dark}`);
  assert.ok(high > 500, `${high} px`);
  // The quiet zone: nothing begins in the four modules around it.
  const starts = [...first.matchAll(/M(\d+) (\d+)/g)].flatMap(([, x, y]) => [Number(x), Number(y)]);
  assert.ok(Math.min(...starts) >= 4 && Math.max(...starts) < side - 4);
  // Another scene has another link.
  await press(app, "Escape");
  await app.id("code").waitFor({ state: "detached" });
  await next(app);
  await app.id("story-code").click();
  assert.notEqual(await path(), first);
  assert.ok(await presents(app));
}));

test("the drawer's share tab has the code, too, and says when a link is too long for one", onPage({ lesson: "sandbox", viewport: LAPTOP }, async (app) => {
  await app.id("btn-share").click();
  await app.page.locator("summary", { hasText: "Code of this moment" }).click();
  assert.ok(await app.id("code").isVisible());
  for (let made = 0; made < 40; made += 1) {
    const name = `${made}-${"abcdefghijklmnopqrstuvwxyz".slice(made % 20)}-${(made * 7919) % 1000}`;
    const labels = Object.fromEntries([1, 2, 3].map((n) => [`l${n}`, `v${(made * n * 104729) % 99991}`]));
    await app.call("inject", { op: "create", object: { metadata: { namespace: "default", name, labels } } });
  }
  await app.id("no-code").waitFor();
  assert.match(await app.id("no-code").textContent(), /too long/);
}));

test("the end of a lesson leads to the next one of its course, in the presentation", onPage({ link: `${STORY.replace("scene=1", "scene=7")};course=short`, viewport: LAPTOP }, async (app) => {
  assert.equal(await app.id("next-lesson").count(), 0);
  await present(app);
  await app.id("next-lesson").waitFor();
  // Not while time runs for what the class has done.
  await app.id("btn-cut").click();
  await app.id("story-run").click();
  await app.eventually("time runs", (state) => state.playing);
  await press(app, "PageDown");
  await press(app, "PageDown");
  assert.deepEqual([(await app.state()).lesson, await app.page.locator("[data-testid=next-lesson]:focus").count()], ["first-look", 0]);
  await app.call("pause");
  // Not by a press too many.
  await press(app, "PageDown");
  await app.page.locator("[data-testid=next-lesson]:focus").waitFor();
  assert.equal((await app.state()).lesson, "first-look");
  await press(app, "PageDown");
  await app.eventually("the next lesson", (state) => state.lesson === "deltafifo" && state.scene?.index === 1);
  assert.ok(await presents(app));
  assert.equal(new URL(app.page.url()).hash, "#v1;lesson=deltafifo;scene=1;course=short");
}));

test("one's own lesson leads to no other one, for no address leads back", onPage({ viewport: LAPTOP }, async (app) => {
  const lesson = await readFile(new URL("../../../src/replay/lessons/first-look.json", import.meta.url), "utf8");
  await app.call("openText", "mine.json", lesson);
  await app.call("scene", 7);
  await present(app);
  for (let times = 0; times < 3; times += 1) await press(app, "PageDown");
  await settled(app);
  assert.ok(await presents(app));
  assert.equal(await app.id("next-lesson").count(), 0);
  assert.equal((await app.state()).scene?.index, 7);
}));

for (const viewport of [LAPTOP, { width: 1024, height: 768 }]) {
  test(`nothing is printed over a handler, and names are whole (${viewport.width})`, onPage({ link: "#v1;lesson=stale-read;scene=3", viewport }, async (app) => {
    await present(app);
    const { title, handlers, whole } = await app.page.evaluate(() => {
      const box = (of) => document.querySelector(of).getBoundingClientRect();
      const names = [...document.querySelectorAll(".wire.waiting .n, .lst .n")].filter((one) => one.checkVisibility());
      return { title: box(".printed > .sub").top, handlers: box(".handlers").bottom, whole: names.map((one) => one.scrollWidth <= one.clientWidth) };
    });
    assert.ok(title >= handlers, `${title}, ${handlers}`);
    assert.ok(whole.length >= 2 && whole.every(Boolean), `${whole}`);
  }));
}

test("beside a workqueue the output and the handler's name are read", onPage({ link: "#v1;lesson=workqueue-dedup;scene=4", viewport: LAPTOP }, async (app) => {
  await present(app);
  const { output, name, work } = await app.page.evaluate(() => {
    const box = (of) => document.querySelector(of).getBoundingClientRect();
    const name = document.querySelector(".lst .n");
    return { output: box(".output"), name: name.scrollWidth <= name.clientWidth, work: box(".work") };
  });
  assert.ok(output.width > 200 && output.right <= work.left && output.height > 50, JSON.stringify(output));
  assert.ok(name);
}));

test("what was sent and asked for is read whole", onPage({ link: "#v1;lesson=first-look;scene=6", viewport: LAPTOP }, async (app) => {
  await present(app);
  const lines = await app.page.evaluate(() => {
    const stream = document.querySelector(".stream").getBoundingClientRect();
    const lines = [...document.querySelectorAll(".stream li")].map((line) => line.getBoundingClientRect());
    return lines.map(({ top, bottom }) => top >= stream.top - 1 && bottom <= stream.bottom + 1);
  });
  assert.ok(lines.length >= 2 && lines.every(Boolean), `${lines}`);
  const cut = await app.page.evaluate(() => {
    const box = document.querySelector(".requests").getBoundingClientRect();
    const shown = [...document.querySelectorAll(".requests li")].filter((one) => one.checkVisibility({ visibilityProperty: true }));
    return shown.map((one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().bottom > box.bottom + 1);
  });
  assert.deepEqual(cut, [false, false]);
}));

test("a watch that is cut says so in front of a class", onPage({ link: "#v1;lesson=first-look;scene=7", viewport: LAPTOP }, async (app) => {
  await present(app);
  const ended = app.page.locator(".reflector .pipe.ended");
  assert.equal(await ended.count(), 0);
  await app.id("btn-cut").click();
  await ended.waitFor();
  assert.equal(await ended.textContent(), "ended");
}));

test("axe finds nothing in the presenter, the code and the handout", onPage({}, async (app) => {
  for (const [lang, theme] of [["en", "light"], ["zh", "dark"]]) {
    await app.elsewhere({ link: STORY, lang, theme, viewport: LAPTOP }, async (other) => {
      await other.page.evaluate(axe);
      const clean = async (what) => {
        await settled(other);
        const found = await other.page.evaluate(async () => {
          const { violations } = await window.axe.run("html", { resultTypes: ["violations"] });
          return violations.map(({ id, nodes }) => `${id} ${nodes[0].html.slice(0, 160)} ${nodes[0].failureSummary}`);
        });
        assert.deepEqual(found, [], `${what}, ${lang}, ${theme}`);
      };
      await present(other);
      await clean("scene 1");
      for (let at = 2; at <= 7; at += 1) await next(other);
      await clean("scene 7");
      await press(other, "q");
      await clean("code");
      await press(other, "Escape");
      await press(other, "p");
      await other.id("story-more").click();
      await other.id("story-handout").click();
      await other.id("handout").waitFor();
      await clean("handout");
    });
  }
}));

test("the handout of a link, and of the button, has all of the story; closing it leads back", onPage({ link: HANDOUT, viewport: LAPTOP }, async (app) => {
  const paper = app.id("handout");
  await paper.waitFor();
  assert.equal(await paper.locator("img").count(), 7);
  const drawn = await paper.locator("img").evaluateAll((all) => Promise.all(all.map(async (one) => {
    await one.decode();
    return one.naturalWidth > 300 && one.naturalHeight > 100;
  })));
  assert.ok(drawn.every(Boolean));
  const wide = await paper.locator("p, h1, h2, h3, li, img").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  assert.equal(wide, 0, "all words are on the paper");
  assert.match(await app.call("getUrl"), /lesson=first-look.*;handout$/);
  // A key of the story does nothing here.
  await press(app, "PageDown");
  await press(app, "p");
  assert.ok(await paper.isVisible());
  await app.page.evaluate(() => (window.print = () => (window.printed = true)));
  await app.id("handout-print").click();
  assert.ok(await app.page.evaluate(() => window.printed));
  await press(app, "Escape");
  await paper.waitFor({ state: "detached" });
  assert.equal(await number(app), "1 of 7");
  for (let at = 2; at <= 7; at += 1) await next(app);
  await app.id("story-more").click();
  await app.id("story-handout").click();
  await paper.waitFor();
  await app.id("handout-close").click();
  assert.equal(await number(app), "7 of 7");
}));

/** The pages of a PDF, each with the addresses that it links to. */
function pages(pdf) {
  const text = pdf.toString("latin1");
  const objects = new Map([...text.matchAll(/(\d+) 0 obj\b(.*?)endobj/gs)].map(([, id, body]) => [id, body]));
  const all = [...objects.values()].filter((body) => /\/Type\s*\/Page\b/.test(body));
  return all.map((body) => {
    const ids = /\/Annots\s*\[([^\]]*)\]/.exec(body)?.[1] ?? "";
    const links = [...ids.matchAll(/(\d+) 0 R/g)].map(([, id]) => /\/URI\s*\(([^)]*)\)/.exec(objects.get(id))?.[1]);
    return links.filter(Boolean);
  });
}

for (const lang of ["en", "zh"]) {
  test(`the handout prints on A4 and Letter without a cut picture (${lang})`, onPage({ link: HANDOUT, lang, theme: "dark" }, async (app) => {
    await app.id("handout").waitFor();
    // A link at each corner of a picture, and around the answers: a PDF says on which page each is.
    await app.page.evaluate(() => {
      const mark = (name, style) => {
        const link = document.createElement("a");
        link.href = `https://mark.example/${name}`;
        link.textContent = "·";
        link.style.cssText = `position:absolute;left:0;line-height:4px;font-size:4px;${style}`;
        return link;
      };
      document.querySelectorAll(".paper img").forEach((img, at) => {
        const around = document.createElement("div");
        around.style.cssText = "position:relative";
        img.replaceWith(around);
        around.append(img, mark(`${at}/top`, "top:8px"), mark(`${at}/bottom`, "bottom:8px"));
      });
      const answers = document.querySelector(".paper .solved");
      answers.style.position = "relative";
      answers.append(mark("answers", "top:8px"));
    });
    for (const format of ["A4", "Letter"]) {
      const found = pages(await app.page.pdf({ format, preferCSSPageSize: false }));
      const on = (mark) => found.findIndex((links) => links.includes(`https://mark.example/${mark}`));
      assert.ok(found.length >= 3 && found.length <= 8, `${found.length} pages on ${format}`);
      let last = 0;
      for (let picture = 0; picture < 7; picture += 1) {
        const [top, bottom] = [on(`${picture}/top`), on(`${picture}/bottom`)];
        assert.ok(top >= last, `picture ${picture} is on page ${top} of ${format}`);
        assert.equal(bottom, top, `picture ${picture} is cut on ${format}`);
        last = top;
      }
      // Nothing else is on the answers' page, and it is the last.
      assert.equal(on("answers"), found.length - 1, format);
      assert.ok(last < found.length - 1, format);
    }
  }));
}
