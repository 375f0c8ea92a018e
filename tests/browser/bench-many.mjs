// The cost of 10,000 objects on the page: a step, a jump, and playing at full speed.
//
//     node bench-many.mjs [objects] [events]
//
// Measures the built page in dist/ with the screen drawn each time; motion is reduced, so that a step
// is done when its picture is on the screen.
import { writeFileSync } from "node:fs";
import { DESKTOP, DIST, launch } from "./harness.mjs";
import { listOf, watchOf } from "./many.mjs";
import { serve } from "./server.mjs";

const OBJECTS = Number(process.argv[2] ?? 10_000);
const EVENTS = Number(process.argv[3] ?? 5_000);
const STEPS = 201;
const JUMP = 20_000;
const PLAYED_MS = 4_000;
const PATIENCE_MS = 300_000;
const GOALS = { step: 16, jump: 100 };

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
  // A first visit opens a story, where nothing can be opened.
  await page.evaluate(() => window.deltascope.load("sandbox"));
  const start = performance.now();
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByTestId("btn-open").click()]);
  const file = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });
  await chooser.setFiles([file("list.json", listOf(OBJECTS)), file("watch.json", watchOf(OBJECTS, EVENTS))]);
  await page.waitForFunction((n) => Object.keys(window.deltascope.getState().api.objects).length >= n, OBJECTS);
  const opened = performance.now() - start;
  const found = await page.evaluate(
    async ({ steps: count, jump, played }) => {
      const scope = window.deltascope;
      const timed = async (count, act) => {
        const times = [];
        for (let n = 0; n < count; n++) {
          const start = performance.now();
          await act(n);
          // Plus the rest of a frame: styles and layout.
          document.body.getBoundingClientRect();
          times.push(performance.now() - start);
        }
        times.sort((a, b) => a - b);
        return { median: times[count >> 1], p95: times[Math.floor(count * 0.95)], max: times[count - 1] };
      };
      const { steps } = scope.getState();
      const rows = {};
      for (const [name, at] of [["in the list", 0.3], ["in the watch", 0.9]]) {
        await scope.seek(Math.floor(steps * at));
        rows[`a step on, ${name}`] = [await timed(count, () => scope.step(1)), "step"];
        rows[`a step back, ${name}`] = [await timed(count, () => scope.step(-1)), "step"];
      }
      await scope.seek(Math.floor(steps * 0.1));
      rows[`${jump} facts on`] = [await timed(9, (n) => scope.step(jump)), "jump"];
      rows["seek anywhere"] = [await timed(31, (n) => scope.seek((n * 1_037_417) % steps)), "jump"];
      await scope.seek(Math.floor(steps * 0.5));
      const before = scope.getState().step;
      const state = [];
      for (let n = 0; n < 5; n += 1) {
        const start = performance.now();
        scope.getState();
        state.push(performance.now() - start);
      }
      // The highest speed: as fast as the machine allows.
      const select = document.querySelector("[data-testid=select-speed]");
      if (select) {
        select.value = [...select.options].at(-1).value;
        select.dispatchEvent(new Event("change", { bubbles: true }));
      }
      const frames = [];
      let last = performance.now();
      let on = true;
      const frame = () => {
        const now = performance.now();
        frames.push(now - last);
        last = now;
        if (on) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
      await scope.play();
      await new Promise((done) => setTimeout(done, played));
      on = false;
      await scope.pause();
      frames.sort((a, b) => a - b);
      const after = scope.getState().step;
      return {
        steps,
        rows,
        state: state.sort((a, b) => a - b)[2],
        played: ((after - before) * 1000) / played,
        frames: { median: frames[frames.length >> 1], p95: frames[Math.floor(frames.length * 0.95)], max: frames.at(-1) },
        memory: globalThis.wasm.memory.buffer.byteLength / 1e6,
      };
    },
    { steps: STEPS, jump: JUMP, played: PLAYED_MS },
  );
  print(found, opened, browser.version());
  if (process.env.SHOT) writeFileSync(process.env.SHOT, await page.screenshot());
} finally {
  await browser.close();
  await server.close();
}

function print({ steps, rows, state, played, frames, memory }, opened, version) {
  const row = (name, { median, p95, max }, goal) =>
    console.log(
      `${name.padEnd(30)}${[median, p95, max].map((ms) => ms.toFixed(1).padStart(9)).join("")}` +
        (goal ? `${String(goal).padStart(8)}  ${p95 <= goal ? "met" : `missed, ${(p95 / goal).toFixed(1)} ×`}` : ""),
    );
  console.log(
    `\n${OBJECTS.toLocaleString("en")} objects and ${EVENTS.toLocaleString("en")} events, ` +
      `${steps.toLocaleString("en")} facts, in Chromium ${version}, in ms:\n`,
  );
  console.log(`${"".padEnd(30)}${["median", "95 %", "most", "goal"].map((word, n) => word.padStart(n < 3 ? 9 : 8)).join("")}`);
  for (const [name, [times, goal]] of Object.entries(rows)) row(name, times, GOALS[goal]);
  row("a frame while it plays", frames);
  console.log(`played ${played.toFixed(0)} facts a second; opening took ${(opened / 1000).toFixed(1)} s; getState ${state.toFixed(0)} ms`);
  console.log(`memory: ${memory.toFixed(0)} MB of wasm`);
}
