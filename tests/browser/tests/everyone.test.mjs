// Languages, themes, sizes, keys, assistive technology, and network access.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { DESKTOP, LAPTOP, PHONE, SMALLEST, suite } from "../harness.mjs";

const { onPage } = suite();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const words = (app) =>
  app.page.evaluate(() => {
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      // Code and names are the same in both languages.
      if (element.closest("script, style, noscript, template, pre, code, [translate=no]")) continue;
      const text = walker.currentNode.data.trim();
      if (text) texts.push(text);
    }
    for (const element of document.body.querySelectorAll("[aria-label],[title],[placeholder],[alt]")) {
      for (const name of ["aria-label", "title", "placeholder", "alt"]) {
        if (element.getAttribute(name)) texts.push(element.getAttribute(name));
      }
    }
    return [document.title, ...texts];
  });

const CHINESE = /\p{Script=Han}/u;
// Visible traces of a text that is missing or was not filled in.
const UNFINISHED = /\bundefined\b|\bNaN\b|\bTODO\b|\[object |\{\w*\}|\$\{/;

test("both languages, switched live, and nothing left unfinished", onPage({ lesson: "indexer" }, async (app) => {
  const { steps } = await app.state();
  for (const at of [0, Math.floor(steps / 3), steps]) {
    await app.call("seek", at);
    await app.language("en");
    const english = await words(app);
    assert.deepEqual(english.filter((text) => UNFINISHED.test(text)), []);
    // The other language is named in its own words, in the button and in a menu.
    const foreign = english.filter((text) => CHINESE.test(text) && !/^(简体)?中文$/.test(text) && text.length < 200);
    assert.deepEqual(foreign, [], "Chinese on the English page");

    await app.language("zh");
    const chinese = await words(app);
    assert.deepEqual(chinese.filter((text) => UNFINISHED.test(text)), []);
    assert.ok(chinese.filter((text) => CHINESE.test(text)).length > 20, "the Chinese page is in Chinese");
    // English sentences: three lower-case words in a row and no Chinese.
    const left = chinese.filter((text) => !CHINESE.test(text) && /[a-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text));
    assert.deepEqual(left, [], "English sentences on the Chinese page");
    assert.equal((await app.state()).step, at, "the switch does not move the cursor");
  }
}));

for (const [lang, theme] of [["zh", "dark"], ["en", "light"]]) {
  test(`it starts in the reader's language and theme: ${lang}, ${theme}`, onPage({ lang, theme, asFound: true }, async (app) => {
    const [language, shown] = await app.page.evaluate(() => [
      document.documentElement.lang,
      document.documentElement.dataset.theme,
    ]);
    assert.ok(language.startsWith(lang), language);
    assert.equal(shown, theme);
  }));
}

test("both themes, switched live", onPage({}, async (app) => {
  const paper = () => app.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await app.theme("dark");
  await app.page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, light);
  await app.theme("light");
  await app.page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor === was, light);
}));

/** Asserts that axe finds nothing in both languages, and no contrast too low in the other theme, where only colours differ. */
async function isClean(app, what, within = "html") {
  for (const [lang, theme, rules] of [["en", "light"], ["en", "dark", ["color-contrast"]], ["zh", "dark"]]) {
    await app.language(lang);
    await app.theme(theme);
    // Wait for transitions: a colour in between is neither of the two.
    await app.page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished.catch(() => {}))));
    const { found, held } = await app.page.evaluate(async ([within, rules]) => {
      const runOnly = rules && { type: "rule", values: rules };
      const { violations, passes } = await window.axe.run(within, { resultTypes: ["violations"], ...(runOnly && { runOnly }) });
      const found = violations.map(({ id, help, nodes }) => ({
        id,
        help,
        nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`),
      }));
      return { found, held: passes.length };
    }, [within, rules]);
    assert.deepEqual(found, [], `${what}, ${lang}, ${theme}`);
    assert.ok(held > 0, "axe looked at something");
  }
}

for (const viewport of [DESKTOP, LAPTOP, PHONE]) {
  test(`axe finds nothing at ${viewport.width} × ${viewport.height}`, onPage({ viewport, lesson: "indexer" }, async (app) => {
    const { steps } = await app.state();
    await app.call("seek", Math.floor(steps / 2));
    await app.page.evaluate(axe);
    await isClean(app, "no drawer");
  }));
}

for (const [era, step] of [["1.32", 300], ["1.36", 150]]) {
  test(`axe finds nothing in a busy run of ${era}, nor in any tab of the drawer`, onPage({}, async (app) => {
    await app.call("load", "sandbox");
    await app.call("setEra", era);
    await app.call("seek", step);
    assert.equal((await app.state()).era, era);
    await app.page.evaluate(axe);
    await isClean(app, "no drawer");
    for (const tab of ["why", "until", "branches", "checks", "table", "share"]) {
      await app.page.evaluate((id) => (document.getElementById(`drawer-tab-${id}`) ?? document.querySelector(`[data-testid=btn-${id}]`)).click(), tab);
      await isClean(app, tab, ".drawer");
    }
  }));
}

test("a screen reader hears whole names, lists with their keys and counts, and states in words", onPage({}, async (app) => {
  await app.call("load", "sandbox");
  const { queue } = await app.until("two keys, one with two deltas", ({ queue }) =>
    queue.keys.length === 2 && Object.values(queue.deltas).some((deltas) => deltas.length === 2),
  );
  const heard = (room) => app.id(`room-${room}`).ariaSnapshot();
  const has = (text, part) => assert.ok(text.includes(part), `${part} in\n${text}`);
  const shown = await heard("queue");
  has(shown, "HasSynced: false");
  has(shown, 'list "Keys in the queue, 2"');
  for (const [place, key] of queue.keys.entries()) {
    const deltas = queue.deltas[key];
    has(shown, `list "${deltas.length === 1 ? "Delta" : "Deltas"} of ${key}, ${deltas.length}"`);
    for (const [type, rv] of deltas) has(shown, `listitem "${type}, ${key}, rv ${rv}"`);
    has(shown, `listitem "${key}, ${["next", "2nd"][place]}": ${key}`);
  }
  const { api, store } = await app.state();
  const objects = await heard("api");
  has(objects, `list "Objects, ${Object.keys(api.objects).length}"`);
  for (const key of Object.keys(api.objects)) has(objects, `button "${key} rv `);
  const items = await heard("indexer");
  has(items, `list "items, ${Object.keys(store.items).length}"`);
  // Not the whole of what its tooltip explains.
  assert.match(items, /group "last written: rv \d+, \d+ objects? behind"/);
  for (const [name, values] of Object.entries(store.indices)) {
    for (const [value, keys] of Object.entries(values)) {
      has(items, `list "${value}, ${keys.length}"`);
      for (const key of keys) has(items, `listitem "${key}"`);
    }
    has(items, `list "${name}, ${Object.keys(values).length}"`);
  }
  assert.equal(await app.page.locator("[aria-current=step]").innerText(), "WATCH");
  await app.until("a handler that waits", (state) => state.handlers.some((one) => one.pending > 1));
  const handlers = await heard("processor");
  assert.match(handlers, /list "Notifications of second, [2-9]"/);
  assert.match(handlers, /listitem "On(Add|Update|Delete), [a-z-]+\/[a-z0-9-]+, rv \d+"/);
  // The same as a table.
  await app.id("btn-table").click();
  const table = await app.id("keys-table").ariaSnapshot();
  for (const name of ["key", "API server", "Queue", "Indexer", "first", "second"]) has(table, `columnheader "${name}"`);
  for (const key of Object.keys(api.objects)) has(table, `rowheader "${key}"`);
}));

test("nothing is wider than the window", onPage({ lesson: "indexer" }, async (app) => {
  const { steps } = await app.state();
  for (const viewport of [DESKTOP, LAPTOP, PHONE, SMALLEST]) {
    await app.resize(viewport);
    for (const lang of ["en", "zh"]) {
      await app.language(lang);
      for (const at of [0, Math.floor(steps / 2), steps]) {
        await app.call("seek", at);
        const [wide, window_] = await app.page.evaluate(() => [
          document.scrollingElement.scrollWidth,
          document.documentElement.clientWidth,
        ]);
        assert.ok(wide <= window_, `${wide} > ${window_} at step ${at}, ${lang}`);
      }
    }
  }
}));

test("the note of each lesson is visible in full", onPage({}, async (app) => {
  const cut = [];
  for (const viewport of [DESKTOP, LAPTOP, PHONE]) {
    await app.resize(viewport);
    for (const lesson of await app.lessons()) {
      await app.call("load", lesson);
      for (const lang of ["en", "zh"]) {
        await app.language(lang);
        const [all, seen] = await app.page.locator(".say .note").evaluate((note) => [note.scrollHeight, note.clientHeight]);
        if (all > seen + 1) cut.push(`${lesson} ${lang} ${viewport.width}: ${all} > ${seen}`);
      }
    }
  }
  assert.deepEqual(cut, []);
}));

test("a still arrow and its words stay at their rooms when the window changes", onPage({ lesson: "indexer" }, async (app) => {
  const drawn = () => app.page.evaluate(() => document.getElementById("motion").innerHTML);
  const { steps } = await app.state();
  let at = 0;
  while (at < steps && !(await drawn()).includes("way")) await app.call("seek", (at += 1));
  const before = await drawn();
  await app.resize(LAPTOP);
  await app.page.waitForFunction((html) => document.getElementById("motion").innerHTML !== html, before);
  await app.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const after = await drawn();
  await app.call("seek", at);
  assert.equal(await drawn(), after);
}));

for (const [lang, viewport] of [["en", LAPTOP], ["zh", DESKTOP]]) {
  test(`the words of a still arrow cover no text, ${lang} ${viewport.width}`, onPage({ lang, viewport, newcomer: true }, async (app) => {
    let seen = 0;
    for (const [lesson, grain, count] of [["sandbox", "event", 20], ["sandbox", "micro", 40], ["tombstone", "event", 1], ["sharedinformer-simulate", "micro", 40]]) {
      // First the moment at which the page opens.
      if (lesson !== "sandbox" || grain !== "event") await app.call("load", lesson);
      const { ways, covered } = await app.page.evaluate(async ([grain, count]) => {
        const found = { ways: 0, covered: [] };
        for (let n = 0; n <= count; n += 1) {
          if (n > 0) await window.deltascope.step(1, grain);
          const way = document.querySelector("#motion .way");
          if (!way) continue;
          found.ways += 1;
          const at = way.getBoundingClientRect();
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const text = walker.currentNode;
            if (!text.data.trim() || text.parentElement.closest("#motion, script, style, .heard")) continue;
            if (!text.parentElement.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
            const range = document.createRange();
            range.selectNodeContents(text);
            const shares = (r) => Math.min(r.right, at.right) - Math.max(r.left, at.left) > 0.1 && Math.min(r.bottom, at.bottom) - Math.max(r.top, at.top) > 0.1;
            if ([...range.getClientRects()].some(shares)) found.covered.push(`${n}: ${way.textContent} on ${text.data.trim()}`);
          }
        }
        return found;
      }, [grain, count]);
      assert.deepEqual(covered, [], `${lesson} ${grain}`);
      seen += ways;
    }
    assert.ok(seen > 25, `${seen} arrows with words`);
  }));
}

test("on a phone every room can be reached, and a finger finds its buttons", onPage({ viewport: PHONE, lesson: "indexer" }, async (app) => {
  const rooms = ["api", "reflector", "queue", "pop", "indexer"];
  const wrong = [];
  for (const room of rooms) {
    const there = app.id(`room-${room}`);
    const tabs = app.page.getByRole("tab");
    for (let n = 0; n < (await tabs.count()) && !(await there.isVisible()); n += 1) await tabs.nth(n).click();
    await there.scrollIntoViewIfNeeded();
    assert.ok(await there.isVisible(), `room-${room}`);
    const found = await there.evaluate((room) => {
      const all = [...room.querySelectorAll("button, h2, .gauge")].filter((one) => one.checkVisibility()).map((one) => [one.textContent, one.getBoundingClientRect(), one.localName]);
      const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
      const small = all.filter(([, box, name]) => name === "button" && box.height < 44).map(([text, box]) => `${text}: ${box.height} px`);
      const over = all.flatMap(([text, box], at) => all.slice(at + 1).filter(([, other]) => meet(box, other)).map(([other]) => `${text} over ${other}`));
      return [...small, ...over];
    });
    wrong.push(...found.map((what) => `${room}: ${what}`));
  }
  assert.deepEqual(wrong, []);
}));

test("on a phone the header takes two rows, and nothing in it is lost", onPage({ viewport: PHONE, lesson: "tombstone" }, async (app) => {
  const header = app.page.locator("header");
  for (const [lang, width] of [["en", 390], ["zh", 390], ["zh", 360], ["en", 360], ["en", 320], ["zh", 320]]) {
    await app.resize({ ...PHONE, width });
    await app.language(lang);
    const { height } = await header.boundingBox();
    assert.ok(height < 110, `${height} px in ${lang} at ${width}`);
    for (const id of ["btn-lessons", "select-lesson", "toggle-story", "era-1.36", "btn-cluster", "btn-open", "toggle-theme", "btn-help"]) {
      const one = header.getByTestId(id);
      await one.scrollIntoViewIfNeeded();
      const box = await one.boundingBox();
      assert.ok(box.height >= 44 && box.width >= 44 && box.x >= 0 && box.x + box.width <= width, `${width}, ${id}: ${JSON.stringify(box)}`);
    }
  }
}));

test("the keys control the page", onPage({ lesson: "reflector" }, async (app) => {
  const press = (key) => app.page.keyboard.press(key);
  await app.call("seek", 0);
  await app.page.evaluate(() => document.activeElement?.blur());
  await press("ArrowRight");
  const { step } = await app.eventually("a step on", (s) => s.step > 0);
  await press("ArrowRight");
  await app.eventually("another", (s) => s.step > step);
  await press("ArrowLeft");
  await app.eventually("one back", (s) => s.step === step);
  await press("]");
  const { step: marker } = await app.eventually("the next marker", (s) => s.step > step);
  await press("]");
  await app.eventually("the one after", (s) => s.step > marker);
  await press("[");
  await app.eventually("the one before", (s) => s.step === marker);
  await press("r");
  await app.eventually("the start", (s) => s.step === 0);
  await press("Space");
  await app.eventually("it plays", (s) => s.playing);
  await press("Space");
  await app.eventually("it is paused", (s) => !s.playing);
}));

test("every control can be reached with Tab and shows its focus", onPage({ lesson: "indexer" }, async (app) => {
  const reached = new Set();
  await app.call("seek", 1);
  await app.page.evaluate(() => document.activeElement?.blur());
  for (let n = 0; n < 120; n += 1) {
    await app.page.keyboard.press("Tab");
    const [id, ring] = await app.page.evaluate(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      return [
        element === document.body ? null : (element.dataset.testid ?? ""),
        style.outlineStyle !== "none" || style.boxShadow !== "none",
      ];
    });
    if (id === null) break;
    assert.ok(ring, `${id}: nothing shows that it has the focus`);
    reached.add(id);
  }
  for (const id of ["btn-play", "btn-step", "btn-back", "btn-reset", "select-lesson", "toggle-lang", "toggle-theme", "scrubber"]) {
    assert.ok(reached.has(id), `${id} among ${[...reached]}`);
  }
}));

test("with reduced motion nothing moves and nothing plays by itself", onPage({ lesson: "indexer" }, async (app) => {
  assert.equal((await app.state()).playing, false);
  const { steps } = await app.state();
  await app.call("seek", 0);
  for (let n = 0; n < Math.min(steps, 40); n += 1) {
    await app.call("step", 1);
    const moving = await app.page.evaluate(() =>
      document
        .getAnimations()
        .filter((a) => a.playState === "running" && a.effect.getKeyframes().some((k) => "transform" in k || "offsetPath" in k || "translate" in k))
        .map((a) => a.effect.target?.outerHTML.slice(0, 120)),
    );
    assert.deepEqual(moving, [], `step ${n + 1}`);
  }
}));

test("it needs only its own files, under any sub-path", onPage({ lesson: "indexer" }, async (app) => {
  await app.toEnd();
  await app.whole();
  assert.ok(app.requests.some((address) => address.endsWith(".wasm")), "the wasm came from the sub-path");
  // onPage fails on any request that leaves the sub-path. This test takes the network away entirely.
  const before = app.requests.length;
  await app.context.setOffline(true);
  for (const lesson of await app.lessons()) {
    await app.call("load", lesson);
    await app.call("step", 1);
  }
  await app.context.setOffline(false);
  assert.deepEqual(app.requests.slice(before), [], "nothing is asked for once it is loaded");
}));
