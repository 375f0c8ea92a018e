// Writes the list of the functions that do not run before the first pictures of the page, or of most elements, or of both, and of those that
// no reader of lessons runs (embed/pack/starts.txt): `make starts`, with a build that counts. They come in files of their own. A function that the list does not know
// comes with the page: so write it anew when the page has grown (size.mjs), or when a first picture waits for the rest (later.test.mjs).
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DESKTOP, DIST, LAPTOP, LATER, PHONE, blockStorage, launch } from "./harness.mjs";
import { page as hostPage, serveHost } from "./hosts.mjs";
import { counting, marks } from "./marks.mjs";

const LIST = new URL("../../embed/pack/starts.txt", import.meta.url);
// How long after its first picture a page may still do what belongs to it.
const SETTLES_MS = 1000;
// A stretch of a function with fewer bytes is not worth a function of its own.
const SHORT = 32;
// A function with fewer bytes is not worth a place of its own: calls between files take some.
const SMALL = 16;
// One with as many is known by its content when it has got another name.
const LARGE = 128;
// What a map or the allocator runs depends on addresses, and so on what came before: their functions stay whole, and are where those are
// that reach them (cut/reach.rs).
const BY_ADDRESS = /\b(?:dlmalloc|hashbrown|indexmap)::/;
// What the browser drops when it likes.
const BY_GARBAGE = /^core::ptr::drop_in_place<deltascope_page::embed::/;
// Below a path with fewer functions than this, each has a line.
const FEW = 3;

// What a reader of lessons, and of pages with elements, does. The other tests are about what is seldom needed, or about no run at all.
const READER = "access behind branches class compare everyone fit host-element host-frame host-story hostile keyboard lessons machinery many motion race refused rooms share shelf steps story writes".split(" ");

const ADDRESSES = [
  "lesson=tombstone",
  "lesson=first-look;scene=3",
  "lesson=first-look;scene=3;course=short",
  "lesson=first-look;scene=3;handout",
  "lesson=tombstone;era=1.36;at=relist",
  "lesson=sandbox;i=AAAA",
  "lesson=sandbox;i=AAAA;course=long",
  "shelf",
  "shelf;course=long;teach",
  "nothing",
];

const counts = counting(DIST);
const { functions, length: end } = counts;
// The first point of each function in memory.
let point = 0;
const firsts = functions.map(([, , points]) => (point += points.length) - points.length);
const ran = { page: new Set(), element: new Set(), more: new Set() };
// What ran for one of these, or for what a visitor sees after it.
const views = new Set();
const scenario = {
  settings: { era: "1.36" },
  initial: [{ metadata: { namespace: "default", name: "web-1" } }],
  script: [{ at: 1, op: "create", object: { metadata: { namespace: "default", name: "web-2" } } }],
};
const many = Array.from({ length: 100 }, (_, at) => ({ metadata: { namespace: "default", name: `web-${at}` } }));
// Most elements show the begin of a small run (`#isMore` in embed/deltascope.js); the others need what the page needs, too.
const most = {
  "first.html": hostPage('<delta-scope lesson="first-look" load="eager"></delta-scope>'),
  "rooms.html": hostPage('<delta-scope lesson="first-look" load="eager" controls="none" height="400" panels="now,processor,queue"></delta-scope>'),
  "two.html": hostPage('<delta-scope lesson="first-look" lang="zh" load="eager" panels="queue,indexer" motion="none"></delta-scope>'),
  "own.html": hostPage(
    `<delta-scope load="eager" era="1.36" theme="dark"><script type="application/json">${JSON.stringify(scenario)}</script></delta-scope>`,
  ),
};
// Without the rest these have no picture, and say so.
const others = {
  "other.html": hostPage('<delta-scope lesson="tombstone" load="eager"></delta-scope>'),
  "at.html": hostPage('<delta-scope lesson="first-look" at="listed" load="eager"></delta-scope>'),
  "many.html": hostPage(`<delta-scope load="eager"><script type="application/json">${JSON.stringify({ ...scenario, initial: many })}</script></delta-scope>`),
  "link.html": hostPage('<delta-scope link="v1;lesson=tombstone" load="eager"></delta-scope>'),
};
const hosts = {
  ...most,
  ...others,
  "sandbox.html": hostPage('<delta-scope lesson="sandbox" load="eager" panels="api,queue,indexer"></delta-scope>'),
  "plain.html": hostPage('<delta-scope load="eager" controls="none"></delta-scope>'),
  "full.html": hostPage('<delta-scope lesson="sandbox" load="eager" controls="full"></delta-scope>'),
};
const host = await serveHost({ "page/": DIST, ...hosts });
const browser = await launch();
// Where a way leads, and where its words fit, depends on the window, on the language and on motion.
const SIZES = [[900, 800], [950, 900], [1100, 1000], [1024, 768], [1920, 1080], [768, 1024], [844, 390], [320, 568]];
for (const viewport of [DESKTOP, LAPTOP, PHONE, ...SIZES.map(([width, height]) => ({ width, height }))]) {
  for (const [seen, reducedMotion] of [[false, "no-preference"], [false, "reduce"], [true, "no-preference"], [true, "reduce"]]) {
    await start("page/index.html", { seen, viewport, reducedMotion });
    await start("page/index.html", { seen, viewport, reducedMotion, lang: "zh-CN", colorScheme: "dark", forcedColors: viewport === LAPTOP ? "active" : "none" });
  }
}
// Somebody who comes back is shown the lessons.
for (const viewport of [DESKTOP, PHONE]) await start("page/index.html", { seen: true, kept: { "deltascope.shelf": "" }, viewport });
// Somebody who has chosen colours, or the language.
for (const [name, value] of [["theme", "dark"], ["theme", "light"], ["lang", "zh"]]) {
  await start("page/index.html", { seen: true, kept: { [`deltascope.${name}`]: value }, reducedMotion: "reduce" });
}
// Somebody who has chosen smaller steps, and sees all tools.
const CHOSEN = { "deltascope.tools": "on", "deltascope.step": "micro" };
await start("page/index.html", { seen: true, kept: CHOSEN });
for (const viewport of [DESKTOP, LAPTOP, PHONE]) {
  await start("page/index.html", { seen: true, kept: { ...CHOSEN, "deltascope.theme": "light", "deltascope.lang": "en" }, viewport, reducedMotion: "reduce" });
}
// Somebody whose browser keeps nothing.
await start("page/index.html", { isBlocked: true });
const PROGRESS = { "deltascope.progress": JSON.stringify({ "first-look": { opened: true, ended: true, reached: false } }) };
for (const shelf of ["", "off"]) await start("page/index.html", { seen: true, kept: { ...PROGRESS, "deltascope.shelf": shelf } });
// Whatever an address has is opened later.
for (const link of ADDRESSES) await start(`page/index.html#v1;${link}`, { seen: true });
// What an element runs depends on its width, and on whether things move: what is not tried here makes it wait.
for (const path of Object.keys(hosts)) {
  for (const viewport of [DESKTOP, LAPTOP, PHONE]) {
    await start(path, { viewport, reducedMotion: "reduce" });
    await start(path, { viewport, lang: "zh-CN", colorScheme: "dark", forcedColors: viewport === LAPTOP ? "active" : "none" });
  }
}
await browser.close();
await host.close();
for (const mark of reader()) views.add(mark);
functions.forEach(([path, , points], index) => {
  if (BY_GARBAGE.test(path)) points.forEach((_, at) => views.add(firsts[index] + at));
});
writeFileSync(LIST, listed());

/** What runs as the tests use the page, until it asks for what is seldom needed. A test that fails may not have run all. */
function reader() {
  const folder = join(DIST, "marks");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tests = ["visit.test.mjs", "clicks.test.mjs", ...READER.map((name) => `tests/${name}.test.mjs`)].map((path) => join(import.meta.dirname, path));
  const given = ["--test", "--test-concurrency=2", "--test-reporter=spec", ...tests];
  const { status } = spawnSync(process.execPath, given, { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, MARKS: folder } });
  if (status !== 0) throw new Error(`the list stays as it was: tests failed on ${DIST}`);
  const came = new Set();
  for (const name of readdirSync(folder)) readFileSync(join(folder, name)).forEach((mark, index) => mark && came.add(index));
  told("readers", came);
  return came;
}

/** Opens a page without what comes later, and notes which functions have run once it is drawn and has said that something is missing. */
async function start(path, { seen = false, kept = {}, isBlocked = false, lang = "en-US", ...options } = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, locale: lang, ...options });
  if (seen) {
    await context.addInitScript((kept) => {
      for (const [name, value] of Object.entries(kept)) localStorage.setItem(name, value);
    }, { "deltascope.seen": "1", "deltascope.shelf": "off", ...kept });
  }
  if (isBlocked) await context.addInitScript(blockStorage);
  // It neither comes nor fails until then.
  const held = [];
  let fails = false;
  await context.route(LATER, (route) => (fails ? route.abort() : held.push(route)));
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  const fail = () => {
    fails = true;
    return Promise.all(held.map((route) => route.abort()));
  };
  const asked = page.waitForRequest(LATER);
  await page.goto(host.url + path);
  if (path in others) {
    await asked;
    await fail();
    await page.getByRole("alert").waitFor();
  } else {
    await page.waitForFunction(() => {
      const element = document.querySelector("delta-scope");
      return element ? element.shadowRoot?.querySelector(".stage .room") : !document.getElementById("loading");
    });
    await page.waitForTimeout(SETTLES_MS);
    if (path.startsWith("page/")) await calls(page);
    await waits(page, fail);
  }
  const all = await marks(page, counts);
  const of = ran[path in most ? "element" : path in hosts ? "more" : "page"];
  for (const set of [of, views]) all.forEach((mark, index) => mark && set.add(index));
  told(`${path} ${lang}`, of);
  await context.close();
}

function told(what, of) {
  console.log(`${what}: ${firsts.filter((first) => of.has(first)).length} of ${functions.length} functions; ${of.size} of ${end} points in all`);
}

/** What a script may ask for before the rest is there. */
async function calls(page) {
  await page.evaluate(() => {
    const { deltascope } = window;
    void [deltascope.drawn, deltascope.ready, deltascope.getUrl(), deltascope.exportTrace(), deltascope.exportTranscript(), deltascope.exportSvg()];
  });
}

/** What says that a command waits for the rest, or that it does not come, cannot wait for it. */
async function waits(page, fail) {
  const next = page.locator("[data-testid=btn-step]:visible, [data-testid=story-next]:visible").first();
  const error = page.getByTestId("error");
  // One about an attribute stays until the rest is there.
  if ((await next.count()) === 0 || (await error.count()) > 0) return;
  const stop = page.getByTestId("opening").getByRole("button");
  await next.click();
  await stop.click();
  await stop.waitFor({ state: "detached" });
  await next.click();
  await stop.waitFor();
  await fail();
  await error.waitFor();
  await error.getByRole("button").click();
  await error.waitFor({ state: "detached" });
  if ((await page.locator("delta-scope").count()) > 0) return;
  await page.keyboard.press("ArrowRight");
  await error.waitFor();
  await page.keyboard.press("Escape");
  await error.waitFor({ state: "detached" });
}

/** The list: see embed/pack/src/cut/list.rs. */
function listed() {
  const all = functions.map(([path, content, points], index) => {
    const first = firsts[index];
    const [page, element, more] = Object.values(ran).map((of) => of.has(first));
    const isSmall = bytes(points) < SMALL && (page || element || more);
    const side = isSmall || (page && element) || BY_ADDRESS.test(path) ? "main" : element ? "element" : more ? "more" : page ? "page" : views.has(first) ? "rest" : "seldom";
    return { path, content, points, first, side };
  });
  const lines = ["page", "element", "more", "rest", "seldom"].flatMap((side) => [`# ${side}`, ...names(all, side)]);
  lines.push("# points");
  for (const [content, them] of grouped(all.filter(({ side }) => side !== "seldom"), "content")) {
    if (!content || them.some(({ path }) => BY_ADDRESS.test(path))) continue;
    const { page, element, more } = ran;
    const runs = them.some(({ side }) => side !== "rest");
    const never = runs ? away(them, [page, element, more]) : [];
    // Where they come with the page: in functions that run for most elements.
    const later = them.some(({ side }) => side === "main" || side === "element") ? away(them, [element]) : [];
    const columns = [never, later, away(them, [views])].map((ranges) => ranges.join(" "));
    if (columns.some((column) => column)) lines.push([content, ...columns].join("\t"));
  }
  return lines.join("\n") + "\n";
}

function grouped(all, by) {
  const groups = new Map();
  for (const one of all) groups.set(one[by], (groups.get(one[by]) ?? []).concat(one));
  return groups;
}

/** The functions of a side. */
function names(all, of) {
  const lines = new Set();
  const whole = new Set();
  const isOther = new Set(all.filter(({ side }) => side !== of).map(({ content }) => content));
  const large = all.filter(({ side, content, points }) => side === of && content && !isOther.has(content) && bytes(points) >= LARGE);
  if (large.length > 0) lines.add(`\t${[...new Set(large.map(({ content }) => content))].sort().join(" ")}`);
  const paths = grouped(all.filter(({ path }) => path), "path");
  for (const [path, them] of paths) {
    const others = new Set(them.filter(({ side }) => side !== of).map(({ content }) => content));
    if (others.size === 0) {
      whole.add(path);
      continue;
    }
    const some = new Set(them.map(({ content }) => content).filter((content) => content && !others.has(content)));
    if (some.size > 0) lines.add(`${path}\t${[...some].sort().join(" ")}`);
  }
  // What is below a path has one line if all comes with this side.
  const below = new Map();
  for (const path of paths.keys()) {
    for (const over of above(path)) below.set(over, (below.get(over) ?? []).concat(path));
  }
  const isWhole = ([, them]) => them.length >= FEW && them.every((path) => whole.has(path));
  const covers = new Set([...below].filter(isWhole).map(([over]) => over));
  for (const path of whole) {
    const cover = above(path).find((over) => covers.has(over));
    lines.add(cover ? `${cover}*` : path);
  }
  return [...lines].sort();
}

/** The points of a function, or of several with the same content, to which control did not come in some runs. */
function away(them, runs) {
  const { points } = them[0];
  const ranges = [];
  let from = 0;
  for (let to = 0; to <= points.length; to += 1) {
    if (to < points.length && !them.some(({ first }) => runs.some((ran) => ran.has(first + to)))) continue;
    if (bytes(points.slice(from, to)) >= SHORT) ranges.push(to - from === 1 ? from : `${from}-${to - 1}`);
    from = to + 1;
  }
  return ranges;
}

function bytes(points) {
  return points.reduce((sum, bytes) => sum + bytes, 0);
}

/** `a::b::c` is below `a::` and `a::b::`. */
function above(path) {
  if (!/^\w+::/.test(path)) return [];
  const plain = path.match(/^(?:\w+::)+/)[0];
  return [...plain.matchAll(/::/g)].map(({ index }) => plain.slice(0, index + 2));
}
