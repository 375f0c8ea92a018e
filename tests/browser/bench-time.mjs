// The cost of moving through time on the page: a million facts of the sandbox, seeks, steps, memory.
//
//     node bench-time.mjs [facts]
//
// Measures the built page in dist/ with the screen drawn each time; motion is reduced, so that a step
// is done when its picture is on the screen.
import { DESKTOP, DIST, launch } from "./harness.mjs";
import { serve } from "./server.mjs";

const FACTS = Number(process.argv[2] ?? 1_000_000);
// Fewer facts than one command of the page computes.
const LEAP = 90_000;
const SEEKS = 101;
const STEPS = 401;
const PATIENCE_MS = 300_000;
const GOALS = { seek: 50, step: 4, memory: 300 };

const server = await serve(DIST);
const browser = await launch();
try {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript(() => {
    addEventListener("TrunkApplicationStarted", (event) => (globalThis.wasm = event.detail.wasm));
  });
  await page.goto(server.url);
  await page.waitForFunction(() => window.deltascope !== undefined);
  // Its traffic never ends; a first visit opens a story.
  await page.evaluate(() => window.deltascope.load("sandbox"));
  const found = await page.evaluate(
    async ({ facts, leap, seeks, steps }) => {
      const scope = window.deltascope;
      const timed = async (count, act) => {
        const times = [];
        for (let n = 0; n < count; n++) {
          const start = performance.now();
          await act(n);
          times.push(performance.now() - start);
        }
        times.sort((a, b) => a - b);
        return { median: times[count >> 1], p95: times[Math.floor(count * 0.95)], max: times[count - 1] };
      };
      const start = performance.now();
      let known = 0;
      while (known < facts) {
        await scope.seek(known + leap);
        known = scope.getState().steps;
      }
      const computed = performance.now() - start;
      // Places without a pattern: multiples of a large prime.
      const seek = await timed(seeks, (n) => scope.seek((n * 1_037_417) % known));
      await scope.seek(known >> 1);
      const forth = await timed(steps, () => scope.step(1));
      const back = await timed(steps, () => scope.step(-1));
      return { computed, known, seek, forth, back, memory: globalThis.wasm.memory.buffer.byteLength / 1e6 };
    },
    { facts: FACTS, leap: LEAP, seeks: SEEKS, steps: STEPS },
  );
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const heap = metrics.find(({ name }) => name === "JSHeapUsedSize").value / 1e6;
  print(found, heap, browser.version());
} finally {
  await browser.close();
  await server.close();
}

function print({ computed, known, seek, forth, back, memory }, heap, version) {
  const row = (name, { median, p95, max }, goal) =>
    console.log(
      `${name.padEnd(22)}${[median, p95, max].map((ms) => ms.toFixed(1).padStart(9)).join("")}` +
        `${String(goal).padStart(8)}  ${median <= goal ? "met" : `missed, ${(median / goal).toFixed(1)} ×`}`,
    );
  console.log(`\nThrough ${known.toLocaleString("en")} facts in Chromium ${version}, in ms:\n`);
  console.log(`${"".padEnd(22)}${["median", "95 %", "most", "goal"].map((word, n) => word.padStart(n < 3 ? 9 : 8)).join("")}`);
  row("seek anywhere", seek, GOALS.seek);
  row("a step on", forth, GOALS.step);
  row("a step back", back, GOALS.step);
  console.log(`computing them all took ${(computed / 1000).toFixed(1)} s`);
  console.log(
    `memory: ${memory.toFixed(0)} MB of wasm and ${heap.toFixed(0)} MB of JavaScript; goal ${GOALS.memory}: ` +
      (memory + heap <= GOALS.memory ? "met" : "missed"),
  );
}
