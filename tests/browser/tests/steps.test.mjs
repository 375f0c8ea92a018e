// Moving through time: selection, chains of causes, step sizes, running until a condition, breakpoints.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CATEGORIES } from "../frames.mjs";
import { PHONE, suite } from "../harness.mjs";

const { onPage } = suite();
const links = (app) => app.id("chain").locator("button").evaluateAll((all) => all.map((one) => Number(one.dataset.at)));

test("a token shows why it is there, each cause is a link, and its object can be followed", onPage({}, async (app) => {
  await app.call("seek", 300);
  const token = app.page.locator("[data-anchor^='queue/delta/']").first();
  const anchor = await token.getAttribute("data-anchor");
  await token.click();
  const { selection } = await app.eventually("it is selected", (s) => s.selection !== null);
  assert.equal(selection.anchor, anchor);
  assert.ok(anchor.includes(selection.key) && selection.step <= 300);
  await app.id("origin").waitFor();
  const chain = await links(app);
  assert.ok(chain.length >= 3, `${chain}`);
  assert.equal(chain[0], selection.step);
  assert.deepEqual([...chain].sort((a, b) => b - a), chain, "from the effect to the cause");
  assert.match(await app.id("chain").innerText(), /was (created|changed|deleted) on the server/);
  assert.match(await app.id("origin").innerText(), /traffic/);
  await app.id("chain").locator("button").last().click();
  await app.eventually("the first cause", (s) => s.step === chain.at(-1));
  assert.deepEqual(await links(app), chain, "the chain stays to be walked");

  await app.id("btn-follow").click();
  await app.eventually("followed", (s) => s.following === selection.key);
  const passages = await app.page.locator(".time .passage").getAttribute("d");
  assert.ok(passages.split("M").length - 1 > chain.length, passages);
  await app.call("seek", 300);
  const outlined = (selector) => app.page.locator(selector).first().evaluate((e) => getComputedStyle(e).outlineStyle);
  assert.equal(await outlined(`[data-anchor='api/object/${selection.key}']`), "solid");
  assert.equal(await outlined("[data-anchor='reflector/lastsync']"), "none");

  await app.page.keyboard.press("Escape");
  assert.equal(await app.id("drawer").count(), 0);
}));

test("everything on the stage can be selected with the keyboard alone", onPage({}, async (app) => {
  const press = (key) => app.page.keyboard.press(key);
  const focused = () => app.page.evaluate(() => document.activeElement.dataset.testid ?? document.activeElement.id);
  await app.call("seek", 300);
  await app.id("btn-why").focus();
  await press("Enter");
  await app.page.waitForFunction(() => document.activeElement.id === "drawer-tab-why");
  // The panel comes once its part is there.
  await app.id("select-thing").waitFor();
  // The close button and the panel come before it.
  for (let n = 0; n < 4 && (await focused()) !== "select-thing"; n += 1) await press("Tab");
  assert.equal(await focused(), "select-thing");
  const item = app.id("select-thing").locator("option", { hasText: /^Indexer/ }).first();
  await app.id("select-thing").selectOption(await item.getAttribute("value"));
  const { selection } = await app.eventually("it is selected", (s) => s.selection !== null);
  assert.match(selection.anchor, /^store\//);
  await press("Escape");
  assert.equal(await focused(), "btn-why", "the focus goes back to where it came from");
}));

test("steps of each size go forth and back to the identical picture", onPage({}, async (app) => {
  const press = async (key) => {
    const { step } = await app.state();
    await app.page.keyboard.press(key);
    return app.eventually(`${key} moves`, (s) => s.step !== step);
  };
  await app.call("seek", 0);
  const went = {};
  for (const grain of ["event", "pop", "lock", "micro"]) {
    await app.call("seek", 100);
    await app.id("select-grain").selectOption(grain);
    await app.id("btn-step").click();
    const one = await app.eventually("a step", (s) => s.step > 100);
    await app.page.evaluate(() => document.activeElement.blur());
    const two = await press("ArrowRight");
    assert.deepEqual(await press("ArrowLeft"), one);
    assert.equal((await press("ArrowRight")).step, two.step);
    assert.equal((await press(".")).step, two.step + 1);
    assert.equal((await press(",")).step, two.step);
    went[grain] = two.step - one.step;
    assert.equal(one.grain, grain);
  }
  assert.equal(went.micro, 1);
  assert.ok(went.lock > 1 && went.pop > 1 && went.event > 1, JSON.stringify(went));
  // The next larger step size after a fact is a section under a lock.
  await app.call("seek", 100);
  const coarse = await press("Shift+ArrowRight");
  await app.call("seek", 100);
  await app.call("step", 1, "lock");
  assert.equal((await app.state()).step, coarse.step);
}));

test("it runs until a condition holds, and reports when that never happens", onPage({}, async (app) => {
  await app.call("seek", 0);
  await app.id("btn-until").click();
  await app.page.getByLabel("delta queued").selectOption("Deleted");
  assert.equal(await app.id("until-text").inputValue(), "delta=Deleted");
  await app.id("btn-run-until").click();
  const there = await app.eventually("a Deleted", (s) => s.step > 0);
  assert.ok(Object.values(there.queue.deltas).some((deltas) => deltas.at(-1)[0] === "Deleted"));
  await app.id("until-text").fill("key=default/nobody");
  await app.id("btn-run-until").click();
  await app.id("btn-look-on").waitFor();
  const after = await app.state();
  assert.deepEqual([after.step, after.steps], [there.step, there.steps], "the run is as it was");
  assert.match(await app.id("until-said").innerText(), /as far as one search looks/);
  // It is below the form, and all of both is in the drawer.
  for (const id of ["btn-run-until", "btn-add-break", "btn-look-on"]) {
    const out = await app.id(id).evaluate((one) => {
      const [its, panel] = [one, one.closest("#drawer-panel")].map((of) => of.getBoundingClientRect());
      return its.bottom > panel.bottom || its.top < panel.top;
    });
    assert.ok(!out, `${id} is out of sight`);
  }
  const told = await app.tryCall("runUntil", "key=default/nobody");
  assert.match(told.error.message, /key=default\/nobody was not found/);
  assert.deepEqual([told.step, told.steps], [there.step, there.steps]);
  await app.id("until-text").fill("dleta=Deleted");
  await app.id("btn-run-until").click();
  const wrong = await app.eventually("an error", (s) => s.error !== null);
  assert.match(wrong.error.message, /dleta=Deleted/);
  // A field leaves a text alone that cannot be read.
  const mistaken = "key=default/web rv>=abc";
  await app.id("until-text").fill(mistaken);
  await app.page.getByLabel("delta queued").selectOption("Deleted");
  assert.deepEqual([await app.id("until-text").inputValue(), await app.page.getByLabel("delta queued").inputValue()], [mistaken, ""]);
  assert.match((await app.state()).error.message, /abc/);
  await app.call("load", "deltafifo");
  await app.id("until-text").fill("key=default/nobody");
  await app.id("btn-run-until").click();
  await app.id("until-said").getByText("nothing more is due").waitFor();
}));

test("a breakpoint stops the playing, until it is turned off", onPage({}, async (app) => {
  await app.call("seek", 300);
  await app.page.locator("[data-anchor^='queue/delta/']").first().click();
  await app.id("break-key").selectOption("fact=KeyPopped");
  const row = app.id("breakpoint");
  await row.waitFor();
  const { breakpoints: [{ at }] } = await app.state();
  assert.match(at, /^key=\S+ fact=KeyPopped$/);
  await app.id("select-speed").selectOption("800");
  await app.call("play");
  const stopped = await app.eventually("it stops", (s) => !s.playing);
  assert.equal(stopped.breakpoints[0].hit, stopped.step);
  assert.match(await row.innerText(), /stopped at fact/);
  await row.getByRole("checkbox").uncheck();
  await app.call("play");
  await app.eventually("it plays on", (s) => s.playing && s.step > stopped.step + 2);
  await app.call("pause");
  await row.getByRole("button").click();
  assert.deepEqual((await app.state()).breakpoints, []);
}));

test("on a phone the drawer is a sheet behind one button", onPage({ viewport: PHONE }, async (app) => {
  await app.id("btn-drawer").click();
  const sheet = await app.id("drawer").boundingBox();
  assert.ok(sheet.width === PHONE.width && sheet.height <= PHONE.height / 2, JSON.stringify(sheet));
  await app.page.locator("#drawer-tab-until").click();
  await app.id("until-text").waitFor();
  await app.id("drawer-close").click();
  assert.equal(await app.id("drawer").count(), 0);
}));

test("a newcomer's step is an event: its headline is said and lit, the others stand below and lead to themselves", onPage({ lesson: "tombstone", newcomer: true }, async (app) => {
  const step = () => app.page.keyboard.press("ArrowRight");
  const what = () => app.page.locator(".say .what").textContent();
  const said = [];
  for (let n = 0; n < 8; n++) {
    await step();
    said.push(await what());
  }
  assert.match(said.at(-1), /b/, said.join("\n"));
  for (const text of said) assert.doesNotMatch(text, /lock|LastSyncResourceVersion/, said.join("\n"));
  // The relist has found that b is missing: the queue, not the reflector, is the lit room.
  assert.equal(await app.page.locator(".room.live").first().getAttribute("data-testid"), "room-queue");
  const { step: end } = await app.state();
  const other = app.id("others").locator("button").first();
  await other.click();
  const { step: at } = await app.state();
  assert.ok(at < end, `${at} < ${end}`);
  // The size that somebody chooses is there at the next visit.
  await app.id("select-grain").selectOption("pop");
  assert.match(await app.id("btn-back").getAttribute("title"), /one Pop/);
  await app.reload();
  assert.equal(await app.id("select-grain").inputValue(), "pop");
}));

test("a far seek is computed in slices, another takes its place, and a step goes on from it", onPage({}, async (app) => {
  const { known, far, seen, at } = await app.page.evaluate(async () => {
    const scope = window.deltascope;
    const known = scope.getState().steps;
    const far = known + 90_000;
    const seen = [];
    let on = true;
    const look = () => {
      seen.push(scope.getState().steps);
      if (on) setTimeout(look);
    };
    const seeking = scope.seek(far);
    setTimeout(look);
    await seeking;
    on = false;
    return { known, far, seen, at: scope.getState().step };
  });
  assert.equal(at, far);
  assert.ok(seen.some((steps) => steps > known && steps < far), `nothing else ran meanwhile: ${seen}`);
  // Calls that a script does not wait for.
  const after = (...calls) =>
    app.page.evaluate(async (calls) => {
      const scope = window.deltascope;
      const to = scope.getState().steps + 50_000;
      const done = [scope.seek(to)];
      await new Promise((done) => setTimeout(done));
      for (const [name, ...values] of calls) done.push(scope[name](...values));
      await Promise.all(done);
      return [scope.getState().step, to];
    }, calls);
  assert.equal((await after(["seek", 7], ["step", 2]))[0], 9);
  assert.equal((await after(["step", 1], ["seek", 7]))[0], 7);
  const [back, from] = await after(["step", -1], ["step", -2]);
  assert.equal(back, from - 3);
  const [event, before] = await after(["step", 1, "event"]);
  assert.ok(event > before, `${event} ${before}`);
  assert.equal(await app.id("opening").count(), 0);
}));

test("a far search is computed in slices, and a later command takes its place", onPage({}, async (app) => {
  const looks = await app.page.evaluate(async () => {
    const scope = window.deltascope;
    let [looks, on] = [0, true];
    const look = () => {
      looks += 1;
      if (on) setTimeout(look);
    };
    const searching = scope.runUntil("key=default/nobody");
    setTimeout(look);
    await searching;
    on = false;
    return looks;
  });
  // Of a search in one piece it would be none; how many there are depends on the machine.
  assert.ok(looks > 0, "nothing else ran meanwhile");
  const failed = await app.state();
  assert.match(failed.error.message, /as far as one search looks/);
  const { step, error } = await app.page.evaluate(async () => {
    const scope = window.deltascope;
    await scope.step(1);
    const searching = scope.runUntil("key=default/nobody-else");
    await new Promise((done) => setTimeout(done));
    await scope.step(1);
    await searching;
    return scope.getState();
  });
  assert.equal(step, failed.step + 2);
  assert.equal(error ?? null, null, "the search was given up");
}));

// A rule that asks with :has() how rows or buttons look styles all of them anew whenever something comes or goes near them.
test("a step styles anew what it changes, and little else", onPage({}, async (app) => {
  await app.call("seek", 2000);
  const [browser, steps] = [app.context.browser(), 60];
  await browser.startTracing(app.page, { categories: CATEGORIES });
  await app.page.evaluate(async (steps) => {
    for (let n = 0; n < steps; n += 1) await window.deltascope.step(1);
  }, steps);
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const styled = traceEvents.filter(({ name }) => name === "UpdateLayoutTree").map(({ args }) => args?.elementCount ?? 0);
  const each = styled.reduce((sum, count) => sum + count, 0) / steps;
  assert.ok(each > 10 && each < 150, `${each} elements a step`);
}));
