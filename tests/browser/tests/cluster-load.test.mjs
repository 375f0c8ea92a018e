// Ten thousand objects and a thousand changes a second: the page keeps up, and its memory is bounded. Smoothness
// is measured and printed, but not judged: the machine may be busy.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { suite } from "../harness.mjs";

const { onCluster } = suite();

const OBJECTS = Number(process.env.LOAD_OBJECTS ?? 10_000);
const RATE = Number(process.env.LOAD_RATE ?? 1_000);
const SECONDS = Number(process.env.LOAD_SECONDS ?? 10);
// The number of elements does not grow with the number of objects.
const ELEMENTS = 3_000;
// Nor does what a redraw changes: many times as much where each mark on the timeline, or each line of output, is an element anew.
const CHANGES = 600;
const MEMORY_MB = 500;
const PATIENCE_MS = 120_000;

test(`${OBJECTS} objects, ${RATE} changes a second`, onCluster({
  setUp: (api) => api.generate("pods", OBJECTS),
  motion: true,
  measured: true,
}, async (app, api, { t }) => {
  const measure = () => app.page.evaluate(async () => ({
    elements: document.querySelectorAll("*").length,
    wasm: globalThis.wasm.memory.buffer.byteLength / 1e6,
    heap: performance.memory.usedJSHeapSize / 1e6,
  }));
  const caughtUp = async (what) => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const { reflector, store, steps } = await app.state();
      const objects = api.stores.get("pods").objects;
      const [last] = [...objects.values()].map(({ metadata }) => Number(metadata.resourceVersion)).sort((a, b) => b - a);
      if (Number(reflector.lastSyncResourceVersion) >= last && Object.keys(store.items).length === objects.size) return { steps, store };
      assert.ok(performance.now() < deadline, `${what}: at ${reflector.lastSyncResourceVersion}, the server at ${last}`);
      await wait(500);
    }
  };
  const start = performance.now();
  await app.call("connect", {});
  await caughtUp("the list");
  const listed = performance.now() - start;
  const before = await measure();

  await app.page.evaluate(() => {
    const frames = (globalThis.frames_ = []);
    const tasks = (globalThis.tasks_ = []);
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ entryTypes: ["longtask"] });
    const changes = (globalThis.changes_ = []);
    new MutationObserver((list) => changes.push(list.length))
      .observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    let last = performance.now();
    requestAnimationFrame(function frame(now) {
      frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    });
  });
  api.rate(RATE, { count: RATE * SECONDS });
  await wait(SECONDS * 1000);
  const [frames, tasks, changes] = await app.page.evaluate(() => [globalThis.frames_.slice(1), globalThis.tasks_, globalThis.changes_]);
  const during = await measure();
  const late = performance.now();
  const { steps, store } = await caughtUp("the changes");
  const behind = performance.now() - late;
  const after = await measure();

  frames.sort((a, b) => a - b);
  const at = (share) => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))].toFixed(0);
  t.diagnostic(`the list was there after ${(listed / 1000).toFixed(1)} s; ${steps} facts in the end`);
  t.diagnostic(`frames: ${(frames.length / SECONDS).toFixed(0)} a second, ${at(0.5)} ms median, ${at(0.95)} at 95 %, ${at(1)} at the most; ` +
    `${tasks.length} long tasks, ${Math.max(0, ...tasks).toFixed(0)} ms at the most`);
  changes.sort((a, b) => a - b);
  t.diagnostic(`${changes.length} redraws, which changed ${changes[changes.length >> 1]} nodes and attributes (median), ${changes.at(-1)} at the most`);
  assert.ok(changes.length > 0 && changes[changes.length >> 1] < CHANGES, `a redraw changes ${changes[changes.length >> 1]} nodes and attributes`);
  t.diagnostic(`caught up ${(behind / 1000).toFixed(1)} s after the last change`);
  for (const [when, found] of Object.entries({ before, during, after })) {
    t.diagnostic(`${when}: ${found.elements} elements, ${found.wasm.toFixed(0)} MB of wasm, ${found.heap.toFixed(0)} MB of JavaScript`);
    assert.ok(found.elements < ELEMENTS, `${when}: ${found.elements} elements are drawn`);
    assert.ok(found.wasm + found.heap < MEMORY_MB, `${when}: ${found.wasm + found.heap} MB`);
  }
  for (const [key, { metadata }] of api.stores.get("pods").objects) {
    assert.equal(store.items[key], metadata.resourceVersion, key);
  }
  assert.equal(api.asked.filter(({ watch }) => watch).length, 1, "one watch sufficed: it read as fast as the server wrote");
}));
