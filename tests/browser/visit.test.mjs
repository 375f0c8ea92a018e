// What a reader of lessons sees without asking for more, beside what the tests do: every lesson in every generation, its story with the answers,
// every fact, and every control with each of its values. What neither runs is fetched only when it is needed (starts.mjs): so nothing of this
// stops the page (`make soak`).
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, LAPTOP, PHONE, SMALLEST, suite } from "./harness.mjs";

const GENERATIONS = ["1.32", "1.34", "1.35", "1.36"];
const SIZES = ["event", "pop", "lock", "micro"];
const WRITES = ["create", "update", "update", "cut", "delete"];
/** So many facts of a run are walked through. */
const MOST = 600;
/** So long a scene plays on after an answer. */
const PLAYS_MS = 1500;
/** More objects than are drawn one by one. */
const MANY = 70;
const { onPage } = suite();
const newcomer = true;

test("every lesson, in every generation", onPage({ newcomer }, (app) => lessons(app, GENERATIONS)));
for (const look of [{ viewport: DESKTOP }, { viewport: PHONE, lang: "zh", theme: "dark" }]) {
  test(`every story, with its answers, at ${look.viewport.width} px`, onPage({ newcomer, ...look }, stories));
}
test("a goal tried twice, and scenes in other generations", onPage({ newcomer }, again));
test("what is done to a run at an earlier place", onPage({ newcomer }, before));
test("every method of a script for lessons, and what is wrong with them", onPage({ newcomer, provokes: /./ }, calls));
test("more objects than are drawn one by one", onPage({ newcomer }, many));
for (const look of [{ viewport: DESKTOP }, { viewport: PHONE, lang: "zh" }]) {
  for (const lesson of ["sandbox", "late-handler", "reflector"]) {
    test(`every control of ${lesson} at ${look.viewport.width} px`, onPage({ newcomer, ...look }, (app) => controls(app, lesson)));
  }
}

async function lessons(app, generations) {
  for (const id of await app.lessons()) {
    for (const era of generations) {
      await app.page.evaluate(
        async ([id, era, sizes, writes, most]) => {
          const { deltascope } = window;
          await deltascope.load(id);
          await deltascope.setEra(era);
          // Every fact is said, and how the state is told.
          const { steps } = deltascope.getState();
          await deltascope.seek(0);
          for (let at = 0; at < Math.min(steps, most); at += 1) {
            await deltascope.step(1);
            deltascope.getState();
          }
          for (const marker of [0, 0.5, 1]) {
            await deltascope.seek(Math.floor(marker * steps));
            for (const size of sizes) {
              await deltascope.step(3, size);
              await deltascope.step(-2, size);
            }
          }
          for (const op of writes) {
            await deltascope.inject({ op, object: { metadata: { namespace: "default", name: "web-9", labels: { app: "web" } } } });
            await deltascope.step(5, "event");
          }
        },
        [id, era, SIZES, WRITES, MOST],
      );
    }
  }
}

/** Every question is answered, or its answer shown. */
async function stories(app) {
  let asked = 0;
  for (const id of await app.lessons()) {
    asked += await app.page.evaluate(
      async ([id, ms]) => {
        const { deltascope } = window;
        await deltascope.load(id);
        await deltascope.next();
        let asked = 0;
        for (let at = 1; at <= (deltascope.getState().scene?.of ?? 0); at += 1) {
          await deltascope.scene(at);
          const { question } = deltascope.getState().scene ?? {};
          if (!question) continue;
          const { kind, choices } = question;
          const value = { choice: choices.length - 1, number: 1, place: choices[0], order: choices.map((_, index) => index) }[kind];
          const done = deltascope.answer(at % 2 === 0 ? null : value);
          await Promise.race([done, new Promise((resolve) => setTimeout(resolve, ms))]);
          asked += 1;
        }
        return asked;
      },
      [id, PLAYS_MS],
    );
  }
  assert.ok(asked > 20, `${asked} questions`);
}

async function again(app) {
  for (const id of await app.lessons()) {
    await app.page.evaluate(
      async ([id, generations]) => {
        const { deltascope } = window;
        await deltascope.load(id);
        await deltascope.next();
        const of = deltascope.getState().scene?.of ?? 0;
        if (of === 0) return;
        for (const times of [1, 2, 3]) {
          await deltascope.scene(of);
          await deltascope.inject({ op: "cut" });
          await deltascope.step(times, "event");
          await deltascope.scene(1);
        }
        for (const era of generations) {
          await deltascope.setEra(era);
          for (let at = 1; at <= of; at += 1) await deltascope.scene(at);
          await deltascope.back();
        }
      },
      [id, GENERATIONS],
    );
  }
}

async function before(app) {
  const act = (op, name) => app.call("inject", { op, object: { metadata: { namespace: "default", name, labels: { app: "web" } } } });
  for (const id of ["sandbox", "late-handler", "tombstone"]) {
    await app.call("load", id);
    await app.call("seek", 40);
    await act("create", "web-8");
    await app.call("step", 20);
    for (const [op, place] of [["update", 30], ["delete", 45], ["cut", 20]]) {
      await app.call("seek", place);
      await act(op, "web-8");
      await app.call("step", 20);
    }
    for (const place of [25, 10]) {
      await app.call("seek", place);
      await press(app, "[data-testid=btn-add-handler]");
      await app.call("step", 20);
      await press(app, "[data-testid=btn-compact], [data-testid=btn-remove-handler]");
    }
    await app.call("reset");
  }
  // Each fault meets what it waits for.
  await app.call("load", "sandbox");
  const faults = await app.id("select-fault").locator("option").evaluateAll((all) => all.map(({ value }) => value));
  for (const fault of faults.filter(Boolean)) {
    await app.call("seek", 30);
    await app.id("select-fault").selectOption(fault);
    await app.call("inject", { op: "cut" });
    await app.call("step", 60);
    await press(app, "[data-testid=btn-disarm]");
  }
}

/** Those that need no more than lessons do (`CALLS`), right and wrong. */
async function calls(app) {
  const tried = await app.page.evaluate(async () => {
    const { deltascope } = window;
    const given = {
      step: [[], [3], [-2, "event"], [1, "nothing"], ["x"]],
      seek: [[5], ["listed"], ["nothing"], ["listed+"], ["12s"], [1e9]],
      play: [[]],
      pause: [[]],
      follow: [["default/web-0"], ["nothing"], [null]],
      load: [["tombstone"], ["nothing"], ["sandbox"]],
      next: [[], []],
      back: [[]],
      scene: [[2], [99]],
      answer: [["nothing"], [0], [null]],
      disconnect: [[]],
      setEra: [["1.36"], ["nothing"]],
      reset: [[]],
      inject: [[{}], [{ op: "nothing" }], [{ op: "create" }], [{ op: "update", object: { metadata: { name: "no" } } }]],
    };
    let tried = 0;
    for (const name of ["getUrl", "exportTrace", "exportTranscript", "exportSvg"]) deltascope[name]();
    for (const [name, all] of Object.entries(given)) {
      for (const one of all) {
        await deltascope[name](...one);
        deltascope.getState();
        tried += 1;
      }
    }
    // One that is followed from where it was written to where it ends.
    await deltascope.load("sandbox");
    await deltascope.inject({ op: "create", object: { metadata: { namespace: "default", name: "mine" } } });
    await deltascope.follow("default/mine");
    for (let at = 0; at < 60; at += 1) await deltascope.step(1, "micro");
    await deltascope.inject({ op: "delete", object: { metadata: { namespace: "default", name: "mine" } } });
    for (let at = 0; at < 60; at += 1) await deltascope.step(1, "micro");
    return tried;
  });
  assert.ok(tried > 25, `${tried} calls`);
}

async function many(app) {
  await app.call("load", "sandbox");
  for (let number = 0; number < MANY; number += 1) {
    await app.call("inject", { op: "create", object: { metadata: { namespace: "many", name: `web-${number}` } } });
  }
  await app.call("step", 60, "event");
  await app.page.locator("canvas").first().waitFor();
}

/** Presses what is there of them. Returns how many. */
async function press(app, them) {
  let pressed = 0;
  for (const one of await app.page.locator(them).all()) {
    // It may be gone after the one before.
    if ((await one.isVisible()) && (await one.click({ timeout: 1000 }).then(() => true, () => false))) pressed += 1;
  }
  return pressed;
}

/** Every control of header and transport, and every value that it can have. */
async function controls(app, lesson) {
  for (const id of ["toggle-lang", "toggle-lang", "toggle-theme", "toggle-theme", "toggle-theme"]) await press(app, `[data-testid=${id}]`);
  await app.call("load", lesson);
  await app.call("seek", 60);
  for (const select of await app.page.locator("select:visible").all()) {
    const id = await select.getAttribute("data-testid");
    if (["select-lesson", "compare-with", "select-setting"].includes(id)) continue;
    for (const value of await select.locator("option").evaluateAll((all) => all.map(({ value }) => value))) {
      await select.selectOption(value, { timeout: 1000 }).catch(() => {});
      await app.page.evaluate(() => new Promise(requestAnimationFrame));
    }
  }
  const pressed = await press(app, "[role=radiogroup] button, .eras button, .transport button, .chip.known, [data-testid=btn-add-handler], [data-testid=btn-compact], [data-testid=btn-remove-handler], [data-testid=btn-disarm]");
  assert.ok(pressed > 5, `${pressed} pressed`);
  await app.call("pause");
  await app.id("scrubber").click({ timeout: 1000 }).catch(() => {});
  await app.page.locator("[data-testid=strip]").hover({ timeout: 1000 }).catch(() => {});
  await form(app);
  for (const close of ["dialog[open] button", "Escape"]) {
    await press(app, "[data-testid=btn-help]");
    await (close === "Escape" ? app.page.keyboard.press(close) : app.page.locator(close).first().click({ timeout: 1000 }).catch(() => {}));
  }
  for (const size of [LAPTOP, { width: 900, height: 700 }, SMALLEST, { width: 844, height: 390 }, DESKTOP]) await app.resize(size);
}

/** An object is written in the form, after one that is refused. */
async function form(app) {
  await press(app, "[data-testid=btn-create]");
  const dialog = app.id("form-object");
  if ((await dialog.count()) === 0) return;
  const fields = dialog.locator("input:visible");
  for (const name of ["", "No name", "web-7"]) {
    await fields.first().fill(name, { timeout: 1000 }).catch(() => {});
    await app.page.keyboard.press("Enter");
    await app.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await app.page.keyboard.press("Escape");
  await press(app, "[data-testid=btn-create]");
  await dialog.locator("button[type=button]").last().click({ timeout: 1000 }).catch(() => {});
}
