// Pictures of the page in many states, and how they are compared: node pictures.mjs [NAME…] takes those in pictures/ again.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { DESKTOP, DIST, LAPTOP, PHONE, launch, open } from "./harness.mjs";
import { page as hostPage, serveHost } from "./hosts.mjs";
import { listOf } from "./many.mjs";
import { serve } from "./server.mjs";

const HERE = fileURLToPath(new URL("pictures", import.meta.url));
/** Where a picture that differs is put, beside what is different. */
const OUT = fileURLToPath(new URL("../../target/pictures", import.meta.url));
// A pixel differs if its colour does by more than this (0 to 1), and by more than the smoothing of an edge. Another version
// of the browser sets some letters a little differently; a room that moved, or a colour that is lost, is more than that.
const COLOUR = 0.1;
const MOST = 1 / 5_000;
// Without the alpha channel, and packed well: they are in the repository.
const PACKED = { colorType: 2, deflateLevel: 9, deflateStrategy: 0, filterType: 0 };
/** By which fonts the pictures were taken: with others everything differs. */
const FONTS = join(HERE, "fonts.json");
export const fonts = () => readFileSync(FONTS, "utf8").trim();

const at = (lesson, place, era) => async (app) => {
  await app.call("load", lesson);
  // What is scrolled to depends on what was shown before.
  await drawn(app.page);
  if (era) await app.call("setEra", era);
  await app.call("seek", place);
};
const then = (...acts) => async (app) => {
  for (const act of acts) await act(app);
};
const ask = (anchor) => async (app) => {
  await app.page.locator(`[data-anchor^='${anchor}']`).first().click();
  await app.id("origin").waitFor();
};
const compare = (era) => async (app) => {
  await app.call("compare", era);
  await app.id("compare").waitFor();
};
const room = (id) => (app) => app.page.locator(`#tab-${id}`).click();
const press = (key) => (app) => app.page.keyboard.press(key);
const many = async (app) => {
  await app.call("openText", "many.json", listOf(400));
  await app.call("seek", 2999);
  // A field of cells knows its size a frame after it has come; what leads to a cell is drawn with the next step.
  await app.page.evaluate(async () => {
    for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
  });
  await app.call("seek", 3000);
};
const events = async (app) => {
  await app.id("select-grain").selectOption("event");
  await app.call("seek", 300);
  await app.id("btn-step").click();
};
/** An element in a text of this width. */
const figure = (width, attributes) => ({ width, attributes });

/** What is on each picture: the name, the state, and how it is looked at where that is not a laptop, English and light. */
export const SCENES = [
  ["start", at("sandbox", 0)],
  ["busy", at("sandbox", 300)],
  ["busy-dark", at("sandbox", 300), { theme: "dark" }],
  ["busy-zh", at("sandbox", 300), { lang: "zh" }],
  ["desktop", at("sandbox", 420), { size: DESKTOP }],
  ["desktop-zh-dark", at("sandbox", 420), { size: DESKTOP, lang: "zh", theme: "dark" }],
  ["event", then(at("sandbox", 0), events)],
  ["dropped", at("reflector", "delete-dropped")],
  ["cut", at("tombstone", "cut"), { theme: "dark" }],
  ["refused", at("tombstone", "expired"), { lang: "zh" }],
  ["relist", at("tombstone", "relist")],
  ["waits-1.32", at("tombstone", "waits", "1.32")],
  ["waits-1.34", at("tombstone", "waits", "1.34"), { theme: "dark" }],
  ["waits-1.36", at("tombstone", "waits", "1.36"), { lang: "zh" }],
  ["told", at("tombstone", "told"), { lang: "zh", theme: "dark" }],
  ["popped", at("deltafifo", "pop")],
  ["handlers", at("sharedinformer-simulate", "second-waits"), { lang: "zh" }],
  ["indexer", at("sharedinformer-indexer", "asked"), { theme: "dark" }],
  ["compared", then(at("tombstone", "waits"), compare("1.36"))],
  ["compared-phone", then(at("tombstone", "half-told"), compare("1.36")), { size: PHONE, lang: "zh" }],
  ["why", then(at("tombstone", "told"), ask("store/item/"))],
  ["help", then(at("sandbox", 0), press("?")), { lang: "zh" }],
  ["many", many],
  ["many-dark", many, { theme: "dark", lang: "zh" }],
  ["forced", at("tombstone", "waits", "1.34"), { forced: true }],
  ["forced-dark", at("sandbox", 300), { forced: true, theme: "dark" }],
  ["phone-queue", then(at("sandbox", 300), room("queue")), { size: PHONE }],
  ["phone-indexer", then(at("sandbox", 300), room("indexer")), { size: PHONE, lang: "zh", theme: "dark" }],
  ["phone-handlers", then(at("sandbox", 300), room("processor")), { size: PHONE, lang: "zh" }],
  ["figure", figure(750, 'lesson="tombstone" era="1.32" at="waits" panels="queue,indexer,processor" lang="en" theme="light"')],
  ["figure-dark", figure(750, 'lesson="tombstone" era="1.36" at="waits" panels="api,queue,now" lang="zh" theme="dark"')],
  ["figure-phone", figure(350, 'lesson="tombstone" era="1.34" at="waits" panels="queue,indexer" lang="zh" theme="light"')],
].map(([name, show, { size = LAPTOP, lang = "en", theme = "light", forced = false } = {}]) => ({ name, show, size, lang, theme, forced }));

/** Takes pictures of scenes and gives each to `each`. Returns the fonts, if the page itself is among them. */
export async function take(scenes, each) {
  let seen;
  const browser = await launch();
  const server = await serve(DIST);
  const host = await serveHost({
    "index.html": hostPage(scenes.filter(({ show }) => show.attributes).map(({ name, show }) => `<div id="${name}" style="width: ${show.width}px"><delta-scope ${show.attributes} motion="none" load="eager"></delta-scope></div>`).join("")),
  });
  try {
    // A context for each size: opening one takes longer than all else.
    const kinds = new Map();
    for (const scene of scenes.filter(({ show }) => !show.attributes)) {
      const kind = `${scene.size.width} ${scene.forced}`;
      kinds.set(kind, [...(kinds.get(kind) ?? []), scene]);
    }
    for (const group of kinds.values()) {
      const [{ size, forced }] = group;
      const app = await open(browser, server.url, { viewport: size, forced });
      for (const scene of group) {
        await app.page.emulateMedia({ colorScheme: scene.theme });
        await app.page.evaluate(() => localStorage.clear());
        await app.page.goto(server.url);
        await app.page.waitForFunction(() => window.deltascope?.ready.then(() => true));
        await app.language(scene.lang);
        await app.theme(scene.theme);
        await scene.show(app);
        const { error } = await app.state();
        if (error) throw new Error(`${scene.name}: ${error.message}`);
        await app.page.mouse.move(0, 0);
        await drawn(app.page);
        await each(scene, await shot(app.page), app.page);
      }
      seen = await used(app.page);
      if (app.problems.length > 0) throw new Error(app.problems.join("\n"));
      await app.context.close();
    }
    const figures = scenes.filter(({ show }) => show.attributes);
    if (figures.length > 0) {
      const page = await browser.newPage({ viewport: { width: 800, height: 900 }, reducedMotion: "reduce" });
      await page.goto(host.url);
      for (const scene of figures) {
        const element = page.locator(`#${scene.name} delta-scope`);
        await element.evaluate((one) => one.ready);
        await each(scene, await shot(element), page);
      }
    }
  } finally {
    await browser.close();
    await server.close();
    await host.close();
  }
  return seen;
}

/** A picture at half the size: the smoothing of single letters matters less, and the file is small. */
export async function shot(of) {
  const { width, height, data } = PNG.sync.read(await of.screenshot({ animations: "disabled", caret: "hide" }));
  const half = new PNG({ width: width >> 1, height: height >> 1 });
  const from = (x, y, c) => data[(y * width + x) * 4 + c];
  let at = 0;
  for (let y = 0; y < 2 * half.height; y += 2) {
    for (let x = 0; x < 2 * half.width; x += 2) {
      for (let c = 0; c < 4; c += 1) half.data[at++] = (from(x, y, c) + from(x + 1, y, c) + from(x, y + 1, c) + from(x + 1, y + 1, c) + 2) >> 2;
    }
  }
  return half;
}

/** The widths of some texts in the page's fonts, and whether there is a font for Chinese. */
const used = (page) =>
  page.evaluate(() => {
    const context = new OffscreenCanvas(20, 20).getContext("2d");
    const families = ["--sans", "--mono"].map((name) => getComputedStyle(document.body).getPropertyValue(name));
    const widths = families.flatMap((family) => ["", "bold "].map((weight) => {
      context.font = `${weight}16px ${family}`;
      return Math.round(context.measureText("DeltaFIFO → 0123").width);
    }));
    const drawn = (letter) => {
      context.clearRect(0, 0, 20, 20);
      context.fillText(letter, 0, 16);
      return context.getImageData(0, 0, 20, 20).data.join();
    };
    return JSON.stringify({ widths, chinese: drawn("中") !== drawn("国") });
  });

/** Resolves once what was changed is drawn. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

export const stored = (name) => PNG.sync.read(readFileSync(join(HERE, `${name}.png`)));
export const names = () => readdirSync(HERE).filter((file) => file.endsWith(".png")).map((file) => basename(file, ".png"));

/** How many pixels differ, how many may, and a picture of them. */
export function difference(before, after) {
  const { width, height } = before;
  const most = Math.round(width * height * MOST);
  if (width !== after.width || height !== after.height) return { pixels: Infinity, most };
  const diff = new PNG({ width, height });
  return { pixels: pixelmatch(before.data, after.data, diff.data, width, height, { threshold: COLOUR }), most, diff };
}

/** Keeps a picture that differs, and returns where. */
export function keep(name, after, diff) {
  mkdirSync(OUT, { recursive: true });
  const path = join(OUT, `${name}.png`);
  writeFileSync(path, PNG.sync.write(after));
  if (diff) writeFileSync(join(OUT, `${name}.diff.png`), PNG.sync.write(diff));
  return path;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const asked = argv.slice(2);
  const known = SCENES.map(({ name }) => name);
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`There is no picture ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
    process.exit(2);
  }
  mkdirSync(HERE, { recursive: true });
  for (const name of names()) if (!known.includes(name)) rmSync(join(HERE, `${name}.png`));
  const chosen = SCENES.filter(({ name }) => asked.length === 0 || asked.includes(name));
  const before = new Set(names());
  const fonts = await take(chosen, ({ name }, png) => {
    // A picture that does not differ stays as it is.
    if (before.has(name) && difference(stored(name), png).pixels === 0) return;
    writeFileSync(join(HERE, `${name}.png`), PNG.sync.write(png, PACKED));
    console.log(join(HERE, `${name}.png`));
  });
  if (fonts) writeFileSync(FONTS, `${fonts}\n`);
}
