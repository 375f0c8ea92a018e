// Branches: forks are kept, and a single event of the server can be dropped or moved.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";

const { onPage } = suite();
const pod = (name) => ({ op: "create", object: { metadata: { namespace: "n", name } } });
const keys = (state) => Object.keys(state.api.objects).filter((key) => key.startsWith("n/"));
const shown = ({ branches, ...rest }) => rest;
const names = ({ branches }) => branches.map((b) => `${" ".repeat(b.depth)}${b.name}${b.current ? "*" : ""}`);

test("F forks, and each branch keeps its own later facts", onPage({ lesson: "indexer" }, async (app) => {
  await app.call("seek", 6);
  await app.call("inject", pod("a"));
  const { step } = await app.state();
  await app.call("inject", pod("b"));
  const first = await app.toEnd();
  await app.call("seek", step);
  await app.page.keyboard.press("f");
  const forked = await app.eventually("a branch", (s) => s.branches.length === 2);
  assert.match(names(forked).join(), /^main, Branch 2\*$/);
  await app.call("inject", pod("c"));
  assert.deepEqual(keys(await app.toEnd()), ["n/a", "n/c"]);
  await app.id("btn-branches").click();
  const tree = app.id("branch-tree");
  await tree.getByTestId("btn-rename").nth(1).click();
  await app.id("branch-name").fill("never");
  await app.page.keyboard.press("Escape");
  await app.page.waitForFunction(() => document.activeElement.closest("[data-branch]")?.dataset.branch === "2");
  await tree.getByTestId("btn-rename").nth(1).click();
  await app.id("branch-name").fill("with c");
  await app.page.keyboard.press("Enter");
  await app.eventually("a name", (s) => s.branches[1].name === "with c");
  assert.equal(await app.id("drawer").count(), 1, "Escape closed the drawer");
  await tree.getByRole("button", { name: /main/ }).first().click();
  await app.eventually("the first again", (s) => s.branches[0].current);
  assert.deepEqual(shown(await app.toEnd()), shown(first));
  await tree.getByTestId("btn-remove-branch").click();
  await app.eventually("one branch", (s) => s.branches.length === 1);
}));

test("an earlier action does not lose the later ones", onPage({ lesson: "indexer" }, async (app) => {
  await app.call("seek", 6);
  await app.call("inject", pod("a"));
  const { step } = await app.state();
  await app.call("inject", pod("b"));
  const first = await app.toEnd();
  await app.call("seek", step);
  await app.call("inject", pod("c"));
  assert.deepEqual(keys(await app.toEnd()), ["n/a", "n/c"]);
  await app.call("switchTo", 1);
  assert.deepEqual(shown(await app.toEnd()), shown(first));
  const wrong = await app.tryCall("switchTo", 9);
  assert.match(wrong.error.message, /no branch 9/);
}));

test("an event of the server is dropped or moved, and a setting changed", onPage({}, async (app) => {
  const before = await app.state();
  await app.id("btn-branches").click();
  const events = app.id("server-events").locator("li");
  const told = () => events.locator(".go").evaluateAll((rows) => rows.map((row) => row.title));
  const [last] = (await told()).filter((_, place) => place === 7);
  await events.nth(7).getByTestId("btn-drop").click();
  const without = await app.eventually("a branch without it", (s) => s.branches.length === 2);
  assert.match(without.branches[1].made, /^without what happened to /);
  assert.ok(!(await told()).includes(last), `${last} is still there`);
  await app.call("switchTo", 1);
  assert.deepEqual(shown(await app.state()), shown(before));
  await events.nth(7).getByTestId("btn-earlier").click();
  const moved = await app.eventually("a branch with it earlier", (s) => s.branches.length === 3);
  assert.match(moved.branches.find((branch) => branch.current).made, /^what happened at [\d.]+ s happens at [\d.]+ s/);

  await app.call("switchTo", 1);
  await app.id("select-setting").selectOption({ label: "client-go of Kubernetes" });
  await app.id("setting-value").fill("1.36");
  await app.id("btn-set").click();
  const atomic = await app.eventually("another generation", (s) => s.era === "1.36");
  assert.equal(atomic.branches.find((branch) => branch.current).made, "client-go 0.36");
  await app.id("setting-value").fill("soon");
  await app.id("btn-set").click();
  const wrong = await app.eventually("an error", (s) => s.error !== null);
  assert.match(wrong.error.message, /"soon" is not a value of it\. Write 1\.32, 1\.34, 1\.35, 1\.36\./);
}));

test("the smallest run that shows something is a branch, which a link carries", onPage({ lesson: "tombstone" }, async (app) => {
  await app.call("runUntil", "tombstone key=default/b");
  const { branches } = await app.state();
  assert.equal(branches.length, 1);
  await app.id("btn-share").click();
  assert.equal(await app.id("share-branch").count(), 0);
  await app.id("btn-smallest").click();
  const cut = await app.eventually("a branch", (s) => s.branches[1]?.current);
  await app.id("share-branch").waitFor();
  assert.match(await app.id("notice").textContent(), /3 of 6 entries of the script, 1 of 3 objects, 0 of 1 handlers/);
  assert.deepEqual(cut.handlers, []);
  const link = await app.call("getUrl");
  await app.elsewhere({ link }, async (other) => {
    const { step, queue, api } = await other.state();
    assert.deepEqual({ step, queue, api }, { step: cut.step, queue: cut.queue, api: cut.api });
  });
  // What is broken, from its check.
  await app.call("switchTo", 1);
  await app.toEnd();
  await app.id("btn-checks").click();
  await app.id("check-smallest").first().click();
  const broken = await app.eventually("a second branch", (s) => s.branches[2]?.current);
  assert.ok(broken.violations.some(({ at }) => at === broken.step), JSON.stringify(broken.violations));
  const never = await app.tryCall("smallest", "tombstone key=default/nobody");
  assert.match(never.error.message, /does not show .*nobody/);
  await app.call("switchTo", 1);
  await app.call("smallest", "delta=Deleted key=default/b");
  assert.match(await app.id("notice").textContent(), /runs tried/);
}));
