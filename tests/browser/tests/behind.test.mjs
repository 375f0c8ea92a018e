// What shows that the cache is behind: drops, stale objects, the connection, and the line below the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LAPTOP, PHONE, suite } from "../harness.mjs";

const { onPage } = suite();
const drops = (app) => app.id("drop").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
const IGNORED = "dropped: Deleted nettool, known = (off), pending = no → dropped";

/** Where everything on the stage is, apart from what was dropped. */
const boxes = (app) =>
  app.page.evaluate(() =>
    [...document.querySelectorAll(".room, .room button, .d, .key, .obj, .slot, .lst, .requests, .kv")].map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return [one.className.replace(/ (live|lit|new|next)\b/g, ""), x, y, width, height].join(" ");
    }),
  );

test("a dropped Delete is shown in the queue for one step, and nothing moves for it", onPage({ lesson: "reflector" }, async (app) => {
  await app.call("seek", "delete-dropped");
  const { step } = await app.state();
  assert.deepEqual(await drops(app), [IGNORED]);
  const within = await app.id("drop").evaluate((drop) => {
    const [box, room] = [drop, drop.closest("#room-queue")].map((one) => one.getBoundingClientRect());
    return box.width > 100 && box.top > room.top && box.bottom < room.bottom && box.left > room.left && box.right < room.right;
  });
  assert.ok(within, "in the queue's room");
  const shown = await boxes(app);
  await app.call("step", -1);
  assert.deepEqual(await drops(app), []);
  assert.deepEqual(await boxes(app), shown);
  await app.call("step", 2);
  assert.deepEqual(await drops(app), [], "gone with the next step");

  // A step of an event has it from its fact to its end, and the next one has not.
  await app.id("select-grain").selectOption("event");
  await app.call("seek", step - 1);
  await app.page.keyboard.press("ArrowRight");
  await app.eventually("the event's step has ended", (s) => s.step > step);
  assert.deepEqual(await drops(app), [IGNORED]);
  await app.call("seek", step - 2);
  assert.deepEqual(await drops(app), []);

  await app.language("zh");
  await app.call("seek", step);
  assert.deepEqual(await drops(app), ["丢弃：Deleted nettool, known = 未启用，pending = 否 → 丢弃"]);
}));

/** Two handlers, of which only the first takes part in resyncs. */
const RESYNC = ['{"deltascope":1}', JSON.stringify({
  scenario: {
    settings: { machinery: "shared", mode: "free", resyncMs: 2000, handlers: [{ name: "first", resyncMs: 2000 }, { name: "second", resyncMs: 0 }] },
    script: [
      { at: 500, op: "create", object: { metadata: { namespace: "default", name: "web-0" } } },
      { at: 6000, op: "create", object: { metadata: { namespace: "default", name: "web-1" } } },
    ],
  },
})].join("\n");

test("what a handler does not get is shown in its card, a duplicate at the workqueue", onPage({}, async (app) => {
  await app.call("openText", "resync.jsonl", RESYNC);
  const owner = () => app.id("drop").evaluateAll((all) => all.map((one) => one.closest("[data-testid=handler], .work").dataset.anchor ?? "work"));
  await app.call("runUntil", "fact=NotificationWithheld");
  assert.deepEqual(await drops(app), ["dropped: web-0, same rv, syncing = no → withheld"]);
  assert.deepEqual(await owner(), ["handler/1"]);
  const fits = await app.id("drop").evaluate((drop) => drop.scrollWidth <= drop.clientWidth);
  assert.ok(fits, "the reason is not cut");
  await app.call("load", "sandbox");
  for (let n = 0; n < 400 && (await drops(app)).length === 0; n += 1) await app.call("step", 1);
  assert.match((await drops(app)).join(), /^dropped: [\w-]+, dirty = yes → nothing to do$/);
  assert.deepEqual(await owner(), ["work"]);
}));

/** A process function that fails. */
const FAILS = ['{"deltascope":1}', JSON.stringify({
  scenario: {
    settings: { feed: "program", mode: "held", processFails: { at: "a" }, handlers: [{ name: "printer", inline: true }] },
    script: [
      { at: 100, op: "create", object: { metadata: { namespace: "default", name: "a", resourceVersion: "1" } } },
      { at: 300, op: "pop" },
    ],
  },
})].join("\n");

test("on a phone, what a failing Pop drops stands below what was popped", onPage({ viewport: PHONE }, async (app) => {
  await app.call("openText", "fails.jsonl", FAILS);
  await app.call("runUntil", "fact=ProcessFailed");
  const [drop, popped] = [await app.id("drop").boundingBox(), await app.page.locator(".slot.work .d").boundingBox()];
  assert.ok(drop.y >= popped.y + popped.height && drop.height < 48, JSON.stringify({ drop, popped }));
}));

const look = (app, anchor) =>
  app.page.locator(`[data-anchor='${anchor}']`).evaluate((one) => {
    const { borderTopStyle, borderTopColor, boxShadow, backgroundColor, backgroundImage } = getComputedStyle(one);
    const transparent = (colour) => /, 0\)$/.test(colour);
    return {
      outline: transparent(borderTopColor) ? "none" : borderTopStyle,
      gap: boxShadow !== "none",
      fill: backgroundImage !== "none" ? "hatched" : backgroundColor,
      text: (one.querySelector(".rv > [aria-hidden]") ?? one.querySelector(".rv")).innerText.replace(/\s+/g, " "),
      title: one.title,
    };
  });

test("the server's version is an outline, the cache's the fill", onPage({ lesson: "tombstone" }, async (app) => {
  await app.call("seek", "expired");
  const [a, b, c] = [await look(app, "store/item/default/a"), await look(app, "store/item/default/b"), await look(app, "store/item/default/c")];
  assert.deepEqual([a.outline, a.gap, a.text], ["solid", false, "2"]);
  assert.match(a.title, /as on the server$/);
  assert.deepEqual([b.outline, b.fill, b.text], ["none", "hatched", "3 → –"]);
  assert.match(b.title, /no longer on the server$/);
  assert.deepEqual([c.outline, c.gap, c.text], ["solid", true, "4 → 6"]);
  assert.notEqual(c.fill, a.fill, "a fill is what differs");
  assert.match(c.title, /the server has rv 6$/);
  const there = await look(app, "api/object/default/c");
  assert.deepEqual([there.gap, there.text], [true, "4 → 6"]);
  assert.match(there.title, /the cache has rv 4$/);
  // Struck out, with the version of its deletion, before and after the cache has let it go.
  const gone = app.page.locator("[data-anchor='api/object/default/b']");
  for (const at of ["expired", "end"]) {
    await app.call("seek", at);
    assert.equal(await gone.evaluate((one) => getComputedStyle(one).textDecorationLine), "line-through", at);
    assert.match(await gone.innerText(), /rv 5/);
  }
  await app.call("seek", 6);
  const missing = await look(app, "api/object/default/a");
  assert.deepEqual([missing.outline, missing.text], ["dashed", "– → 2"]);
  assert.notEqual(missing.fill, c.fill, "an outline alone");
}));

test("without the page's colours, borders tell stale objects", onPage({ lesson: "tombstone", forced: true }, async (app) => {
  await app.call("seek", "expired");
  const borders = (await app.page.locator(".api .obj, .items .obj").evaluateAll((all) => all.map((one) => `${one.className.match(/same|stale|missing|ghost/)} ${getComputedStyle(one).borderTopStyle}`)));
  assert.ok(borders.includes("stale double") && borders.includes("same solid"), `${borders}`);
}));

test("the connection is drawn between the rooms, and on a phone in the reflector's heading", onPage({ lesson: "tombstone" }, async (app) => {
  const pipe = app.id("pipe");
  const seen = [];
  const left = [];
  const { steps } = await app.state();
  for (let step = 0; step <= steps; step += 1) {
    await app.call("seek", step);
    const [state, sign, ring] = await pipe.evaluate((pipe) => [
      pipe.className.match(/none|asked|open|ended|waiting/)[0],
      pipe.querySelector("text")?.textContent ?? (pipe.querySelector("svg path") ? "×" : ""),
      pipe.querySelector(".left")?.getAttribute("stroke-dasharray") ?? "",
    ]);
    const now = `${state} ${sign}`.trim();
    if (seen.at(-1) !== now) seen.push(now);
    if (state === "waiting" && !sign.includes("410")) left.push(parseInt(ring, 10));
  }
  assert.deepEqual(seen, ["none", "asked", "none", "asked", "open", "ended ×", "asked", "ended ×", "waiting ×", "asked", "ended 410", "waiting 410", "asked", "none", "asked", "open"]);
  assert.ok(left[0] === 100 && left.at(-1) < 70 && left.every((now, at) => at === 0 || now <= left[at - 1]), `the ring runs down: ${left}`);
  await app.call("seek", "expired");
  assert.equal(await pipe.getAttribute("aria-label"), "API server → Reflector, 410 · ended");
  for (const viewport of [undefined, LAPTOP]) {
    if (viewport) await app.resize(viewport);
    const apart = await pipe.locator("svg").evaluate((badge) => {
      const box = badge.getBoundingClientRect();
      const over = [...document.querySelectorAll(".api .obj, .api .btn, .api .gauge, .state, .requests li, .reflector h2")];
      return over.every((one) => {
        const other = one.getBoundingClientRect();
        return other.left >= box.right || other.right <= box.left || other.top >= box.bottom || other.bottom <= box.top;
      });
    });
    assert.ok(apart, "it covers nothing");
  }
  await app.resize(PHONE);
  await app.page.locator("#tab-reflector").click();
  const heading = app.page.locator("#room-reflector .pipe");
  assert.match(await heading.innerText(), /410 · ended/);
}));

test("a pointer on the line below the timeline seeks, and drags", onPage({ lesson: "tombstone" }, async (app) => {
  const line = app.id("behind-line");
  assert.equal(await line.getAttribute("aria-label"), "How many objects the store is behind during the run: at most 3");
  const [box, rail] = [await line.boundingBox(), await app.page.locator(".rail").boundingBox()];
  assert.ok(box.y > rail.y + rail.height && box.height >= 12, "below the timeline");
  const { steps } = await app.state();
  const at = (share) => [box.x + box.width * share, box.y + box.height / 2];
  const near = (share) => (s) => Math.abs(s.step - steps * share) <= 2;
  await app.page.mouse.move(...at(0.25));
  await app.page.mouse.down();
  await app.eventually("a quarter of the run", near(0.25));
  await app.page.mouse.move(...at(0.75), { steps: 4 });
  await app.eventually("three quarters", near(0.75));
  await app.page.mouse.up();
  // Without a server there is nothing to be behind.
  await app.call("load", "deltafifo");
  assert.equal(await line.count(), 0);
}));
