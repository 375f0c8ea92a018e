// Takes pictures of the page, to look at: node shoot.mjs OUT [options]
import { mkdirSync } from "node:fs";
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
    name: { type: "string", default: "stage" },
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
mkdirSync(out, { recursive: true });

const server = await serve(values.dist);
const browser = await launch();
try {
  for (const size of list(values.size)) {
    for (const lang of list(values.lang)) {
      for (const theme of list(values.theme)) await shoot(size, lang, theme);
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
  await save(app, `${values.name}-${size}-${lang}-${theme}`);
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
      await save(app, `${values.name}-${size}-${lang}-${theme}-frame-${String(n).padStart(2, "0")}`);
    }
  }
  for (const problem of app.problems) console.error(problem);
  await app.context.close();
}

async function save(app, name) {
  const path = join(out, `${name}.png`);
  await app.page.screenshot({ path, animations: "allow" });
  console.log(path);
}
