// What is asked about, and what happens, is in sight: the queue's room, the drawer, the rooms of a phone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, LAPTOP, PHONE, suite } from "../harness.mjs";

const { onPage } = suite();

/** A trace in which nothing pops: so many deltas of each key are queued at its end. */
function queued(stacks, settings = {}) {
  const pod = (n) => ({ metadata: { namespace: "default", name: `web-${n}` } });
  const script = [];
  for (let round = 0; round < Math.max(...stacks); round += 1) {
    stacks.forEach((deltas, n) => {
      if (round < deltas) script.push({ at: 1000 + script.length * 10, op: round ? "update" : "create", object: pod(n) });
    });
  }
  const scenario = { settings: { machinery: "shared", mode: "held", ...settings }, script };
  return ['{"deltascope":1}', JSON.stringify({ scenario })].join("\n");
}

/** Opens such a trace and goes to its end. */
async function fill(app, stacks, settings) {
  await app.call("openText", "queued.jsonl", queued(stacks, settings));
  return app.toEnd();
}

const STACKS = [1, 2, 6, 3, 2, 1, 4, 2, 1, 3, 2, 5, 1, 2, 3, 2];

test("what waits for a click on Pop says so at the front of the queue", onPage({}, async (app) => {
  await fill(app, [2, 1]);
  const held = app.id("held-back");
  assert.match(await held.textContent(), /Pop one/);
  const [words, next] = [await held.evaluate((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect().toJSON();
  }), await app.page.locator(".col").first().boundingBox()];
  assert.ok(Math.abs(words.right - next.x - next.width) < 2 && words.top > next.y + next.height - 2, JSON.stringify([words, next]));
  for (let n = 0; n < 2; n += 1) {
    await app.id("btn-pop").click();
    await app.toEnd();
  }
  assert.equal(await held.count(), 0);
}));

test("sixteen keys and forty deltas are all in the queue's room", onPage({ viewport: DESKTOP }, async (app) => {
  const { queue } = await fill(app, STACKS);
  assert.equal(Object.values(queue.deltas).flat().length, 40);
  const room = app.id("room-queue");
  const outside = await room.evaluate((room) => {
    const box = room.getBoundingClientRect();
    const shown = [...room.querySelectorAll("[data-testid=delta], .key")].map((one) => one.getBoundingClientRect());
    const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    return {
      deltas: room.querySelectorAll("[data-testid=delta]").length,
      names: [...room.querySelectorAll(".key .nm")].filter((name) => name.scrollWidth > name.clientWidth).length,
      astray: shown.filter((one) => one.width < 20 || one.left < box.left || one.right > box.right || one.top < box.top + 30 || one.bottom > box.bottom).length,
      hidden: shown.filter((one, at) => shown.slice(at + 1).some((other) => overlap(one, other))).length,
    };
  });
  assert.deepEqual(outside, { deltas: 40, names: 0, astray: 0, hidden: 0 });
  assert.deepEqual(await room.locator(".key").evaluateAll((keys) => keys.map((key) => key.title.split(", ")[0])), queue.keys);
  const token = room.locator("[data-testid=delta]").first();
  assert.match(await token.getAttribute("title"), /^Added, default\/web-0, rv \d+$/);
  assert.match(await token.innerText(), /Added\s+2/);
  // Three keys are stacks with words again.
  await fill(app, [2, 1, 1]);
  assert.equal(await room.locator(".d.small").count(), 0);
  assert.equal(await room.locator(".belt .key").count(), 3);
  // Further ones make the stacks narrower: they keep their glyphs, and the next key says so.
  await fill(app, [2, 1, 1, 1, 1, 1]);
  assert.equal(await room.locator(".d.small").count(), 7);
  assert.equal(await room.locator(".belt .key").count(), 6);
  assert.deepEqual(await room.locator(".belt small:visible").allTextContents(), ["next"]);
  // A seventh makes them lines, which stay until the queue is empty: else it would turn with each Pop.
  await fill(app, [2, 1, 1, 1, 1, 1, 1]);
  assert.equal(await room.locator(".col.compact").count(), 7);
  assert.equal(await app.id("btn-pop").getAttribute("title"), null);
  for (const left of [6, 5, 4, 3, 2, 1, 0]) {
    await app.id("btn-pop").click();
    assert.equal((await app.toEnd()).queue.keys.length, left);
    assert.equal(await room.locator(".col.compact").count(), left);
  }
  assert.equal(await room.locator(".cols.compact").count(), 0);
  await app.id("mode-free").click();
  assert.match(await app.id("btn-pop").getAttribute("title"), /choose “held” first/);
}));

test("sixty-one objects leave no count of what was below the indices of sixty", onPage({ viewport: LAPTOP }, async (app) => {
  const pod = (n) => ({ metadata: { namespace: `team-${n % 20}`, name: `web-${n}` } });
  const scenario = {
    settings: { machinery: "shared", indices: ["namespace", "app", "node"] },
    initial: Array.from({ length: 60 }, (_, n) => pod(n)),
    script: [{ at: 60_000, op: "create", object: pod(60) }],
  };
  await app.call("openText", "sixty.jsonl", ['{"deltascope":1}', JSON.stringify({ scenario })].join("\n"));
  const tree = app.id("room-indexer").locator(".tree");
  const count = () => tree.evaluate((tree) => getComputedStyle(tree, "::after").content);
  await app.call("seek", "t:59000");
  assert.equal(Object.keys((await app.state()).store.items).length, 60);
  assert.match(await count(), /^"\+\d+"/);
  assert.equal(Object.keys((await app.toEnd()).store.items).length, 61);
  assert.equal(await count(), "none");
}));

test("on a laptop the names of the sandbox are whole, in the Indexer and on the wire", onPage({ viewport: LAPTOP, lesson: "sandbox" }, async (app) => {
  const { seen, cut } = await app.page.evaluate(async () => {
    const cut = new Set();
    let seen = 0;
    for (let at = 0; at < 1400; at += 20) {
      await window.deltascope.seek(at);
      for (const name of document.querySelectorAll(".items .nm, .wire .nm")) {
        seen += 1;
        const end = [...name.childNodes].findLast((node) => node.nodeType === Node.TEXT_NODE && node.data);
        const range = new Range();
        range.selectNodeContents(end);
        const [box, text] = [name, range].map((one) => one.getBoundingClientRect());
        const start = name.querySelector(".n");
        const what = text.left < box.left - 1 || text.right > box.right + 1 ? "end" : start.scrollWidth > start.clientWidth ? "middle" : null;
        if (what) cut.add(`${name.textContent}: ${what}, ${name.closest("li").textContent}`);
      }
    }
    return { seen, cut: [...cut] };
  });
  assert.ok(seen > 500, `${seen} names`);
  assert.deepEqual(cut, []);
}));

test("the drawer is never over what was asked about", onPage({}, async (app) => {
  const covered = [];
  for (const viewport of [DESKTOP, LAPTOP]) {
    await app.resize(viewport);
    await app.call("load", "sandbox");
    await app.call("seek", 300);
    const listing = await app.page.evaluate(() => {
      const [code, mark, lane] = [".code", ".code mark", ".lane"].map((one) => document.querySelector(one));
      const [box, lit, list] = [code, mark, code.parentElement].map((one) => one.getBoundingClientRect());
      const lines = box.height / lit.height;
      const { borderTopWidth: border } = getComputedStyle(lane);
      return { lines: Math.floor(lines + 0.05), cut: Math.abs(lines - Math.round(lines)) > 0.05, lit: lit.top > box.top - 1 && lit.bottom < box.bottom + 1, border, wider: Math.round(box.width - list.width) };
    });
    // The ground of the lit line reaches into the room's padding: no other stylesheet's rule hits the code.
    assert.deepEqual(listing, { lines: viewport === LAPTOP ? 6 : 7, cut: false, lit: true, border: "0px", wider: 28 });
    for (const asked of ["store/index/", "store/item/", "queue/delta/", "api/stream/", "pop/lock", "handler/0"]) {
      const lower = app.page.locator("#tab-processor");
      if (asked.startsWith("handler") && (await lower.count())) await lower.click();
      const anchor = await app.page.locator(`[data-anchor^='${asked}']`).first().getAttribute("data-anchor");
      await app.page.locator(`[data-anchor='${anchor}']`).click();
      await app.eventually(`${anchor} is selected`, (s) => s.selection?.anchor === anchor);
      await app.id("origin").waitFor();
      const over = await app.page.evaluate((anchor) => {
        const drawer = document.querySelector("#drawer").getBoundingClientRect();
        const asked = document.querySelector(`[data-anchor='${CSS.escape(anchor)}']`);
        const room = asked.closest(".room").getBoundingClientRect();
        const is = (box) => box.left < drawer.right && box.right > drawer.left && box.top < drawer.bottom && box.bottom > drawer.top;
        const visible = getComputedStyle(asked).visibility === "visible" && asked.getBoundingClientRect().width > 0;
        return is(asked.getBoundingClientRect()) || is(room) || !visible || drawer.height < 150;
      }, anchor);
      if (over) covered.push(`${anchor} at ${viewport.width}`);
      await app.page.keyboard.press("Escape");
    }
  }
  assert.deepEqual(covered, []);
}));

test("on a phone the room follows what happens, unless that is switched off, and a finger turns to the next room", onPage({ viewport: PHONE }, async (app) => {
  const visible = () => app.page.evaluate(() => [...document.querySelectorAll(".room")].filter((room) => room.offsetWidth > 0).map((room) => room.id));
  const acting = () => app.page.evaluate(() => [...document.querySelectorAll(".room.live")].map((room) => room.id));
  await app.call("seek", 200);
  const astray = [];
  for (let n = 0; n < 40; n += 1) {
    await app.call("step", 1);
    const [shown, live] = [await visible(), await acting()];
    if (live.length !== 1 || shown.join() !== live.join()) astray.push(`${shown}, not ${live}`);
    const tab = await app.page.locator(".room-tabs [aria-selected=true]").boundingBox();
    if (tab.x < 0 || tab.x + tab.width > PHONE.width) astray.push(`${shown}: its tab is at ${tab.x}`);
    const low = await app.page.evaluate(() => {
      const top = (selector) => Math.round(document.querySelector(selector).getBoundingClientRect().top);
      const over = Math.round(document.querySelector(".room.live").getBoundingClientRect().bottom - document.querySelector(".what").getBoundingClientRect().top);
      return { transport: top(".transport") + document.querySelector(".transport").offsetHeight, note: top(".say .note"), over };
    });
    if (low.over > 0) astray.push(`${shown}: its sentence covers ${low.over} px of it`);
    if (low.transport !== PHONE.height || low.note < PHONE.height) astray.push(`the transport ends at ${low.transport}, the note begins at ${low.note}`);
  }
  assert.deepEqual(astray, []);
  await app.page.locator("#tab-now").click();
  assert.deepEqual(await visible(), ["room-now"], "a choice holds until the next step");
  await app.call("step", 1);
  assert.deepEqual(await visible(), await acting());

  const follow = app.id("toggle-follow");
  await follow.click();
  assert.equal(await follow.getAttribute("aria-pressed"), "false");
  await app.page.locator("#tab-queue").click();
  for (let n = 0; n < 10; n += 1) {
    await app.call("step", 1);
    assert.deepEqual(await visible(), ["room-queue"]);
  }
  const cdp = await app.context.newCDPSession(app.page);
  const swipe = async (from, to) => {
    const touch = (type, x) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y: 300 }] });
    await touch("touchStart", from);
    for (let step = 1; step <= 5; step += 1) await touch("touchMove", from + ((to - from) * step) / 5);
    await touch("touchEnd");
  };
  await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await swipe(300, 100);
  await app.id("room-pop").waitFor();
  assert.deepEqual(await visible(), ["room-pop"]);
  await swipe(100, 300);
  await app.id("room-queue").waitFor();
  await app.reload();
  assert.equal(await follow.getAttribute("aria-pressed"), "false", "the choice is remembered");
  await follow.click();
  await app.call("step", 1);
  assert.deepEqual(await visible(), await acting());
}));

test("what a step has not touched slides to its new place and does not jump", onPage({ motion: true }, async (app) => {
  await app.call("seek", 200);
  const { jumped, slid } = await app.page.evaluate(async () => {
    const KEYED = "[data-anchor^='api/object/'], [data-anchor^='store/item/'], [data-anchor^='store/index/'], [data-anchor^='queue/column/'], [data-anchor^='queue/key/']";
    const sliding = new Set();
    const { animate } = Element.prototype;
    Element.prototype.animate = function (...how) {
      sliding.add(this);
      return animate.apply(this, how);
    };
    const places = () => {
      for (const animation of document.getAnimations()) animation.cancel();
      return new Map([...document.querySelectorAll(KEYED)].map((one) => {
        const { left, top, bottom } = one.getBoundingClientRect();
        return [one.dataset.anchor, { one, left, top, bottom, form: one.closest(".col")?.offsetWidth }];
      }));
    };
    const frame = () => new Promise(requestAnimationFrame);
    const found = { jumped: [], slid: 0 };
    for (let n = 0; n < 40; n += 1) {
      const before = { places: places(), state: await window.deltascope.getState() };
      sliding.clear();
      await window.deltascope.step(1, "event");
      await frame();
      await frame();
      const state = await window.deltascope.getState();
      const touched = (key) => [(s) => s.api.objects[key], (s) => s.store.items[key], (s) => s.queue.deltas[key]]
        .some((of) => JSON.stringify(of(state)) !== JSON.stringify(of(before.state)));
      for (const [anchor, { one, left, top, bottom, form }] of places()) {
        const was = before.places.get(anchor);
        // A stack that has become a line is drawn anew.
        if (was && was.form !== form) continue;
        // Stacks grow upwards.
        if (!was || Math.max(Math.abs(left - was.left), Math.min(Math.abs(top - was.top), Math.abs(bottom - was.bottom))) <= 2) continue;
        const key = one.title.split(" · ")[0];
        if ([...sliding].some((other) => other.contains(one))) found.slid += 1;
        else if (!touched(key)) found.jumped.push(`${anchor} at ${state.step}`);
      }
    }
    return found;
  });
  assert.deepEqual(jumped, []);
  assert.ok(slid > 0, "something was pushed aside");
}));
