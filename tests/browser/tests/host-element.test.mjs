// The element on other pages: when it is loaded, what it follows, and what it releases.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIST } from "../harness.mjs";
import { STRICT, hosts, page } from "../hosts.mjs";

const onHost = hosts();
const html = (body, options) => ({ "index.html": page(body, options) });
const TOMBSTONE = '<delta-scope lesson="tombstone" at="relist" panels="api,queue,indexer" load="eager"></delta-scope>';
const POD = (name) => ({ metadata: { namespace: "default", name } });
const WASM = "_bg.wasm";
const frames = (host, count = 30) =>
  host.page.evaluate(async (left) => {
    for (; left > 0; left -= 1) await new Promise(requestAnimationFrame);
  }, count);

let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), "deltascope-hosts-"))));
after(() => rm(folder, { recursive: true, force: true }));

test("several elements share one program, and each has a run of its own", onHost(html(`
  <delta-scope id="a" lesson="tombstone" load="eager"></delta-scope>
  <delta-scope id="b" lesson="deltafifo" load="eager" panels="queue"></delta-scope>
  <delta-scope id="c" lesson="tombstone" load="eager" panels="queue" at="told"></delta-scope>`), async (host) => {
  for (const id of ["#a", "#b", "#c"]) await host.ready(id);
  assert.equal(host.asked(WASM), 1);
  const before = await host.state("#c");
  await host.of("#a", "seek", "cut");
  await host.of("#a", "inject", { op: "create", object: POD("mine") });
  assert.deepEqual(await host.state("#c"), before);
  assert.deepEqual((await host.told("ready")).map(({ id }) => id).sort(), ["a", "b", "c"]);
  assert.ok((await host.told("marker")).some(({ id, detail }) => id === "a" && detail.id === "cut"));
}));

test("two versions side by side", async (t) => {
  const old = join(folder, "old");
  await cp(DIST, old, { recursive: true });
  const text = await readFile(join(old, "deltascope.js"), "utf8");
  await writeFile(join(old, "deltascope.js"), text.replace(/export const version = "[^"]*"/, 'export const version = "0.0.1"'));
  const places = {
    ...html(`${TOMBSTONE}<old-scope lesson="deltafifo" load="eager"></old-scope>`, {
      head: '<script type="module" src="old/deltascope.js"></script><script type="module" src="old/deltascope.js?tag=old-scope"></script>',
    }),
    "old/": old,
  };
  await onHost(places, async (host) => {
    await host.ready();
    await host.ready("old-scope");
    await host.of("old-scope", "step", 2);
    assert.equal((await host.state("old-scope")).lesson, "deltafifo");
    assert.equal((await host.state()).lesson, "tombstone");
    const versions = await host.page.evaluate(() => ["delta-scope", "old-scope"].map((name) => document.querySelector(name).version));
    assert.equal(versions.filter((version) => version === "0.0.1").length >= 1, true, versions.join());
    assert.equal(versions[1], "0.0.1");
    assert.ok(host.warnings.some((line) => /taken by another version; import with \?tag=/.test(line)), host.warnings.join());
  })(t);
});

test("everything is released, a hundred times", { timeout: 300_000 }, onHost(html('<div id="place"></div>'), async (host, t) => {
  await host.page.evaluate(() => customElements.whenDefined("delta-scope"));
  const cdp = await host.context.newCDPSession(host.page);
  const round = (count) =>
    host.page.evaluate(async (left) => {
      for (; left > 0; left -= 1) {
        const element = document.createElement("delta-scope");
        element.setAttribute("lesson", left % 2 ? "tombstone" : "indexer");
        element.setAttribute("load", "eager");
        document.querySelector("#place").append(element);
        await element.ready;
        await element.step(3);
        if (left % 3) element.dispose();
        element.remove();
      }
    }, count);
  const held = async () => {
    await frames(host, 5);
    for (let times = 0; times < 3; times += 1) await cdp.send("HeapProfiler.collectGarbage");
    const { nodes, jsEventListeners } = await cdp.send("Memory.getDOMCounters");
    const bytes = await host.page.evaluate(async () => {
      const glue = performance.getEntriesByType("resource").find(({ name }) => /deltascope-[0-9a-f]+\.js$/.test(name));
      const { memory } = await (await import(glue.name)).default();
      return memory.buffer.byteLength;
    });
    return { nodes, jsEventListeners, bytes };
  };
  await round(10);
  const before = await held();
  await host.page.evaluate(async () => {
    const element = document.createElement("delta-scope");
    element.setAttribute("lesson", "tombstone");
    element.setAttribute("load", "eager");
    document.querySelector("#place").append(element);
    await element.ready;
  });
  const one = (await held()).nodes - before.nodes;
  await host.page.evaluate(() => document.querySelector("delta-scope").remove());
  await round(90);
  const now = await held();
  t.diagnostic(`after 10 and after 100 elements, of ${one} nodes each: ${JSON.stringify(before)} ${JSON.stringify(now)}`);
  assert.ok(one > 300, "an element has nodes");
  // Chromium keeps the last select that was focused, with everything around it.
  assert.ok(now.nodes < before.nodes + 2 * one, "nodes");
  assert.ok(now.jsEventListeners <= before.jsEventListeners + 20, "listeners");
  assert.ok(now.bytes <= before.bytes * 1.1, "the program's memory");
}));

test("off screen it pauses, and resumes when it is back", onHost(html(`
  <delta-scope lesson="sandbox" load="eager" at="start" speed="4"></delta-scope><div style="height: 6000px"></div>`), async (host) => {
  await host.ready();
  await host.call("play");
  await host.until(() => document.querySelector("delta-scope").getState().step > 3);
  await host.page.evaluate(() => scrollTo(0, 6000));
  await host.until(() => !document.querySelector("delta-scope").getState().playing);
  const { step } = await host.state();
  await frames(host);
  assert.equal((await host.state()).step, step);
  await host.page.evaluate(() => scrollTo(0, 0));
  await host.until((from) => document.querySelector("delta-scope").getState().step > from + 2, step);
  await host.call("pause");
  await host.page.evaluate(() => scrollTo(0, 6000));
  await frames(host, 5);
  await host.page.evaluate(() => scrollTo(0, 0));
  await frames(host, 5);
  assert.equal((await host.state()).playing, false, "what was paused stays so");
}));

test("a changed attribute takes effect at once", onHost(html(TOMBSTONE), async (host) => {
  await host.ready();
  const set = (name, value) =>
    host.page.evaluate(([key, to]) => {
      const element = document.querySelector("delta-scope");
      if (to === null) element.removeAttribute(key);
      else element.setAttribute(key, to);
    }, [name, value]);
  const settles = (what) => host.until(new Function(`const element = document.querySelector("delta-scope"); const root = element.shadowRoot;
    const state = element.getState(); return state !== null && (${what});`));
  for (const [name, value, what] of [
    ["era", "1.36", 'state.era === "1.36"'],
    ["era", "", 'state.era === "1.32"'],
    ["at", "told", "state.output.length === 6"],
    ["at", "step:3", "state.step === 3"],
    ["panels", "queue", '!root.querySelector(".room.api") && root.querySelector(".room.queue")'],
    ["panels", null, 'root.querySelector(".room.processor")'],
    ["controls", "none", '!root.querySelector(".transport")'],
    ["controls", "full", 'root.querySelector(".masthead, header")'],
    ["theme", "dark", 'root.querySelector("[data-theme]").dataset.theme === "dark"'],
    ["lang", "zh", 'root.querySelector("[data-theme]").lang.startsWith("zh")'],
    ["granularity", "pop", 'state.grain === "pop"'],
    ["height", "420", 'root.querySelector(".frame").clientHeight > 400 && root.querySelector(".frame").clientHeight <= 420'],
    ["lesson", "sandbox", 'state.lesson === "sandbox"'],
  ]) {
    await set("at", name === "lesson" ? null : await host.page.locator("delta-scope").getAttribute("at"));
    await set(name, value);
    await settles(what);
  }
  assert.deepEqual(await host.told("error"), []);
  // Several attributes at once, while the element is drawn.
  await host.page.evaluate(() => {
    const element = document.querySelector("delta-scope");
    element.setAttribute("lesson", "tombstone");
    element.setAttribute("at", "relist");
    setTimeout(() => element.setAttribute("at", "told"));
    setTimeout(() => element.setAttribute("panels", "indexer"));
  });
  await settles('state.lesson === "tombstone" && state.output.length === 6 && !root.querySelector(".room.api")');
  // A framework finds the property and sets it.
  await host.page.evaluate(() => (document.querySelector("delta-scope").load = "click"));
  assert.equal(await host.page.locator("delta-scope").getAttribute("load"), "click");
  await host.call("load", "deltafifo");
  assert.equal((await host.state()).lesson, "deltafifo");
}));

const WITH_PAPER = `<delta-scope lesson="tombstone" at="relist" load="eager">
  <img slot="poster" src="poster.svg" width="300" height="200" alt="A relist">
  <div slot="transcript">In words: a relist.</div></delta-scope>`;
const POSTER = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"/>';
const CSS = '<link rel="stylesheet" href="deltascope/deltascope.css">';
const withPaper = { ...html(WITH_PAPER, { head: CSS }), "poster.svg": POSTER };

test("without scripts there are the picture and the transcript", onHost(withPaper, { script: false }, async (host) => {
  assert.ok(await host.page.getByAltText("A relist").isVisible());
  assert.ok(await host.page.getByText("In words").isVisible());
}));

// A print waits anyway: what only it draws may come then (starts.mjs).
const counted = { skip: Boolean(process.env.MARKS) };
test("printing shows the current picture and the transcript", counted, onHost(withPaper, { headers: STRICT, provokes: /the page waited for/ }, async (host) => {
  await host.ready();
  await host.call("seek", "told");
  const parts = () => host.look((element, root) => {
    const isShown = (one) => !!one && one.checkVisibility() && one.getBoundingClientRect().height > 0;
    return { box: isShown(root.querySelector(".box")), picture: isShown(root.querySelector(".on-paper svg")), words: isShown(element.querySelector("[slot=transcript]")) };
  });
  assert.deepEqual(await parts(), { box: true, picture: false, words: false });
  await host.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await host.page.emulateMedia({ media: "print" });
  assert.deepEqual(await parts(), { box: false, picture: true, words: true });
  const font = await host.look((_, root) => getComputedStyle(root.querySelector(".on-paper svg")).fontFamily);
  assert.match(font, /sans|system/, "the picture has its styles, whatever the policy");
  assert.ok((await host.page.pdf()).length > 5000);
  await host.page.emulateMedia({ media: "screen" });
  assert.deepEqual(await parts(), { box: true, picture: false, words: false });
  assert.deepEqual(await host.violations(), []);
}));

test("printing before it is loaded shows the page's picture and transcript", onHost({
  ...html(`<div style="height: 4000px"></div>${WITH_PAPER.replace("eager", "visible")}`, { head: CSS }),
  "poster.svg": POSTER,
}, async (host) => {
  await host.page.evaluate(() => customElements.whenDefined("delta-scope"));
  assert.equal(await host.page.getByText("In words").isVisible(), false);
  await host.page.emulateMedia({ media: "print" });
  assert.ok(await host.page.getByAltText("A relist").isVisible());
  assert.ok(await host.page.getByText("In words").isVisible());
}));

test("a machine translation of the page does not break it", onHost(html(`<p>Text</p>${WITH_PAPER.replace("eager", "click")}`), { provokes: /poster/ }, async (host) => {
  const translate = () => host.page.evaluate(() => {
    const walk = (node) => {
      if (node.translate === false || ["SCRIPT", "STYLE"].includes(node.tagName)) return;
      for (const child of [...node.childNodes, ...(node.shadowRoot?.childNodes ?? [])]) {
        if (child.nodeType !== Node.TEXT_NODE) walk(child);
        else if (child.data.trim()) {
          const font = document.createElement("font");
          font.append(document.createElement("font"));
          font.firstChild.textContent = child.data;
          child.replaceWith(font);
        }
      }
    };
    walk(document.body);
  });
  await translate();
  await host.page.getByRole("button", { name: /Show how it runs/ }).click();
  await host.ready();
  await translate();
  await host.call("seek", "relist");
  const words = () => host.look((_, root) => root.querySelector(".box .say").innerText);
  const english = await words();
  assert.match(english, /[A-Za-z]{4}/);
  await host.call("step", 1);
  assert.notEqual(await words(), english);
  await host.page.evaluate(() => document.querySelector("delta-scope").setAttribute("lang", "zh"));
  await host.until(() => /[一-鿿]/.test(document.querySelector("delta-scope").shadowRoot.querySelector(".box .say").innerText));
  await host.call("seek", "relist");
  assert.match(await words(), /[一-鿿]/);
  await translate();
  await host.call("dispose");
}));

test("language and theme are those of the page around", onHost(html(TOMBSTONE), async (host) => {
  await host.ready();
  const root = (change) => host.page.evaluate(new Function(`(${change})(document.documentElement)`));
  const is = (what) => host.until(new Function(`const ds = document.querySelector("delta-scope").shadowRoot.querySelector("[data-theme]"); return ${what};`));
  await is('ds.dataset.theme === "light" && ds.lang === "en"');
  for (const [name, theme] of [["coal", "dark"], ["light", "light"], ["navy", "dark"], ["rust", "light"], ["js ayu sidebar-visible", "dark"]]) {
    await root(`(html) => (html.className = "${name}")`);
    await is(`ds.dataset.theme === "${theme}"`);
  }
  await root('(html) => { html.className = ""; html.dataset.theme = "dark"; }');
  await is('ds.dataset.theme === "dark"');
  await root('(html) => (html.dataset.theme = "light")');
  await is('ds.dataset.theme === "light"');
  await root('(html) => delete html.dataset.theme');
  await host.page.emulateMedia({ colorScheme: "dark" });
  await is('ds.dataset.theme === "dark"');
  await root('(html) => (html.lang = "zh-CN")');
  await is('ds.lang.startsWith("zh")');
  await root('() => { const one = document.querySelector("delta-scope"); one.setAttribute("lang", "en"); one.setAttribute("theme", "light"); }');
  await is('ds.lang === "en" && ds.dataset.theme === "light"');
}));

test("from 1200 px to 360 px nothing is cut off", onHost(html(`<div id="room" style="width: 1200px">${TOMBSTONE.replace(/panels="[^"]*"/, "")}</div>`), { viewport: { width: 1280, height: 900 } }, async (host) => {
  await host.ready();
  const { length } = await host.look((_, root) => [...root.querySelectorAll(".room")].filter((room) => room.checkVisibility()));
  assert.equal(length >= 6, true);
  for (const width of [1000, 700, 480, 360]) {
    await host.page.evaluate((px) => (document.querySelector("#room").style.width = `${px}px`), width);
    await frames(host, 3);
    const { frame, over, rooms } = await host.look((_, root) => ({
      frame: root.querySelector(".frame").getBoundingClientRect().width,
      over: root.querySelector(".ds").scrollWidth - root.querySelector(".ds").clientWidth,
      rooms: [...root.querySelectorAll(".room")].filter((room) => room.checkVisibility()).length,
    }));
    assert.deepEqual([frame, over], [width, 0]);
    assert.equal(rooms >= 1, true, `${width}`);
    await host.call("step", 1);
  }
}));

test("nothing in a room is cut off without a way to scroll to it", onHost(html(`<div id="room">${TOMBSTONE.replace("tombstone", "indexer").replace('at="relist"', "")}</div>`), { viewport: { width: 1280, height: 900 } }, async (host) => {
  await host.ready();
  await host.of("delta-scope", "seek", "step:120");
  for (const [width, panels] of [[1100, "api,queue,indexer"], [750, "api,queue,indexer"], [750, "queue,indexer"], [750, "api"], [390, "api"], [390, "indexer"]]) {
    await host.page.evaluate(([px, rooms]) => {
      document.querySelector("#room").style.width = `${px}px`;
      document.querySelector("delta-scope").setAttribute("panels", rooms);
    }, [width, panels]);
    await frames(host, 5);
    const cut = await host.look((_, root) => {
      const shown = [...root.querySelectorAll(".room, .room .head > span, .stream, .split, .query p, .say, .said, .transport")].filter((one) => one.checkVisibility());
      const over = ({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1;
      const lost = (one) => getComputedStyle(one).overflowY === "hidden" && over(one);
      const wide = (one) => one.matches(".head > span") && one.scrollWidth > one.clientWidth;
      return shown.filter((one) => lost(one) || wide(one)).map((one) => one.className);
    });
    assert.deepEqual(cut, [], `${panels} at ${width}`);
  }
}));

test("without Pop's room a popped delta moves straight to the store", onHost(html(TOMBSTONE.replace("api,queue,indexer", "queue,indexer").replace('at="relist"', 'at="step:15"')), async (host) => {
  await host.ready();
  const { queue } = await host.state();
  await host.of("delta-scope", "step", 1);
  assert.equal((await host.state()).queue.keys.length, queue.keys.length - 1);
  const way = await host.look((_, root) => {
    const [from, to] = ["queue", "indexer"].map((room) => root.querySelector(`#room-${room}`).getBoundingClientRect());
    const line = root.querySelector("#motion .trail path").getBoundingClientRect();
    return { begins: line.left <= to.left && line.left >= from.left, ends: line.right > to.left && line.right < to.right, flies: root.querySelectorAll("#motion .fly").length };
  });
  assert.deepEqual(way, { begins: true, ends: true, flies: 1 });
}));

test("Tab skips a row of buttons in one step, and the page's outline gets no heading", onHost(html(`<h1>Mine</h1>${TOMBSTONE}<button id="next">next</button>`), async (host) => {
  await host.ready();
  assert.equal(await host.page.getByRole("heading").count(), 1);
  await host.page.evaluate(() => document.querySelector("delta-scope").shadowRoot.querySelector(".ds").focus());
  const focused = () => host.look((_, root) => root.activeElement?.dataset.testid ?? root.activeElement?.className);
  const stops = [];
  for (; stops.length < 30 && !(await host.page.evaluate(() => document.activeElement.id === "next")); stops.push(await focused())) {
    await host.page.keyboard.press("Tab");
    await frames(host, 2);
  }
  assert.ok(stops.length <= 16, stops.join());
  assert.equal(stops.filter((stop) => stop === "api-object").length, 1);
  // ↑ and ↓ move along a row; ← and → step as everywhere.
  await host.look((_, root) => root.querySelector("[data-testid=btn-play]").focus());
  const { step } = await host.state();
  const after = [];
  for (const key of ["ArrowDown", "End", "ArrowDown", "ArrowUp", "Home", "ArrowRight"]) {
    await host.page.keyboard.press(key);
    after.push(await focused());
  }
  assert.deepEqual(after, ["btn-step", "btn-next-marker", "btn-reset", "btn-next-marker", "btn-reset", "btn-reset"]);
  assert.equal((await host.state()).step, step + 1);
}));

test("load=click loads nothing before the click, and gets the focus after it", onHost(html(TOMBSTONE.replace("eager", "click")), async (host) => {
  await host.page.evaluate(() => customElements.whenDefined("delta-scope"));
  await frames(host, 5);
  assert.equal(host.asked(WASM), 0);
  await host.page.getByRole("button", { name: "Show how it runs" }).click();
  await host.ready();
  assert.equal(host.asked(WASM), 1);
  assert.equal(await host.look((_, root) => root.activeElement?.className), "ds");
}));

test("load=visible loads nothing before it is near, and then shifts no layout", onHost(html(`
  <div style="height: 4000px"></div><delta-scope lesson="tombstone"></delta-scope><p id="after">after</p>`), async (host, t) => {
  await host.page.evaluate(() => customElements.whenDefined("delta-scope"));
  await frames(host, 10);
  assert.equal(host.asked(WASM), 0);
  await host.page.evaluate(() => {
    globalThis.shifts = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (shifts += value))).observe({ type: "layout-shift", buffered: true });
    scrollTo(0, 3700);
  });
  await host.ready();
  await frames(host, 5);
  const shifts = await host.page.evaluate(() => shifts);
  t.diagnostic(`layout shift when it comes: ${shifts}`);
  assert.ok(shifts < 0.1, `${shifts}`);
}));

// The style sheet for the page repeats these sizes for the time before the module is loaded.
const SIZED = ["", 'panels=""', ...["queue", "api,queue,indexer", "api,reflector,queue,pop,indexer", "queue,now", "now", "now,processor"].map((rooms) => `panels="${rooms}"`)]
  .flatMap((panels) => ["", 'controls="none"', 'controls="full"'].map((controls) => `${panels} ${controls}`))
  .concat('height="480"', 'panels="queue" height="333px"', 'height="auto"');
test("the placeholder has the size of the element", onHost({
  "index.html": `<!doctype html><html lang="en"><title>host</title><link rel="stylesheet" href="deltascope/deltascope.css">
    ${SIZED.map((given) => `<delta-scope load="click" ${given}></delta-scope>`).join("")}
    <div style="height: 300px"><delta-scope load="click" height="fill"></delta-scope></div></html>`,
}, async (host) => {
  const heights = () => host.page.evaluate(() => Array.from(document.querySelectorAll("delta-scope"), (one) =>
    `${one.getAttribute("panels") ?? "all"} ${one.getAttribute("controls")} ${one.getAttribute("height")}: ${Math.round(one.getBoundingClientRect().height)}`));
  const kept = new Map();
  for (const width of [360, 560, 700, 830, 1000]) {
    await host.page.setViewportSize({ width, height: 800 });
    kept.set(width, await heights());
  }
  await host.page.evaluate(() => import("./deltascope/deltascope.js"));
  for (const [width, before] of kept) {
    await host.page.setViewportSize({ width, height: 800 });
    assert.deepEqual(await heights(), before, `${width} px`);
  }
}));

const SCENARIO = { settings: { machinery: "shared", handlers: [{ name: "one", onAdd: ["OnAdd: {name}"] }] }, initial: [POD("a")] };
const FILES = {
  "own.json": JSON.stringify(SCENARIO),
  "lesson.json": JSON.stringify({ title: "Mine", era: "1.36", scenario: SCENARIO, markers: [{ id: "first", fact: "LinePrinted" }] }),
  "run.jsonl": `{"deltascope":1}\n${JSON.stringify({ scenario: SCENARIO })}\n{"at":900,"op":"create","object":${JSON.stringify(POD("late"))}}\n`,
};

test("src is a scenario, a lesson or a trace", onHost({ ...html(`
  <delta-scope id="own" src="own.json" at="end" load="eager"></delta-scope>
  <delta-scope id="lesson" src="lesson.json" at="first" load="eager"></delta-scope>
  <delta-scope id="run" src="run.jsonl" at="end" era="1.36" load="eager"></delta-scope>
  <delta-scope id="inside" at="end" load="eager"><script type="application/json">${FILES["own.json"]}</script></delta-scope>
  <delta-scope id="link" link="https://docs.example/#v1;lesson=tombstone;era=1.36;at=told" load="eager"></delta-scope>`), ...FILES }, async (host) => {
  for (const [id, output, era] of [["own", ["OnAdd: a"], "1.32"], ["lesson", ["OnAdd: a"], "1.36"], ["run", ["OnAdd: a", "OnAdd: late"], "1.36"], ["inside", ["OnAdd: a"], "1.32"]]) {
    await host.ready(`#${id}`);
    const state = await host.state(`#${id}`);
    assert.deepEqual([state.output, state.era, state.error], [output, era, null], id);
  }
  await host.ready("#link");
  const { lesson, era, output } = await host.state("#link");
  assert.deepEqual([lesson, era, output.length], ["tombstone", "1.36", 6]);
}));

for (const [what, element, words, extra] of [
  ["an unknown lesson", '<delta-scope lesson="nothing" load="eager"></delta-scope>', /no lesson.*nothing/],
  ["a place that there is not", '<delta-scope lesson="tombstone" at="nowhere" load="eager"></delta-scope>', /no marker.*nowhere/],
  ["a word that is not known", '<delta-scope lesson="tombstone" controls="some" load="eager"></delta-scope>', /controls="some".*minimal/],
  ["what is wrong in two attributes", '<delta-scope lesson="tombstone" era="2.x" at="nowhere" load="eager"></delta-scope>', /era="2\.x".*no marker "nowhere"/],
  ["a file that is missing", '<delta-scope src="missing.json" load="eager"></delta-scope>', /missing\.json.*404/, { provokes: /404/ }],
  ["a file that is none", '<delta-scope src="page.txt" load="eager"></delta-scope>', /page\.txt/],
  ["a scenario with a mistake", '<delta-scope load="eager"><script type="application/json">{"settings": {"machinery": "steam"}}</script></delta-scope>', /steam/],
  ["JSON with a mistake", '<delta-scope load="eager"><script type="application/json">{"settings": </script></delta-scope>', /JSON in <script> inside of this element/],
  ["a link that is damaged", '<delta-scope link="#v1;lesson=sandbox;i=????" load="eager"></delta-scope>', /damaged/],
]) {
  // To say what is wrong may take more than most elements need.
  test(`${what} is reported, on the element and by an event`, onHost({ ...html(element), "page.txt": "hello" }, extra ?? { provokes: /the page waited for/ }, async (host) => {
    await host.until(() => told.some(({ name }) => name === "error"));
    const [{ detail }] = await host.told("error");
    assert.match(detail.message, words);
    const shown = host.page.locator('delta-scope [role="alert"]');
    await shown.waitFor();
    assert.match((await shown.innerText()).replace(/\s+/g, " "), words);
    // The element can be corrected in place.
    await host.page.evaluate(() => {
      const one = document.querySelector("delta-scope");
      one.replaceChildren();
      for (const name of ["src", "link", "era", "at", "controls"]) one.removeAttribute(name);
      one.setAttribute("lesson", "deltafifo");
    });
    await host.until(() => document.querySelector("delta-scope").getState()?.lesson === "deltafifo");
  }));
}

test("changes while it is drawn take effect, and meanwhile nothing shifts or gets the focus", onHost(html(""), async (host) => {
  const [heights, focused, step, declared] = await host.page.evaluate(async () => {
    await customElements.whenDefined("delta-scope");
    const make = (attributes) => {
      const one = document.createElement("delta-scope");
      for (const [name, value] of attributes) one.setAttribute(name, value);
      document.body.prepend(one);
      return one;
    };
    const one = make([["load", "eager"], ["lesson", "deltafifo"], ["controls", "full"]]);
    const found = new Set([one.offsetHeight]);
    const root = one.shadowRoot;
    await new Promise((resolve) => {
      const look = () => root.querySelector(".coming .room button") && resolve();
      new MutationObserver(look).observe(root, { childList: true, subtree: true });
    });
    for (const button of root.querySelectorAll(".coming :is(button, .ds)")) button.focus();
    const inside = root.activeElement;
    let ready = false;
    for (const [name, value] of [["lesson", "tombstone"], ["at", "told"], ["era", "1.36"]]) one.setAttribute(name, value);
    one.ready.then(() => (ready = true));
    while (!ready) {
      found.add(one.offsetHeight);
      await new Promise(requestAnimationFrame);
    }
    const other = make([["load", "eager"], ["lesson", "tombstone"], ["at", "told"], ["era", "1.36"]]);
    await other.ready;
    return [[...found], inside?.className ?? null, one.getState().step, other.getState().step];
  });
  assert.deepEqual([heights.length, focused, step], [1, null, declared], `${heights}`);
}));

test("Esc leaves it, and Tab continues behind it", onHost(html(`<button id="before">before</button>${TOMBSTONE}<button id="after">after</button>`), async (host) => {
  await host.ready();
  const { keyboard } = host.page;
  const focused = () => host.page.evaluate(() => document.activeElement.id || document.activeElement.localName);
  await host.page.focus("#before");
  for (const [key, where] of [["Tab", "delta-scope"], ["Tab", "delta-scope"], ["Escape", "body"], ["Tab", "after"], ["Shift+Tab", "delta-scope"]]) {
    await keyboard.press(key);
    assert.equal(await focused(), where, key);
  }
}));

const retried = (markup, files) => onHost(html(markup.replace("></", '><p slot="transcript">In words.</p></')), { open: false, provokes: /ERR_FAILED|the page waited for/ }, async (host) => {
  for (const file of files) {
    const missing = new RegExp(`(${file})$`);
    await host.page.route(missing, (route) => route.abort());
    await host.page.goto(host.url);
    const again = host.page.locator("delta-scope [role=alert] button");
    await again.waitFor();
    assert.ok(await host.page.getByText("In words.").isVisible(), file);
    await host.page.unroute(missing);
    await again.click();
    await host.ready();
    assert.ok(!(await host.page.getByText("In words.").isVisible()), file);
    const rules = await host.page.evaluate(() => {
      const { adoptedStyleSheets } = document.querySelector("delta-scope").shadowRoot;
      return adoptedStyleSheets.flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.selectorText));
    });
    for (const rule of [".room", ".tale", ".frame"]) assert.ok(rules.includes(rule), `${file}: ${rule}`);
  }
});
test("a failed download is retried, and its words are there meanwhile", retried(TOMBSTONE, ["deltascope-stage.js", "deltascope-later.js", "deltascope-[0-9a-f]+.js", WASM]));
test("so is one that comes after the first picture", retried('<delta-scope lesson="first-look" load="eager"></delta-scope>', ["deltascope-later.js"]));

test("a failed call is reported to its caller", onHost(html(TOMBSTONE), async (host) => {
  await host.ready();
  const refused = (what) => host.page.evaluate(async (code) => {
    const element = document.querySelector("delta-scope");
    try {
      await new Function("element", `return ${code}`)(element);
      return "done";
    } catch (error) {
      return error.message;
    }
  }, what);
  for (const [what, words] of [
    ['element.seek("nowhere")', /no marker "nowhere".*relist/],
    ['element.step(1, "pops")', /Write one of: pop, event/],
    ['element.inject({ op: "explode" })', /Use create, update, delete or cut/],
    ["element.load(7)", /takes the id of a lesson/],
    ['element.seek("told")', /^done$/],
    ['element.load({ settings: { machinery: "steam" } })', /steam/],
    ['element.load("nix")', /no lesson "nix"/],
    ["element.ready", /^done$/],
  ]) assert.match(await refused(what), words, what);
  // What was shown stays, where it was, and goes on.
  const { step, lesson } = await host.state();
  assert.deepEqual([lesson, await refused("element.step(1)")], ["tombstone", "done"]);
  assert.ok((await host.state()).step > step);
  assert.equal(await host.page.locator("delta-scope .frame").count(), 1);
  // What its attributes said meanwhile is not lost.
  const rooms = () => host.page.locator("delta-scope .room").count();
  assert.equal(await rooms(), 3);
  assert.match(await refused('((done) => (element.setAttribute("panels", "queue"), done))(element.load("nix"))'), /no lesson "nix"/);
  assert.equal(await rooms(), 1);
  assert.equal(await refused('element.load("deltafifo")'), "done");
  assert.equal((await host.state()).lesson, "deltafifo");
  // Without a run there is nothing to keep: the user can try again in place.
  await host.page.evaluate(() => document.querySelector("delta-scope").setAttribute("lesson", "nix"));
  await host.page.locator("delta-scope [role=alert] button").waitFor();
  assert.match(await refused("element.step(1)"), /no lesson "nix"/);
  assert.match(await refused("(element.dispose(), element.step(1))"), /disposed/);
}));

test("an attribute that is nearly another one, and a value that is read by nobody, are doubted", onHost(html('<delta-scope lesson="tombstone" id="x" class="y" title="z"></delta-scope>'), async (host) => {
  const doubted = await host.page.evaluate(() => {
    const said = [];
    console.warn = (line) => said.push(line);
    for (const [name, value] of [["leson", "tombstone"], ["lang", "de"], ["load", "now"], ["lang", "zh-CN"]]) {
      const element = document.createElement("delta-scope");
      element.setAttribute(name, value);
      element.setAttribute("data-panel", "x");
      document.body.append(element);
      element.remove();
    }
    return said;
  });
  assert.equal(doubted.length, 3, `${doubted}`);
  [/no attribute leson\. Did you mean lesson\?/, /lang="de" is not known.*zh/, /load="now" is not known.*eager/].forEach((words, at) => assert.match(doubted[at], words));
}));

test("under a strict policy it is styled, and steps", onHost(html(TOMBSTONE), { headers: STRICT }, async (host) => {
  await host.ready();
  await host.call("step", 1);
  await host.page.locator("delta-scope [data-anchor^='store/']").first().click();
  await host.until(() => document.querySelector("delta-scope").getState().selection);
  const look = await host.look((_, root) => ({
    grid: getComputedStyle(root.querySelector(".grid")).display,
    card: getComputedStyle(root.querySelector(".room")).backgroundColor,
  }));
  assert.equal(look.grid, "flex");
  assert.notEqual(look.card, "rgba(0, 0, 0, 0)");
  const selected = (await host.state()).selection.anchor;
  const outline = await host.page.locator(`delta-scope [data-anchor="${selected}"]`).first().evaluate((one) => getComputedStyle(one).outlineStyle);
  assert.equal(outline, "solid", "what is selected is marked");
  assert.deepEqual(await host.violations(), []);
}));

// Generous limits, because the times depend on the machine; they catch a page that becomes ten times slower.
test("it is shown soon, and does not block the page", onHost(html(TOMBSTONE, {
  head: `<script>
    globalThis.tasks = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask", buffered: true });
    // How often the page's own tasks run while the element is drawn.
    globalThis.turns = 0;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      turns += Number(!!document.querySelector("delta-scope")?.shadowRoot?.querySelector(".coming"));
      if (!told.some(({ name }) => name === "ready")) port2.postMessage(0);
    };
    addEventListener("DOMContentLoaded", () => port2.postMessage(0));
  </script>`,
}), async (host, t) => {
  const took = [];
  for (let times = 0; times < 3; times += 1) {
    await host.page.goto(host.url);
    await host.until(() => told.some(({ name }) => name === "ready"));
    took.push(await host.page.evaluate(() => {
      const script = performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/deltascope.js"));
      const { at } = told.find(({ name }) => name === "ready");
      return { ms: Math.round(at - script.responseEnd), longest: Math.round(Math.max(0, ...tasks)), tasks: tasks.map(Math.round), turns };
    }));
  }
  t.diagnostic(`from the module to ready, and the longest task: ${JSON.stringify(took)}`);
  const best = Math.min(...took.map(({ ms }) => ms));
  assert.ok(best < 10_000, `${best} ms`);
  for (const { turns } of took) assert.ok(turns >= 15, `the page had ${turns} turns while the element was drawn`);
}));
