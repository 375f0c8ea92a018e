// The keys of the stage, whichever element has the focus; and the keys that a focused element keeps for itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";

const { onPage } = suite();

const TABS = [null, "why", "until", "branches", "checks", "share"];
const START = 300;
const ERA = "1.36";

/** The controls in use, one of each kind: by name, so that each can be found again. */
const controls = (app) =>
  app.page.evaluateHandle(() => {
    const selector = ":is(button, select, input, a[href], summary, [role=listbox]):not(:disabled, dialog *)";
    const kinds = new Map();
    for (const element of document.querySelectorAll(selector)) {
      if (!element.checkVisibility() || element.getBoundingClientRect().width === 0) continue;
      const tag = element.tagName.toLowerCase();
      const name = element.dataset.testid ?? (element.getAttribute("role") === "tab" ? "tab" : `${tag}.${element.className}`);
      const where = element.closest(".drawer, header, footer, [data-testid^=room-]");
      const place = where?.dataset.testid ?? where?.tagName.toLowerCase() ?? "";
      kinds.set(`${place} ${name} ${tag === "input" ? element.type : tag}`, element);
    }
    return kinds;
  });
const names = async (app) => (await controls(app)).evaluate((kinds) => [...kinds.keys()]);
const find = async (app, name) => (await (await controls(app)).evaluateHandle((kinds, key) => kinds.get(key) ?? null, name)).asElement();

/** The same run at the same moment, with this tab of the drawer, and no focus. Loads it only where a control has changed it. */
async function prepare(app, tab) {
  // In one call, as a call takes longer than what it does.
  const open = await app.page.evaluate(async ([ERA, START]) => {
    const { lesson, era, branches, comparison } = window.deltascope.getState();
    const same = lesson === "sandbox" && era === ERA && branches.length === 1 && comparison === null;
    if (!same) {
      await window.deltascope.load("sandbox");
      await window.deltascope.setEra(ERA);
    }
    await window.deltascope.seek(START);
    return document.querySelector("#drawer [role=tab][aria-selected=true]")?.id;
  }, [ERA, START]);
  if (tab === null && open) await app.id("drawer-close").click();
  if (tab !== null && open !== `drawer-tab-${tab}`) {
    await (open ? app.page.locator(`#drawer-tab-${tab}`) : app.id(`btn-${tab}`)).click();
  }
  await app.page.evaluate(() => document.activeElement.blur());
}

/** An option other than the chosen one. */
const other = (element) => element.evaluate((select) => [...select.options].find((one) => !one.selected && !one.disabled)?.value);

async function useByMouse(app, element, kind) {
  // A link leads away, so it is only focused.
  if (kind === "a") return element.focus();
  await element.click({ force: true });
  if (kind === "select") {
    await app.page.keyboard.press("Escape");
    const value = await other(element);
    if (value !== undefined) await element.selectOption(value);
  }
}

async function useByKeys(app, element, kind) {
  const press = (key) => app.page.keyboard.press(key);
  // How Tab gets to the element is not tested here.
  await press("Tab");
  await element.focus();
  if (kind === "select") {
    await element.evaluate((select) => {
      globalThis.chosen = false;
      select.addEventListener("change", () => (globalThis.chosen = true), { once: true });
    });
    await press("ArrowDown");
    // The list of lessons opens, and Enter chooses in it.
    if (await element.evaluate((select) => select.matches(":open"))) {
      await press("ArrowDown");
      await press("Enter");
    } else if (!(await app.page.evaluate(() => globalThis.chosen))) {
      await press("ArrowUp");
    }
    return app.page.evaluate(() => globalThis.chosen);
  }
  if (kind !== "a") await press({ checkbox: "Space", range: "ArrowUp" }[kind] ?? "Enter");
  return false;
}

/** Asserts that the keys control the stage, except those that a text field keeps: one key of each kind. */
async function moves(app, what, { space, byMouse }) {
  const shelved = await app.page.evaluate(async () => {
    document.querySelector("dialog[open]")?.close();
    while (document.querySelector("dialog[open]")) await new Promise(requestAnimationFrame);
    return document.querySelector("[data-testid=btn-lessons]").ariaPressed === "true";
  });
  // The shelf is in the place of the stage, or will be.
  if (shelved) await app.page.keyboard.press("Escape");
  const [text, tab, playing] = await app.page.evaluate(async (pauses) => {
    if (pauses) await window.deltascope.pause();
    const active = document.activeElement;
    const text = active.tagName === "INPUT" && !["range", "checkbox", "radio"].includes(active.type);
    return [text, active.getAttribute("role") === "tab", window.deltascope.getState().playing];
  }, !space);
  const press = async (key) => {
    await app.page.keyboard.press(key);
    return app.state();
  };
  if (playing) {
    assert.equal((await press("Space")).playing, false, `${what}: space pauses`);
  }
  await app.call("seek", 5);
  // The menu opens a lesson's story, whose keys are others; looking closer leaves it where it is.
  if (await app.page.evaluate(() => document.documentElement.classList.contains("tells"))) {
    await press("m");
    await app.call("seek", 5);
  }
  let at = 5;
  const step = async (key, is) => {
    const before = at;
    at = (await press(key)).step;
    assert.ok(is(before, at), `${what}: ${key} goes from ${before} to ${at}`);
  };
  await step("PageDown", (before, after) => after > before);
  if (text) return;
  await step(",", (before, after) => after === before - 1);
  // In a drawer that a key has opened, arrow keys move between its tabs.
  if (!tab || byMouse) await step("ArrowRight", (before, after) => after > before);
  await step("0", (_, after) => after === 0);
  if (!space) return;
  assert.equal((await press("Space")).playing, true, `${what}: space plays`);
  assert.equal((await press("Space")).playing, false, `${what}: space pauses again`);
}

test("after any control was used, by mouse or by keyboard, the keys control the stage", onPage({ provokes: /\/version/ }, async (app) => {
  app.page.on("filechooser", () => {});
  // Each control does its work at once.
  await app.page.evaluate(() => window.deltascope.ready);
  const seen = new Set();
  for (const tab of TABS) {
    await prepare(app, tab);
    for (const name of await names(app)) {
      if (seen.has(name)) continue;
      seen.add(name);
      const kind = name.split(" ").at(-1);
      for (const [way, use] of [["mouse", useByMouse], ["keyboard", useByKeys]]) {
        await prepare(app, tab);
        const element = await find(app, name);
        assert.ok(element, `${name} is there again, tab ${tab}`);
        const chosen = await use(app, element, kind);
        // A button that was reached with Tab is pressed by Space each time.
        const space = (way === "mouse" && kind !== "a") || chosen;
        await moves(app, `${name}, ${way}, tab ${tab}`, { space, byMouse: way === "mouse" });
      }
    }
  }
  for (const name of ["header select-lesson select", "transport select-speed select", "transport scrubber range", "drawer until-text text", "drawer tab button"]) {
    assert.ok(seen.has(name), `${name} among ${[...seen].join(", ")}`);
  }
}));

test("a closed dialog keeps no key, even before its close event", onPage({}, async (app) => {
  await app.call("seek", 5);
  await app.id("btn-help").click();
  await app.page.waitForFunction(() => document.querySelector("dialog[open]"));
  const key = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true }));
  await app.page.evaluate(key);
  assert.equal((await app.state()).step, 5);
  await app.page.evaluate(() => {
    document.querySelector("dialog[open]").close();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true }));
  });
  assert.ok((await app.state()).step > 5);
}));

test("a control that was reached with Tab keeps its keys", onPage({}, async (app) => {
  const press = (key) => app.page.keyboard.press(key);
  const reach = async (element) => {
    await press("Tab");
    await element.focus();
  };
  await app.call("seek", START);
  // Space presses a button repeatedly.
  await reach(app.id("btn-step"));
  await press("Space");
  await press("Space");
  assert.deepEqual([(await app.state()).step, (await app.state()).playing], [START + 2, false]);
  // Letters and arrows open a select, and do not reach the stage. What one comes by is not loaded.
  const lesson = app.id("select-lesson");
  await reach(lesson);
  for (const key of ["r", "ArrowDown", "ArrowDown"]) await press(key);
  assert.deepEqual([await lesson.inputValue(), (await app.state()).lesson], ["sandbox", "sandbox"]);
  await press("Enter");
  const chosen = await lesson.inputValue();
  assert.notEqual(chosen, "sandbox");
  const { branches } = await app.eventually("it is opened", (s) => s.lesson === chosen);
  assert.equal(branches.length, 1, "no fork");
  // In a drawer that a key has opened, arrow keys move between its tabs. Once it is closed, Space does not open it again.
  await app.call("load", "sandbox");
  await app.call("seek", START);
  await reach(app.id("btn-why"));
  await press("Enter");
  await app.page.waitForFunction(() => document.activeElement.id === "drawer-tab-why");
  await press("ArrowRight");
  await app.page.waitForFunction(() => document.activeElement.id === "drawer-tab-until");
  assert.equal((await app.state()).step, START);
  await press("Escape");
  await app.page.waitForFunction(() => document.activeElement.dataset.testid === "btn-why");
  await press("Space");
  assert.equal((await app.state()).playing, true);
  assert.equal(await app.id("drawer").count(), 0);
  await press("Space");
  // A text field keeps the keys that type.
  await app.id("btn-until").click();
  await app.id("until-text").click();
  const { step } = await app.state();
  await app.page.keyboard.type("r.f 5?");
  assert.equal(await app.id("until-text").inputValue(), "r.f 5?");
  assert.deepEqual([(await app.state()).step, (await app.state()).branches.length], [step, 1]);
}));

test("Tab stops once in each room; arrow keys lead to everything in it, and Enter asks why it is there", onPage({}, async (app) => {
  const press = (key) => app.page.keyboard.press(key);
  await app.call("seek", START);
  const stops = (room) => app.page.locator(`#room-${room} [data-anchor][tabindex="0"]:not(.output)`);
  const here = () => app.page.evaluate(() => document.activeElement.dataset.anchor);
  // What is in a room; an empty place holds nothing to ask about, and a box that scrolls is a stop of its own.
  const things = (room) =>
    app.page.locator(`#room-${room} [data-anchor]:not(.output)`).evaluateAll((all) =>
      all.filter((one) => one.title || one.textContent.trim()).map((one) => one.dataset.anchor),
    );
  for (const room of ["api", "reflector", "queue", "pop", "indexer", "processor"]) {
    await app.page.waitForFunction((id) => document.querySelector(`#room-${id} [data-anchor][tabindex="0"]`), room);
    assert.equal(await stops(room).count(), 1, room);
    await press("Tab");
    await stops(room).focus();
    await press("Home");
    const all = await things(room);
    const seen = [];
    for (let place = 0; place < all.length; place += 1, await press("ArrowDown")) seen.push(await here());
    assert.deepEqual(seen, all, room);
    assert.equal(await here(), all[0], "and from the last one to the first");
    await press("End");
    assert.equal(await here(), all.at(-1));
    await press("ArrowUp");
    assert.equal(await here(), all.at(-2));
    assert.equal(await stops(room).count(), 1, room);
    assert.equal((await app.state()).step, START, "these keys leave the run where it is");
  }
  for (const [room, key] of [["queue", "Enter"], ["indexer", "Space"]]) {
    await press("Tab");
    await stops(room).focus();
    await press("End");
    const asked = await here();
    await press(key);
    await app.page.waitForFunction(() => document.activeElement.id === "drawer-panel");
    const { playing } = await app.eventually("it is selected", (state) => state.selection?.anchor === asked);
    assert.equal(playing, false);
    // The drawer says why.
    await app.id("chain").locator("li").first().waitFor();
    await press("Escape");
    assert.equal(await app.id("drawer").count(), 0);
    assert.equal(await here(), asked, "Escape leads back");
  }
  await press("ArrowRight");
  assert.equal((await app.state()).step, START + 1, "← and → step, as everywhere");
}));
