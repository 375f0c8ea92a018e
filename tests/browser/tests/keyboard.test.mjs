// The keys of the stage, whatever has the focus; and what has the focus keeps the keys that it needs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";

const { onPage } = suite();

const START = 300;

test("what Tab has reached keeps its own keys", onPage({}, async (app) => {
  const press = (key) => app.page.keyboard.press(key);
  const reach = async (element) => {
    await press("Tab");
    await element.focus();
  };
  await app.call("seek", START);
  // Space presses a button, as often as one likes.
  await reach(app.id("btn-step"));
  await press("Space");
  await press("Space");
  assert.deepEqual([(await app.state()).step, (await app.state()).playing], [START + 2, false]);
  // Letters choose in a select, and none of them is the stage's.
  const lesson = app.id("select-lesson");
  await reach(lesson);
  await press("r");
  await press("f");
  const { lesson: found, branches } = await app.state();
  assert.equal(await lesson.inputValue(), found);
  assert.equal(branches.length, 1, "no fork");
  // What was opened by a key is gone through by keys; closed, it is not opened again by space.
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
  // A field keeps what can be typed.
  await app.id("btn-until").click();
  await app.id("until-text").click();
  const { step } = await app.state();
  await app.page.keyboard.type("r.f 5?");
  assert.equal(await app.id("until-text").inputValue(), "r.f 5?");
  assert.deepEqual([(await app.state()).step, (await app.state()).branches.length], [step, 1]);
}));
