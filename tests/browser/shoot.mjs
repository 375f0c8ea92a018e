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
  --frames N      also N frames in the middle of the next step's motion, 60 ms apart
  --name NAME     what the files' names start with (default: stage)
`;
const SIZES = { desktop: DESKTOP, laptop: LAPTOP, phone: PHONE, smallest: SMALLEST };
// A motion takes about a second, so sixteen frames of 60 ms cover it.
const FRAME_MS = 60;

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
    // The page's clock stands still for each picture.
    await app.page.clock.install();
    await app.page.clock.pauseAt(Date.now() + 1000);
    const settled = app.call("step", 1).catch(() => undefined);
    for (let n = 0; n < frames; n += 1) {
      await app.page.clock.runFor(FRAME_MS);
      await save(app, `${values.name}-${size}-${lang}-${theme}-frame-${String(n).padStart(2, "0")}`);
    }
    await app.page.clock.resume();
    await settled;
  }
  for (const problem of app.problems) console.error(problem);
  await app.context.close();
}

async function save(app, name) {
  const path = join(out, `${name}.png`);
  await app.page.screenshot({ path, animations: "allow" });
  console.log(path);
}
