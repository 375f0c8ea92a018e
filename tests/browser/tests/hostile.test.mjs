// Links and files that take too much: the page stays responsive while it opens them, shows its progress, and can
// be stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { suite } from "../harness.mjs";

const { onPage } = suite();
const PATIENCE_MS = 120_000;

const linkTo = (scenario, inputs = [], more = "") => {
  const lines = [{ scenario }, ...inputs].map((line) => JSON.stringify(line)).join("\n");
  return `#v1;${more}i=${deflateRawSync(lines).toString("base64url")}`;
};
const pods = (count) => Array.from({ length: count }, (_, n) => ({ metadata: { namespace: "a", name: `p${n}` } }));
const prints = (count) => Array.from({ length: count }, (_, n) => ({ at: n, op: "print", line: "{indices}" }));
const CROWD = { settings: { machinery: "shared", resyncMs: 1, work: { workers: 255 } }, initial: pods(20) };
const BESIDE = { settings: { machinery: "shared", resyncMs: 1 } };

/** Opens a fragment. Returns how long that took, the longest time that the page was blocked, and how often it
    reported its progress. */
const opening = (app, hash) =>
  app.page.evaluate(
    async ([fragment, patience]) => {
      // What is measured does not wait for a file.
      await window.deltascope.ready;
      const { port1, port2 } = new MessageChannel();
      let [longest, told, last] = [0, 0, performance.now()];
      const began = last;
      const before = document.querySelector("[data-testid=error]")?.innerText;
      const step = window.deltascope.getState().lesson;
      return await new Promise((resolve, reject) => {
        let begun = false;
        port1.onmessage = () => {
          const now = performance.now();
          longest = Math.max(longest, now - last);
          last = now;
          const card = document.querySelector("[data-testid=opening]");
          if (card) [begun, told] = [true, told + 1];
          const error = document.querySelector("[data-testid=error]")?.innerText;
          const { lesson } = window.deltascope.getState();
          const done = !card && (begun || error !== before || lesson !== step);
          if (done) return resolve({ took: now - began, longest, told, error, lesson });
          if (now - began > patience) return reject(new Error(`not open after ${patience} ms`));
          last = performance.now();
          port2.postMessage(0);
        };
        location.hash = fragment;
        port2.postMessage(0);
      });
    },
    [hash, PATIENCE_MS],
  );

// What is opened, the words of its error, and for long openings the largest part of the time for which the page
// may be blocked. Less than a second means nothing on a busy machine; a native test counts the pauses.
for (const [what, hash, words, part] of [
  ["a moment that never comes", "#v1;lesson=sandbox;at=t:999999999999", /does not come/, 5],
  ["255 workers", linkTo(CROWD, [], "at=t:999999999999;"), /does not come/],
  ["informers beside", linkTo({ settings: { machinery: "shared" }, initial: pods(300), beside: Array(50).fill(BESIDE) }, [], "at=t:60000;")],
  ["thousands of pods and of prints", linkTo({ settings: { machinery: "shared", indices: ["namespace"] }, initial: pods(4000) }, prints(4000)), undefined, 3],
]) {
  test(`the page answers while it opens ${what}`, { timeout: 2 * PATIENCE_MS }, onPage({}, async (app, t) => {
    const { took, longest, told, error, lesson } = await opening(app, hash);
    t.diagnostic(`${Math.round(took)} ms, held for ${Math.round(longest)} ms at the most, told ${told} times`);
    if (words) assert.match(error, words);
    else assert.equal(lesson, "link");
    if (part) assert.ok(longest < took / part, `held for ${longest} of ${took} ms`);
    assert.deepEqual(await app.page.evaluate(() => Object.keys(window.deltascope.getState().api.objects).length > 0), true);
  }));
}

test("a long opening shows its progress and can be stopped; the current run stays", { timeout: PATIENCE_MS }, onPage({}, async (app) => {
  const before = await app.state();
  await app.page.evaluate(() => (location.hash = "#v1;lesson=sandbox;at=t:999999999999"));
  const card = app.id("opening");
  await card.waitFor();
  assert.match(await card.innerText(), /\d+ facts/);
  await app.page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });
  assert.deepEqual(await app.state(), before);
  // Another opening replaces it.
  await app.page.evaluate(() => (location.hash = "#v1;lesson=sandbox;at=t:999999999998"));
  await card.waitFor();
  await app.call("load", "deltafifo");
  assert.equal((await app.state()).lesson, "deltafifo");
  assert.equal(await card.count(), 0);
}));

test("a file that needs too much memory is refused in words", onPage({}, async (app) => {
  const before = await app.state();
  const long = "x".repeat(500_000);
  for (const [settings, words] of [
    [{ handlers: [{ onAdd: [long] }] }, /"onAdd".*most is 4096/],
    [{ transform: { sets: `a=${long}` } }, /"sets".*most is 512/],
    [{ keySeparator: long }, /"keySeparator".*most is 512/],
  ]) {
    const scenario = { settings: { machinery: "shared", ...settings }, initial: pods(2000) };
    const { error } = await opening(app, linkTo(scenario));
    assert.match(error, words);
    const trace = `{"deltascope":1}\n${JSON.stringify({ scenario })}\n`;
    await app.call("openText", "a.jsonl", trace);
    assert.match(await app.id("error").innerText(), words);
    await app.page.keyboard.press("Escape");
    await app.id("error").waitFor({ state: "detached" });
  }
  assert.deepEqual(await app.state(), before);
}));
