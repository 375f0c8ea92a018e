// Motions, filmed frame by frame: what travels keeps to the path that is drawn, and is in one place at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, LAPTOP, PHONE, suite } from "../harness.mjs";

const { onPage } = suite();
const FRAME_MS = 40;

/**
 * Stops the scene that has just begun, and looks at it every 40 ms: how far the middle of what travels is from its path;
 * in how many of the places at the ends of its path it is seen, itself included; by how much a neighbour is in the box
 * that a crate leaves.
 */
const film = (app) =>
  app.page.evaluate((every) => {
    const layer = document.querySelector("#motion");
    const all = document.getAnimations();
    for (const one of all) one.pause();
    const seek = (ms) => all.forEach((one) => (one.currentTime = ms));
    const opacity = (one) => {
      let seen = 1;
      for (let at = one; at; at = at.parentElement) seen *= Number(getComputedStyle(at).opacity);
      return seen;
    };
    const scenes = all.filter((one) => layer.contains(one.effect.target));
    const end = Math.max(0, ...scenes.map((one) => one.effect.getComputedTiming().endTime));
    const box = (one) => one.getBoundingClientRect();
    const middle = (r) => ({ x: r.x + r.width / 2, y: r.y + r.height / 2 });
    const trails = [...layer.querySelectorAll(".trail path:not(.head)")].map((path) => {
      const length = path.getTotalLength();
      const matrix = path.getScreenCTM();
      const count = Math.ceil(length);
      const points = Array.from({ length: count + 1 }, (_, n) => path.getPointAtLength((length * n) / count).matrixTransform(matrix));
      return { path, points };
    });
    const flyers = [...layer.querySelectorAll(".fly:not(.ghost)")];
    seek(0);
    const olds = new Map(flyers.map((one) => [one, box(one)]));
    const anchored = ({ x, y }) => document.elementsFromPoint(x, y).map((one) => one.closest("[data-anchor]")).find((one) => one && !one.matches(".room"));
    const frames = [];
    for (let ms = 0; ms < end; ms += every) {
      seek(ms);
      for (const [n, flyer] of flyers.entries()) {
        if (opacity(flyer) < 0.5) continue;
        const { x, y } = middle(box(flyer));
        // Each has a path of its own, which is seen as long as it is.
        const { points, path } = trails[n];
        const near = { points, away: opacity(path) > 0.5 ? Math.min(...points.map((p) => Math.hypot(p.x - x, p.y - y))) : Infinity };
        const frame = { ms, way: n, text: flyer.textContent, away: near.away, at: [x, y], crate: !flyer.matches(".pill, .fly-label"), moves: false };
        if (flyer.matches(".pill")) {
          const rv = flyer.querySelector("em").textContent;
          const name = flyer.querySelector(".n").textContent;
          frame.named = name !== "";
          frame.whole = flyer.scrollWidth <= flyer.clientWidth + 1;
          // What nobody could read is not written.
          const { color, fontSize } = getComputedStyle(flyer);
          const [, , , alpha = 1] = color.match(/[\d.]+/g).map(Number);
          frame.letters = alpha < 0.5 ? undefined : (parseFloat(fontSize) * box(flyer).height) / flyer.offsetHeight;
          // It also lands, so its last moment is no flight.
          frame.moves = Math.hypot(near.points.at(-1).x - x, near.points.at(-1).y - y) > 2;
          const same = (one) => one && one.textContent.includes(rv) && (one.textContent.includes(name) || one.matches(".d"));
          // A key that an index entry points to leaves the item where it is, and a notification leaves what was popped.
          const copies = !rv || anchored(near.points[0])?.closest(".room.pop") && !anchored(near.points.at(-1))?.closest(".room.indexer");
          const ends = (!copies ? [near.points[0], near.points.at(-1)] : [near.points.at(-1)]).map(anchored).filter(same);
          frame.places = 1 + new Set(ends.filter((one) => opacity(one) > 0.3)).size;
        }
        if (frame.crate) {
          const old = olds.get(flyer);
          const slides = (one) => one.getAnimations().some((its) => "transform" in its.effect.getKeyframes()[0]);
          const others = [...document.querySelectorAll(".room.queue .col")].filter(slides).map(box);
          const into = (r) => Math.min(r.right, old.right) - Math.max(r.left, old.left) > 1 ? Math.min(r.bottom, old.bottom) - Math.max(r.top, old.top) : 0;
          frame.into = Math.max(0, ...others.map(into));
          const here = box(flyer);
          frame.leaves = Math.abs(x - middle(old).x) < (here.width + old.width) / 2 && Math.abs(y - middle(old).y) < (here.height + old.height) / 2;
        }
        frames.push(frame);
      }
    }
    for (const one of all) one.finish();
    return { frames, end };
  }, FRAME_MS);

/** What a film must not show. */
const check = (frames, of) => {
  for (const frame of frames) {
    const said = `${of}: ${JSON.stringify(frame)}`;
    assert.ok(frame.away <= 3, `off its path: ${said}`);
    if (frame.moves) assert.equal(frame.places, 1, `in one place: ${said}`);
    if (frame.named !== undefined) assert.ok(frame.named && frame.whole, `its name is there: ${said}`);
    if (frame.letters !== undefined) assert.ok(frame.letters > 9.5, `it can be read: ${said}`);
    if (frame.crate && frame.leaves) assert.ok(frame.into < 12, `a neighbour slides into what leaves: ${said}`);
  }
};

for (const viewport of [undefined, LAPTOP]) {
  test(`what travels keeps to its path and is in one place${viewport ? ", on a laptop" : ""}`, onPage({ motion: true, viewport }, async (app) => {
    let pills = 0;
    let crates = 0;
    for (const [size, count] of [["event", 6], ["pop", 6], ["micro", 40]]) {
      await app.call("seek", 300);
      for (let n = 0; n < count; n += 1) {
        await app.call("step", 1, size);
        const { frames } = await film(app);
        check(frames, `${size} ${n}`);
        pills += frames.filter((one) => one.named).length;
        crates += frames.filter((one) => one.crate).length;
      }
    }
    assert.ok(pills > 100 && crates > 20, `${pills} frames with pills, ${crates} with crates`);
  }));
}

test("an event flies from the server's row into the reflector, and from there into the queue, each time without a stop", onPage({ motion: true }, async (app) => {
  await app.call("seek", 300);
  await app.call("runUntil", "fact=ObjectUpdated");
  await app.call("step", 1, "event");
  const { frames } = await film(app);
  const moves = frames.filter((one) => one.moves);
  const ways = [...new Set(moves.map((one) => one.way))].map((way) => moves.filter((one) => one.way === way));
  const first = ways.find((way) => way.at(-1).at[0] - way[0].at[0] > 60);
  const second = ways.find((way) => way !== first && way[0].text === first[0].text);
  const reflector = await app.id("room-reflector").boundingBox();
  for (const { at: [x, y] } of [first.at(-1), second[0]]) {
    assert.ok(x > reflector.x && x < reflector.x + reflector.width && y > reflector.y && y < reflector.y + reflector.height, `${x} ${y}`);
  }
  for (const pill of [first, second]) {
    const between = pill.slice(1).map((one, n) => [one.ms - pill[n].ms, Math.hypot(one.at[0] - pill[n].at[0], one.at[1] - pill[n].at[1])]);
    // It is still only while its source is lit.
    const still = between.findIndex(([, far]) => far > 0);
    for (const [ms, far] of between.slice(still)) assert.ok(ms === FRAME_MS && far > 0.1, `${between}`);
  }
}));

test("a count changes when what it counts has landed", onPage({ motion: true, link: "#v1;lesson=first-look" }, async (app) => {
  await app.call("seek", 0);
  await app.call("runUntil", "fact=DeltaAppended");
  await app.call("step", -1);
  await app.call("step", 1);
  const counts = await app.page.evaluate(() => {
    const all = document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime));
    for (const one of all) one.pause();
    return [0, 540, 600].map((ms) => {
      for (const one of all) one.currentTime = ms;
      const counts = [...document.querySelectorAll(".queue .head .count, #motion .was")];
      return counts.filter((one) => Number(getComputedStyle(one).opacity) > 0.5).map((one) => one.textContent);
    });
  });
  const before = ["0 keys · 0 deltas"];
  assert.deepEqual(counts, [before, before, ["1 key · 1 delta"]]);
}));

test("where nothing moves a count changes at once", onPage({ link: "#v1;lesson=first-look" }, async (app) => {
  await app.call("seek", 0);
  await app.call("runUntil", "fact=DeltaAppended");
  assert.equal(await app.page.locator(".queue .head .count").textContent(), "1 key · 1 delta");
  assert.equal(await app.page.locator("#motion .was").count(), 0);
}));

/** The texts that are covered, in one frame or more, by what travels in the scene that has just begun. */
const covered = (app) =>
  app.page.evaluate((every) => {
    const layer = document.querySelector("#motion");
    const all = document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime));
    for (const one of all) one.pause();
    const flyers = [...layer.querySelectorAll(".fly:not(.ghost)")];
    const end = flyers.length && Math.max(...all.filter((one) => layer.contains(one.effect.target)).map((one) => one.effect.getComputedTiming().endTime));
    const opacity = (one) => {
      let seen = 1;
      for (let at = one; at; at = at.parentElement) seen *= Number(getComputedStyle(at).opacity);
      return seen;
    };
    const range = document.createRange();
    /** What is seen of a text, inside all that cuts it. */
    const seen = (node) => {
      range.selectNodeContents(node);
      let { left, right, top, bottom } = range.getBoundingClientRect();
      for (let at = node.parentElement; at && at !== document.body; at = at.parentElement) {
        const { overflowX, overflowY, clipPath } = getComputedStyle(at);
        if (clipPath !== "none") return;
        if (overflowX === "visible" && overflowY === "visible") continue;
        const box = at.getBoundingClientRect();
        [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
      return right - left > 2 && bottom - top > 2 ? { left, right, top, bottom } : undefined;
    };
    const nodes = [];
    const walk = document.createTreeWalker(document.querySelector(".grid"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (walk.currentNode.data.trim() && !layer.contains(walk.currentNode)) nodes.push(walk.currentNode);
    const shared = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
    const found = {};
    let frames = 0;
    for (let ms = 0; ms < end; ms += every) {
      for (const one of all) one.currentTime = ms;
      const flying = flyers.filter((one) => opacity(one) > 0.5).map((one) => ({ one, box: one.getBoundingClientRect() }));
      frames += flying.length;
      const texts = flying.length ? nodes.map((node) => ({ node, box: seen(node) })).filter(({ box }) => box) : [];
      for (const { one, box } of flying) {
        for (const { node, box: text } of texts) {
          const part = shared(box, text) / ((text.right - text.left) * (text.bottom - text.top));
          const said = node.data.trim();
          // Its own words, where it comes from or lands, are no others; those of a request are the newest of its room.
          const own = one.textContent.includes(said) || (one.matches(".fly-label") && node.parentElement.closest(".requests > :first-child"));
          if (part < 0.3 || own || !/[\p{L}\d]/u.test(said) || opacity(node.parentElement) < 0.5) continue;
          const of = `${one.textContent} over ${node.parentElement.closest(".room")?.id}: ${said}`;
          found[of] = (found[of] ?? 0) + 1;
        }
      }
    }
    for (const one of all) one.finish();
    return { frames, found };
  }, FRAME_MS);

for (const [viewport, link] of [DESKTOP, LAPTOP, PHONE].flatMap((size) => [[size, ""], [size, ";scene=1"]])) {
  const where = `${viewport.width} px${link && ", in its story"}`;
  test(`what travels covers none of the words beside its way: ${where}`, onPage({ motion: true, viewport, link: `#v1;lesson=first-look${link}` }, async (app) => {
    const all = {};
    let frames = 0;
    for (let before = -1, state = await app.state(); state.step !== before; state = await app.state()) {
      before = state.step;
      await app.call("step", 1, "event");
      const film = await covered(app);
      frames += film.frames;
      for (const [of, count] of Object.entries(film.found)) all[of] = Math.max(all[of] ?? 0, count);
    }
    assert.ok(frames > 60, `${frames} frames`);
    // Two frames are no reading.
    const long = Object.entries(all).filter(([, count]) => count > 2);
    assert.deepEqual(long, []);
  }));
}

test("where the reflector is over the queue, an event enters it, and leaves it for the queue beside its heading", onPage({ motion: true, viewport: LAPTOP }, async (app) => {
  await app.call("seek", 300);
  let seen = 0;
  for (let n = 0; n < 12; n += 1) {
    await app.call("step", 1, "event");
    const ways = await app.page.evaluate(() => {
      const box = (one) => one.getBoundingClientRect();
      const holds = (r, { x, y }) => x > r.left && x < r.right && y > r.top && y < r.bottom;
      const [reflector, queue] = ["reflector", "queue"].map((room) => box(document.querySelector(`.room.${room}`)));
      const heads = [...document.querySelectorAll(".queue > .head > *")].map(box);
      return [...document.querySelectorAll("#motion .trail path:not(.head)")].map((path) => {
        const matrix = path.getScreenCTM();
        const points = Array.from({ length: 201 }, (_, n) => path.getPointAtLength((path.getTotalLength() * n) / 200).matrixTransform(matrix));
        const leaves = holds(reflector, points[0]) && holds(queue, points.at(-1));
        return { leaves, passes: points[0].x < reflector.left && holds(queue, points.at(-1)), heads: points.filter((at) => heads.some((head) => holds(head, at))).length };
      });
    });
    for (const { leaves, passes, heads } of ways) {
      assert.ok(!passes, `${n}: past the reflector`);
      assert.equal(leaves ? heads : 0, 0, `${n}: through a heading`);
      seen += leaves;
    }
  }
  assert.ok(seen > 3, `${seen} events`);
}));

test("on a phone a thing enters the room that is shown over its edge, and its way says from where", onPage({ motion: true, viewport: PHONE }, async (app) => {
  await app.call("seek", 300);
  const sides = [];
  for (const until of ["fact=DeltaAppended", "fact=KeyPopped", "fact=ItemStored"]) {
    await app.call("runUntil", until);
    await app.call("step", -1);
    await app.call("step", 1);
    sides.push(
      await app.page.evaluate(() => {
        const room = [...document.querySelectorAll(".room")].find((one) => one.offsetWidth > 0);
        const { left } = room.getBoundingClientRect();
        const path = document.querySelector("#motion .trail path:not(.head)");
        const [from, to] = [0, path.getTotalLength()].map((at) => path.getPointAtLength(at).matrixTransform(path.getScreenCTM()).x - left);
        const whence = document.querySelector("#motion .fly-label.way")?.textContent;
        return [room.id, from < 0, to > 0 && to < room.offsetWidth, whence];
      }),
    );
  }
  // Beside the last one there is no room for words.
  assert.deepEqual(sides, [["room-queue", true, true, "← Reflector"], ["room-pop", true, true, "← Queue"], ["room-indexer", true, true, undefined]]);
}));

// The narrowest queue beside other rooms: three stacks fit.
const NARROW = { width: 920, height: 1000 };

test("where stacks turn into lines, the stack that leaves stands above them, and no room flies", onPage({ motion: true, viewport: NARROW }, async (app) => {
  await app.call("seek", 0);
  let turned = 0;
  let labels = 0;
  for (let n = 0; n < 9; n += 1) {
    await app.call("step", 1, "pop");
    const seen = await app.page.evaluate(() => {
      const all = document.getAnimations();
      for (const one of all) {
        one.pause();
        one.currentTime = 0;
      }
      const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
      const [lines, stacks] = [boxes(".cols > .col.compact"), boxes("#motion .fly.col:not(.compact, .ghost)")];
      const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
      const over = stacks.filter((stack) => lines.some((line) => overlap(line, stack))).length;
      const labels = [...document.querySelectorAll("#motion .fly-label")].map((one) => one.textContent);
      const found = { turned: lines.length > 0 && stacks.length > 0, over, rooms: boxes("#motion .room").length, labels };
      for (const one of all) one.finish();
      return found;
    });
    assert.deepEqual([seen.over, seen.rooms], [0, 0], `step ${n}: ${JSON.stringify(seen)}`);
    turned += seen.turned;
    labels += seen.labels.length;
  }
  // A key that came and went within one step flies as its name.
  assert.ok(turned > 0 && labels > 0, `${turned} steps with both forms, ${labels} labels`);
}));

test("a step at once, before the page draws its first trail, has its own alone", onPage({ motion: true }, async (app) => {
  const page = await app.context.newPage();
  await page.goto(app.url);
  await page.waitForFunction(() => window.deltascope !== undefined);
  const trails = await page.evaluate(async () => {
    const drawn = () => document.querySelectorAll("#motion .trail").length;
    const frame = () => new Promise(requestAnimationFrame);
    await deltascope.drawn;
    await deltascope.step(1, "event");
    const before = drawn();
    for (let frames = 0; frames < 6; frames += 1) await frame();
    return [before, drawn()];
  });
  assert.ok(trails[0] > 0, `${trails}`);
  assert.equal(trails[1], trails[0]);
}));

test("cutting a motion leaves the picture", onPage({ motion: true }, async (app) => {
  await app.call("seek", 300);
  for (const ms of [0, 200, 700, 1500]) {
    await app.call("step", 1, "pop");
    await app.page.evaluate((at) => document.getAnimations().forEach((one) => { one.pause(); one.currentTime = at; }), ms);
    const { step } = await app.state();
    await app.call("seek", step);
    const left = await app.page.evaluate(() => ({
      flying: document.querySelectorAll("#motion .fly").length,
      hidden: [...document.querySelectorAll(".room [data-anchor]")].filter((one) => getComputedStyle(one).opacity < 1 && one.getAnimations().length > 0).length,
    }));
    assert.deepEqual(left, { flying: 0, hidden: 0 });
  }
}));

for (const speed of ["100", "400", "800"]) {
  test(`at most three flashes a second, at ${speed} %`, onPage({ motion: true, clock: true }, async (app) => {
    await app.call("seek", 300);
    await app.id("select-speed").selectOption(speed);
    await app.page.evaluate(() => {
      globalThis.flashes = [];
      const { animate } = Element.prototype;
      Element.prototype.animate = function (frames, timing) {
        const animation = animate.call(this, frames, timing);
        if (frames[0].boxShadow) {
          const flash = { at: performance.now() + timing.delay };
          globalThis.flashes.push(flash);
          animation.cancel = () => {
            flash.cut = performance.now() < flash.at;
            Animation.prototype.cancel.call(animation);
          };
        }
        return animation;
      };
    });
    await app.call("play");
    for (let n = 0; n < 60; n += 1) await app.page.clock.runFor(100);
    const all = await app.page.evaluate(() => globalThis.flashes.filter((one) => !one.cut).map((one) => Math.round(one.at)));
    // What lights up within a frame is one flash; each time is rounded by up to half a ms.
    const times = all.sort((a, b) => a - b).filter((at, n) => n === 0 || at - all[n - 1] > 1000 / 60 + 1);
    assert.ok(times.length > 4, `${times}`);
    for (let n = 3; n < times.length; n += 1) assert.ok(times[n] - times[n - 3] >= 1000, `${times}`);
  }));
}

test("what stays where it was is not drawn twice: a program's call leaves no ghost", onPage({ motion: true, link: "#v1;lesson=deltafifo" }, async (app) => {
  for (let n = 0; n < 3; n += 1) {
    await app.call("step", 1, "event");
    const [flyers, ghosts] = await app.page.evaluate(() => ["#motion .fly", "#motion .fly.ghost"].map((all) => document.querySelectorAll(all).length));
    assert.deepEqual([flyers > 0, ghosts], [true, 0], `event ${n}`);
  }
}));

test("an error that moves the stage takes the paths along", onPage({ motion: true, lesson: "sandbox" }, async (app) => {
  await app.call("seek", 47);
  await app.call("inject", { op: "create", object: { metadata: { namespace: "default", name: "mine" } } });
  const sent = () => app.page.evaluate(() => document.querySelector(".api .wire.lit") !== null && document.querySelector("#motion path") !== null);
  for (let steps = 0; !(await sent()); steps += 1) {
    assert.ok(steps < 8, "the event is on the watch stream");
    await app.call("step", 1, "micro");
  }
  const at = () =>
    app.page.evaluate(async () => {
      for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
      for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime < Infinity) one.finish();
      const [path, event] = ["#motion path", ".api .wire.lit"].map((one) => document.querySelector(one).getBoundingClientRect());
      return { event: event.top, above: Math.round(event.top - path.top) };
    });
  const before = await at();
  await app.tryCall("inject", { op: "explode" });
  const moved = await at();
  assert.ok(moved.event > before.event, "the bar is above the stage");
  assert.equal(moved.above, before.above);
  await app.id("error").getByRole("button").click();
  await app.id("error").waitFor({ state: "detached" });
  assert.deepEqual(await at(), before);
}));
