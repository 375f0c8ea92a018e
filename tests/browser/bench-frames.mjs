// The cost of a frame while the sandbox plays: script, styles and layout, not paint.
//
//     node bench-frames.mjs [DIST…] [--speed PERCENT] [--seconds N] [--size desktop|laptop|phone]
//
// Measures the built page in dist/, or several builds in turns, so that they share what else the machine does.
import { parseArgs } from "node:util";
import { loadavg } from "node:os";
import { CATEGORIES, at, framesOf } from "./frames.mjs";
import { DESKTOP, DIST, LAPTOP, PHONE, launch, open } from "./harness.mjs";
import { serve } from "./server.mjs";

const SIZES = { desktop: DESKTOP, laptop: LAPTOP, phone: PHONE };
const TURNS = 4;
const GOAL_MS = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    speed: { type: "string", default: "400" },
    seconds: { type: "string", default: "20" },
    size: { type: "string", default: "desktop" },
  },
});
const viewport = SIZES[values.size];
const turn = (Number(values.seconds) * 1000) / TURNS;
if (!viewport || !(turn > 0)) {
  console.error("usage: node bench-frames.mjs [DIST…] [--speed PERCENT] [--seconds N] [--size desktop|laptop|phone]");
  process.exit(2);
}

const browser = await launch();
const builds = [];
try {
  for (const dist of positionals.length > 0 ? positionals : [DIST]) {
    const server = await serve(dist);
    const app = await open(browser, server.url, { motion: true, viewport, newcomer: true });
    await app.id("select-speed").selectOption(values.speed);
    builds.push({ dist, server, app, frames: [], facts: 0, played: 0 });
  }
  for (let n = 0; n < TURNS; n += 1) {
    for (const build of builds) await play(build);
  }
} finally {
  await browser.close();
  for (const { server } of builds) await server.close();
}
print();

async function play(build) {
  const { app } = build;
  // A page behind another one gets no frames.
  await app.page.bringToFront();
  const { step } = await app.state();
  await app.call("play");
  await browser.startTracing(app.page, { categories: CATEGORIES });
  const began = performance.now();
  await app.page.waitForTimeout(turn);
  build.played += performance.now() - began;
  const trace = JSON.parse(await browser.stopTracing());
  await app.call("pause");
  build.facts += (await app.state()).step - step;
  build.frames.push(...framesOf(trace.traceEvents).frames);
}

function print() {
  const number = (n, digits = 1) => n.toFixed(digits).padStart(9);
  console.log(`\nThe sandbox at ${Number(values.speed) / 100}×, ${values.size}, in ms a frame; load ${loadavg()[0].toFixed(1)}\n`);
  console.log(["frames", "facts/s", "median", "95 %", "99 %", "most", "busy %"].map((word) => word.padStart(9)).join(""));
  for (const { dist, frames, facts, played } of builds) {
    const busy = (frames.reduce((sum, ms) => sum + ms, 0) / played) * 100;
    const numbers = [number(frames.length, 0), number((facts * 1000) / played), ...at(frames, 0.5, 0.95, 0.99, 1).map((ms) => number(ms)), number(busy)];
    console.log(`${numbers.join("")}  95 % ${at(frames, 0.95)[0] <= GOAL_MS ? "met" : "missed"} (goal ${GOAL_MS})  ${dist}`);
  }
}
