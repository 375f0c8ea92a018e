// Takes pictures of the page, to look at: node shoot.mjs OUT [options]
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { DESKTOP, DIST, LAPTOP, PHONE, SMALLEST, launch, open } from "./harness.mjs";
import { serve } from "./server.mjs";

const USAGE = `usage: node shoot.mjs OUT [options]
  --dist DIR      the built page (default: dist of the project)
  --lesson ID     which lesson (default: as the page opens)
  --step N        how many facts, a marker, "end" or "middle" (default: middle)
  --lang LIST     en,zh
  --theme LIST    light,dark
  --size LIST     desktop,laptop,phone (also: smallest)
  --frames N      also N frames of the next step's motion
  --apart MS      how far they are apart (default: 60)
  --grain SIZE    the size of that step: event, pop, lock, micro (default: micro)
  --name NAME     what the files' names start with (default: stage)
  --figures DIR   instead: sheets of all figures of the built books in DIR, each with its poster at the left and alive at
                  the right, on a screen of 1280 (desktop) and 390 px (phone); of chapters whose names start with --name
`;
const SIZES = { desktop: DESKTOP, laptop: LAPTOP, phone: PHONE, smallest: SMALLEST };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dist: { type: "string", default: DIST },
    lesson: { type: "string" },
    step: { type: "string", default: "middle" },
    lang: { type: "string", default: "en,zh" },
    theme: { type: "string", default: "light,dark" },
    size: { type: "string", default: "desktop,laptop,phone" },
    frames: { type: "string", default: "0" },
    apart: { type: "string", default: "60" },
    grain: { type: "string", default: "micro" },
    name: { type: "string" },
    figures: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});
const list = (text) => text.split(",").filter(Boolean);
const unknown = list(values.size).filter((size) => !(size in SIZES));
if (values.help || positionals.length !== 1 || unknown.length > 0) {
  console.error(unknown.length > 0 ? `no size ${unknown}\n${USAGE}` : USAGE);
  process.exit(values.help ? 0 : 2);
}
const [out] = positionals;
const frames = Number(values.frames);
const name = values.name ?? "stage";
// As many figures are on a sheet.
const SHEET = { desktop: 6, phone: 10 };
mkdirSync(out, { recursive: true });

const server = await serve(values.figures ?? values.dist);
const browser = await launch();
try {
  for (const size of list(values.size)) {
    for (const lang of list(values.lang)) {
      for (const theme of list(values.theme)) await (values.figures ? figures : shoot)(size, lang, theme);
    }
  }
} finally {
  await browser.close();
  await server.close();
}

async function shoot(size, lang, theme) {
  const motion = frames > 0;
  const app = await open(browser, server.url, { lang, theme, viewport: SIZES[size], motion, lesson: values.lesson });
  const { steps } = await app.state();
  const where = { end: steps, middle: Math.floor(steps / 2) }[values.step] ?? values.step;
  await app.call("seek", /^\d+$/.test(where) ? Number(where) : where);
  await save(app, `${name}-${size}-${lang}-${theme}`);
  if (motion) {
    await app.call("step", 1, values.grain);
    // The time of what moves stands still for each picture.
    for (let n = 0; n < frames; n += 1) {
      await app.page.evaluate((ms) => {
        for (const one of document.getAnimations()) {
          one.pause();
          one.currentTime = ms;
        }
      }, n * Number(values.apart));
      await save(app, `${name}-${size}-${lang}-${theme}-frame-${String(n).padStart(2, "0")}`);
    }
  }
  for (const problem of app.problems) console.error(problem);
  await app.context.close();
}

/** All figures of the book in this language, as its reader sees them before and after they come alive. */
async function figures(size, lang, theme) {
  if (!(size in SHEET)) return;
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme: theme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const shots = [];
  const folder = join(values.figures, lang);
  const has = (file) => file.endsWith(".html") && file !== "print.html" && file !== "index.html" && file.startsWith(values.name ?? "");
  for (const file of readdirSync(folder).filter(has)) {
    if (!readFileSync(join(folder, file), "utf8").includes("<delta-scope")) continue;
    // The module comes only once the posters are seen.
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route("**/deltascope.js", (route) => held.then(() => route.continue()));
    await page.goto(`${server.url}${lang}/${file}`, { waitUntil: "commit" });
    await page.locator("figure.deltascope").last().waitFor();
    await page.locator("script[src*=toc]").first().waitFor({ state: "attached" });
    const all = await page.locator("figure.deltascope").all();
    const posters = [];
    for (const figure of all) posters.push(await figure.screenshot({ animations: "disabled" }));
    release();
    await page.evaluate(() => customElements.whenDefined("delta-scope").then(() => undefined));
    for (const [at, figure] of all.entries()) {
      const element = figure.locator("delta-scope");
      await element.scrollIntoViewIfNeeded();
      const about = await element.evaluate((one) => one.ready.then(() => `at=${one.getAttribute("at")} era=${one.getAttribute("era")}`, String));
      const alive = await figure.screenshot({ animations: "disabled" });
      shots.push({ about: `${file} #${at + 1} ${about}`, both: [posters[at], alive].map((png) => png.toString("base64")) });
      await element.evaluate((one) => one.dispose());
    }
    await page.unroute("**/deltascope.js");
  }
  for (let from = 0; from < shots.length; from += SHEET[size]) {
    const sheet = shots.slice(from, from + SHEET[size]).map(({ about, both }) => {
      const images = both.map((png) => `<img src="data:image/png;base64,${png}">`);
      return `<div><p>${about.replaceAll("<", "&lt;")}</p>${images.join("")}</div>`;
    });
    const looks = "body{margin:8px;font:13px sans-serif;display:flex;flex-wrap:wrap;gap:12px;background:#888}p{margin:0 0 4px}img{margin-right:6px;vertical-align:top}";
    await page.setViewportSize({ width: size === "phone" ? 5 * 730 : 2 * 1540, height: 900 });
    await page.setContent(`<style>${looks}</style>${sheet.join("")}`);
    const path = join(out, `figures-${size}-${lang}-${theme}-${String(from / SHEET[size] + 1).padStart(2, "0")}.png`);
    await page.screenshot({ path, fullPage: true });
    console.log(path);
  }
  await context.close();
}

async function save(app, name) {
  const path = join(out, `${name}.png`);
  await app.page.screenshot({ path, animations: "allow" });
  console.log(path);
}
