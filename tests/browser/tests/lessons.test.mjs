// The lessons' content, and the controls of the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, LAPTOP, PHONE, ROOMS, suite } from "../harness.mjs";

const { onPage } = suite();

const OUTPUT = {
  deltafifo: [
    "Added pod1 value: 1",
    "执行新增回调",
    "Updated pod1 value: 1.1",
    "执行修改回调",
    "Deleted pod1 value: 1.1",
    "执行删除回调",
  ],
  reflector: [
    "Added : nettool : Pending",
    ...Array(3).fill("Updated : nettool : Pending"),
    ...Array(5).fill("Updated : nettool : Running"),
  ],
};
OUTPUT.indexer = [...OUTPUT.reflector, "Deleted : nettool : Running"];

test("it loads and shows every room", onPage({}, async (app) => {
  for (const room of ROOMS) assert.ok(await app.id(`room-${room}`).isVisible(), `room-${room}`);
  for (const part of ["strip", "transport", "scrubber", "select-lesson"]) {
    assert.ok(await app.id(part).isVisible(), part);
  }
  const state = await app.state();
  assert.equal(state.error, null);
  assert.ok(state.steps > 0, "something can be stepped through at once");
  assert.match(await app.page.evaluate(() => String(window.deltascope.version)), /^\d+(\.\d+)*$/);
}));

test("play at the end starts over, and markers can be pressed", onPage({ lesson: "deltafifo" }, async (app) => {
  const { steps } = await app.toEnd();
  const marker = app.page.locator("button.marker").first();
  assert.ok((await marker.getAttribute("aria-label")).length > 3);
  await app.id("btn-play").click();
  await app.eventually("it plays from the start", (s) => s.playing && s.step < steps);
  await marker.click();
  const state = await app.eventually("it stops at the marker", (s) => !s.playing);
  assert.ok(state.step > 0 && state.step < steps, `${state.step}`);
}));

test("a key popped with several deltas is drawn only in Pop's room", onPage({ lesson: "deltafifo" }, async (app) => {
  for (let at = 20; at <= 30; at += 1) {
    await app.call("seek", at);
    const outside = await app.page.locator(".slot.work").evaluate((slot) => {
      const { left, right } = slot.getBoundingClientRect();
      const astray = (box) => box.left < left - 1 || box.right > right + 1;
      return [...slot.querySelectorAll(".d")].filter((d) => astray(d.getBoundingClientRect())).length;
    });
    assert.equal(outside, 0, `step ${at}`);
  }
}));

test("every lesson of the menu opens and can be stepped", onPage({}, async (app) => {
  const ids = await app.lessons();
  for (const known of ["deltafifo", "reflector", "indexer", "sandbox"]) {
    assert.ok(ids.includes(known), `${known} among ${ids}`);
  }
  for (const id of ids) {
    await app.id("select-lesson").selectOption(id);
    await app.eventually(`${id} is open`, (s) => s.lesson === id);
    await app.call("seek", 0);
    await app.call("step", 1);
    const state = await app.state();
    assert.equal(state.error, null, id);
    assert.equal(state.step, 1, id);
  }
}));

test("what a program prints is on screen", onPage({ lesson: "deltafifo" }, async (app) => {
  const { output } = await app.toEnd();
  assert.deepEqual(output, OUTPUT.deltafifo);
  const shown = await app.page.evaluate(() => document.body.innerText);
  assert.ok(shown.includes(output.at(-1)));
}));

test("the picture matches the state", onPage({ lesson: "indexer" }, async (app) => {
  const { steps } = await app.state();
  let queued = 0;
  let stored = 0;
  for (let n = 0; n <= steps; n += 1) {
    await app.call("seek", n);
    const [state, shown] = await app.page.evaluate(async () => [
      await window.deltascope.getState(),
      {
        deltas: document.querySelectorAll('[data-testid="room-queue"] [data-testid="delta"]').length,
        items: document.querySelectorAll('[data-testid="room-indexer"] [data-testid="store-item"]').length,
      },
    ]);
    const deltas = Object.values(state.queue.deltas).flat().length;
    const items = Object.keys(state.store.items).length;
    assert.equal(shown.deltas, deltas, `deltas at step ${n}`);
    assert.equal(shown.items, items, `items at step ${n}`);
    queued = Math.max(queued, deltas);
    stored = Math.max(stored, items);
  }
  assert.ok(queued > 0 && stored > 0, "there was something to see");
}));

test("play runs and pause stops", onPage({ lesson: "reflector", motion: true }, async (app) => {
  await app.call("seek", 0);
  await app.id("btn-play").click();
  await app.eventually("it plays", (s) => s.playing);
  await app.eventually("it gets on", (s) => s.step >= 2);
  await app.id("btn-play").click();
  const paused = await app.eventually("it is paused", (s) => !s.playing);
  assert.ok(paused.step < paused.steps, "stopped on the way");
  // Sixty frames: more than the longest motion at normal speed.
  await app.page.evaluate(async () => {
    for (let frame = 0; frame < 60; frame += 1) await new Promise(requestAnimationFrame);
  });
  assert.equal((await app.state()).step, paused.step, "it stays where it was paused");
  await app.call("play");
  await app.eventually("it goes on", (s) => s.playing && s.step > paused.step);
  await app.call("pause");
  assert.equal((await app.state()).playing, false);
}));

test("playing stops at the end", onPage({ lesson: "deltafifo", motion: true }, async (app) => {
  const { steps } = await app.state();
  await app.call("seek", steps - 2);
  await app.call("play");
  const end = await app.eventually("the end", (s) => s.step === steps && !s.playing);
  assert.deepEqual(end.output, OUTPUT.deltafifo);
}));

test("step and back", onPage({ lesson: "deltafifo" }, async (app) => {
  await app.call("seek", 0);
  const start = await app.state();
  await app.id("btn-step").click();
  const one = await app.eventually("a step", (s) => s.step > 0);
  await app.id("btn-step").click();
  await app.eventually("another", (s) => s.step > one.step);
  await app.id("btn-back").click();
  assert.deepEqual(await app.eventually("one back", (s) => s.step === one.step), one);
  await app.id("btn-reset").click();
  assert.deepEqual(await app.eventually("the start", (s) => s.step === 0), start);
}));

test("seek goes to a number, a marker, and never outside", onPage({ lesson: "reflector" }, async (app) => {
  const { steps } = await app.state();
  const middle = Math.floor(steps / 2);
  await app.call("seek", middle);
  assert.equal((await app.state()).step, middle);
  await app.call("seek", steps + 1000);
  assert.equal((await app.state()).step, steps);
  await app.call("seek", -7);
  assert.equal((await app.state()).step, 0);
  await app.call("step", -1);
  assert.equal((await app.state()).step, 0);
  await app.call("seek", steps);
  await app.call("step", 1);
  assert.equal((await app.state()).step, steps);

  await app.call("seek", 0);
  await app.id("btn-next-marker").click();
  const { step } = await app.eventually("the first marker", (s) => s.step > 0);
  assert.ok(step < steps, "a marker before the end");
  await app.call("seek", "delete-dropped");
  const there = await app.state();
  assert.equal(there.error, null);
  assert.ok(there.step > step, "the delete comes after the first marker");
  const lost = await app.tryCall("seek", "no-such-marker");
  assert.match(lost.error.message, /no-such-marker/);
}));

test("the scrubber seeks", onPage({ lesson: "indexer" }, async (app) => {
  const { steps } = await app.state();
  await app.call("seek", 0);
  const box = await app.id("scrubber").boundingBox();
  await app.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const { step } = await app.eventually("somewhere in the middle", (s) => s.step > 0);
  assert.ok(Math.abs(step - steps / 2) <= Math.max(2, steps / 10), `${step} of ${steps}`);
}));

test("KnownObjects decides whether the same delete is kept", onPage({ lesson: "reflector" }, async (app) => {
  const without = await app.toEnd();
  assert.equal(without.knownObjects, false);
  assert.deepEqual(without.output, OUTPUT.reflector);
  // A switch takes effect from the step at which it is thrown.
  await app.call("seek", 0);
  await app.id("toggle-known").click();
  await app.eventually("the switch is on", (s) => s.knownObjects);
  assert.match(await app.id("notice").innerText(), /from here on/);
  const kept = await app.toEnd();
  assert.deepEqual(kept.output, OUTPUT.indexer);
  await app.id("toggle-known").click();
  await app.eventually("the switch is off", (s) => !s.knownObjects);
  await app.id("toggle-known").click();
  await app.id("select-speed").selectOption("400");
  // After a restart the settings apply to the whole run.
  for (const startOver of [() => app.id("btn-reset").click(), () => app.page.keyboard.press("r"), () => app.call("reset")]) {
    await app.toEnd();
    await startOver();
    const { steps } = await app.eventually("the start, as it was set", (s) => s.step === 0 && s.knownObjects);
    assert.match(await app.id("notice").innerText(), /KnownObjects: on/);
    assert.ok(steps > 0);
    assert.equal(await app.id("select-speed").inputValue(), "400");
    assert.deepEqual((await app.toEnd()).output, OUTPUT.indexer);
  }
}));

test("an unknown lesson is an error and changes nothing, and what is done next takes it away", onPage({ lesson: "deltafifo" }, async (app) => {
  const state = await app.tryCall("load", "no-such-lesson");
  assert.match(state.error.message, /no-such-lesson/);
  assert.equal(state.lesson, "deltafifo");
  await app.call("play");
  assert.equal((await app.state()).error, null);
}));

for (const lesson of ["sharedinformer-simulate", "sharedinformer-simulate-two"]) {
  test(`${lesson} shows one shared informer and two that share nothing, side by side`, onPage({ lesson }, async (app) => {
    const row = (name) => app.page.locator(`[data-anchor="beside/${name}"]`);
    const counts = (name) => row(name).locator(".set").textContent();
    await app.call("seek", 0);
    assert.equal(await counts("alone"), "LIST ×0 · WATCH ×0 · store ×2 · handler ×2");
    const { store } = await app.toEnd();
    assert.equal(await counts("shared"), "LIST ×1 · WATCH ×1 · store ×1 · handler ×2");
    assert.equal(await counts("alone"), "LIST ×2 · WATCH ×2 · store ×2 · handler ×2");
    const stores = await row("store").evaluateAll((all) =>
      all.map((one) => [...one.querySelectorAll(".tag")].map((tag) => [tag.title, tag.querySelector("small").textContent])),
    );
    const items = Object.entries(store.items);
    assert.equal(items.length, 4);
    assert.deepEqual(stores, [items, items]);
    for (const size of [DESKTOP, LAPTOP, PHONE]) {
      await app.resize(size);
      if (size === PHONE) await app.page.locator("#tab-indexer").click();
      for (const lang of ["en", "zh"]) {
        await app.language(lang);
        const cut = await app.id("beside").evaluate((card) => {
          const room = card.closest("section").getBoundingClientRect();
          const last = card.lastElementChild.getBoundingClientRect();
          const tags = [...card.querySelectorAll(".tag")].map((tag) => tag.getBoundingClientRect());
          return {
            size: card.getBoundingClientRect().height === 0,
            wide: card.scrollWidth > card.clientWidth || tags.some((tag) => tag.right > room.right),
            high: card.scrollHeight > card.clientHeight || last.bottom > room.bottom,
            wrapped: [...card.querySelectorAll(".set")].some((set) => set.scrollHeight > set.clientHeight),
          };
        });
        assert.deepEqual(cut, { size: false, wide: false, high: false, wrapped: false }, `${size.width} ${lang}`);
      }
    }
  }));
}

for (const [lesson, asks] of [["listwatch", true], ["sharedinformer-indexer", false]]) {
  test(`${lesson} names the rooms that its program does not use`, onPage({ lesson }, async (app) => {
    await app.toEnd();
    for (const [lang, text] of [["en", "Not part of this program"], ["zh", "这个程序没有用到"]]) {
      await app.language(lang);
      for (const room of ["reflector", "queue", "pop"]) {
        const shown = await app.id(`room-${room}`).innerText();
        assert.ok(shown.includes(text), `${room}: ${shown}`);
        assert.equal(await app.id(`room-${room}`).locator("button:visible, .state:visible, .slot:visible").count(), 0, room);
      }
    }
    assert.equal(await app.page.locator(".lane").count(), 1, "only the program runs");
    // The requests that the program itself sends are shown.
    assert.equal(await app.id("requests").isVisible(), asks);
    if (!asks) {
      assert.equal(await app.id("query-value").inputValue(), "l1");
      assert.equal(await app.id("query-answer").textContent(), '["ns1---pod1"]');
    }
    await app.call("load", "reflector");
    assert.equal(await app.page.locator(".room.unused").count(), 0);
  }));
}

test("title and counters change with the run", onPage({}, async (app) => {
  const pick = async (id) => {
    await app.id("select-lesson").selectOption(id);
    const { scene } = await app.eventually(`${id} is open`, ({ lesson }) => lesson === id);
    // Among the machinery.
    if (scene) await app.id("toggle-story").click();
  };
  const listeners = (count) => app.id("room-processor").locator(".count", { hasText: new RegExp(`^${count}$`) }).waitFor();
  // Rooms that a run lacks, and texts that change meanwhile.
  await pick("tombstone");
  await pick("reflector");
  await app.language("zh");
  await app.language("en");
  for (const [id, count] of [["tombstone", "1 listener"], ["sandbox", "2 listeners"], ["indexer-run", "0 listeners"]]) {
    await pick(id);
    await listeners(count);
  }
  // The menu shows the run that is open, not the user's last choice.
  await pick("tombstone");
  const trace = await app.call("exportTrace");
  for (const chosen of ["indexer-run", "sandbox"]) {
    await pick(chosen);
    await app.call("openText", "a.jsonl", trace);
    await app.page.waitForFunction(() => document.querySelector("[data-testid=select-lesson]").value === "tombstone");
  }
  // The notice lists the settings that the restarted run has kept, and disappears with another run.
  await app.id("room-pop").getByRole("button", { name: "held" }).click();
  await app.page.keyboard.press("r");
  await app.id("notice").filter({ hasText: /process loop: held\./ }).waitFor();
  await pick("indexer-run");
  await app.page.waitForFunction(() => document.querySelector("[data-testid=notice]").innerText === "");
}));
