// The cost of following a cluster: the work of a frame (script, styles and layout, not paint), the longest piece of work, and how far
// behind the page is when the changes end.
//
//     node bench-live.mjs [DIST…] [--objects N] [--rate N] [--seconds N] [--turns N] [--profile FILE]
//
// Measures the built page in dist/, or several builds in turns. The API server is that of the tests, in this process. The profile of
// the changes is one of Chromium's (.cpuprofile).
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { startApi } from "./apiserver.mjs";
import { CATEGORIES, at, framesOf } from "./frames.mjs";
import { DESKTOP, DIST, launch, open } from "./harness.mjs";
import { serve } from "./server.mjs";

const GOALS = { frame: 16.7, piece: 200 };
const PATIENCE_MS = 180_000;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    objects: { type: "string", default: "10000" },
    rate: { type: "string", default: "1000" },
    seconds: { type: "string", default: "15" },
    turns: { type: "string", default: "1" },
    profile: { type: "string" },
  },
});
const [objects, rate, seconds, turns] = ["objects", "rate", "seconds", "turns"].map((name) => Number(values[name]));
const dists = positionals.length > 0 ? positionals : [DIST];

const browser = await launch();
try {
  console.log(`\n${objects.toLocaleString("en")} pods, ${rate.toLocaleString("en")} events a second for ${seconds} s; ms of the thread\n`);
  console.log(["", "frames", "median", "95 %", "99 %", "most", "longest", "busy %", "behind s", "MB"].map((word) => word.padStart(9)).join(""));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const dist of dists) await measure(dist);
  }
} finally {
  await browser.close();
}

async function measure(dist) {
  const api = await startApi({ history: 200_000 });
  const front = await serve(dist, { api: api.url });
  try {
    api.generate("pods", objects);
    const reads = new URL("/k8s/", front.url).href;
    const app = await open(browser, front.url, { motion: true, measured: true, viewport: DESKTOP, newcomer: true, reads });
    await app.page.evaluate(() => requestAnimationFrame(function frame() {
      requestAnimationFrame(frame);
    }));
    const cdp = await app.context.newCDPSession(app.page);
    if (values.profile) {
      await cdp.send("Profiler.enable");
      await cdp.send("Profiler.setSamplingInterval", { interval: 500 });
    }
    // What the page shows: its getState() has all objects, and with 100,000 of them costs more than what is measured here.
    const shown = () => app.page.evaluate(() => Number(document.querySelector('[data-anchor="store/gauge"]')?.ariaLabel?.match(/\d+/) ?? 0));
    const caughtUp = async () => {
      const from = performance.now();
      for (let version = 0; version < api.revision; version = await shown()) {
        if (performance.now() - from > PATIENCE_MS) throw new Error(`the store is at ${version}, the server at ${api.revision}: ${await app.id("live-trouble").textContent().catch(() => "")}`);
        await new Promise((done) => setTimeout(done, 200));
      }
      return (performance.now() - from) / 1000;
    };
    const traced = async (what, act) => {
      await browser.startTracing(app.page, { categories: CATEGORIES });
      const began = performance.now();
      await act();
      const passed = performance.now() - began;
      const { frames, pieces } = framesOf(JSON.parse(await browser.stopTracing()).traceEvents);
      const busy = (pieces.reduce((sum, ms) => sum + ms, 0) / passed) * 100;
      return { what, frames, longest: Math.max(0, ...pieces), busy, passed };
    };
    const memory = () => app.page.evaluate(() => globalThis.wasm.memory.buffer.byteLength / 1e6 + performance.memory.usedJSHeapSize / 1e6);
    const print = ({ what, frames, longest, busy }, behind, mb) => {
      const cells = [...at(frames, 0.5, 0.95, 0.99, 1), longest, busy, behind, mb];
      const isMet = at(frames, 0.95)[0] <= GOALS.frame && longest <= GOALS.piece;
      console.log(what.padEnd(9) + String(frames.length).padStart(9) + cells.map((n) => n.toFixed(1).padStart(9)).join("") + `  ${isMet ? "met" : "missed"}  ${dist}`);
    };
    let listed;
    const list = await traced("list", async () => {
      await app.call("connect", { resource: "pods" });
      listed = await caughtUp();
    });
    print(list, list.passed / 1000, await memory());
    if (values.profile) await cdp.send("Profiler.start");
    const follow = await traced("follow", async () => {
      api.rate(rate, { count: rate * seconds });
      await app.page.waitForTimeout(seconds * 1000);
    });
    if (values.profile) {
      const { profile } = await cdp.send("Profiler.stop");
      writeFileSync(values.profile, JSON.stringify(profile));
    }
    print(follow, await caughtUp(), await memory());
    await app.context.close();
  } finally {
    await front.close();
    await api.close();
  }
}
console.log(`\nload ${loadavg()[0].toFixed(1)}; goals: 95 % of the frames ${GOALS.frame} ms, no piece longer than ${GOALS.piece} ms`);
