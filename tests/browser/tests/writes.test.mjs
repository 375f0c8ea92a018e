// Writes to the API server, by hand and by script, and a process loop that is paused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";

const { onPage } = suite();
const sandbox = (body) => onPage({ lesson: "sandbox" }, body);
/** After the lesson's own script nothing else writes. */
const quiet = (body) =>
  onPage({ lesson: "indexer" }, async (app) => {
    await app.toEnd();
    await body(app);
  });

const pod = (phase, app = "probe") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "probe", labels: { app } },
  spec: { nodeName: "node-1" },
  status: { phase },
});
const KEY = "default/probe";
const indexed = (s, index, value) => s.store.indices[index]?.[value]?.includes(KEY) ?? false;

test("a created object travels from the server to the store", quiet(async (app) => {
  await app.call("inject", { op: "create", object: pod("Pending") });
  const created = await app.until("it is on the server", (s) => KEY in s.api.objects);
  const rv = created.api.objects[KEY];
  await app.until("it is in the store", (s) => s.store.items[KEY] === rv);
  await app.until("it is in an index", (s) => indexed(s, "app", "probe"));
}));

test("an update moves an object in the index, a delete removes it", quiet(async (app) => {
  await app.call("inject", { op: "create", object: pod("Pending", "before") });
  await app.until("it is indexed", (s) => KEY in s.store.items && indexed(s, "app", "before"));

  await app.call("inject", { op: "update", object: pod("Running", "after") });
  const updated = await app.until("the new label is indexed", (s) => indexed(s, "app", "after"));
  assert.ok(!indexed(updated, "app", "before"), "and the old one is not");

  await app.call("inject", { op: "delete", object: { metadata: { namespace: "default", name: "probe" } } });
  const gone = await app.until(
    "it is out of the store and of every index",
    (s) => !(KEY in s.store.items) && !JSON.stringify(s.store.indices).includes(KEY),
  );
  assert.ok(!(KEY in gone.api.objects), "and off the server");
}));

test("after a cut the watch resumes and misses nothing", sandbox(async (app) => {
  await app.call("inject", { op: "create", object: pod("Pending") });
  await app.until("it is in the store", (s) => KEY in s.store.items);
  await app.call("inject", { op: "cut" });
  await app.until("the watch is cut", (s) => s.reflector.state.toLowerCase() !== "watch");
  await app.call("inject", { op: "update", object: pod("Running") });
  const written = await app.until("the write is on the server", (s) => s.api.objects[KEY] !== s.store.items[KEY]);
  const rv = written.api.objects[KEY];
  await app.until("the store has it", (s) => s.store.items[KEY] === rv);
}));

test("the form stays open when a write is refused, and closes when it succeeds or is left", sandbox(async (app) => {
  const form = app.id("form-object");
  const name = form.locator("input").first();
  const gone = () => form.waitFor({ state: "detached" });
  await app.id("btn-create").click();
  await name.fill("Not A Name");
  await form.locator("[type=submit]").click();
  await app.eventually("the write is refused", (s) => s.error);
  const wrong = app.id("wrong");
  await wrong.getByText("metadata.name").waitFor();
  assert.equal(await name.inputValue(), "Not A Name", "what was typed is still there");
  assert.equal(await app.id("error").count(), 0, "what the field says is not said again");
  const marked = () => form.locator("input").evaluateAll((all) => all.filter((one) => one.ariaInvalid === "true").map((one) => one.name));
  assert.deepEqual(await marked(), ["metadata.name"]);
  assert.equal(await name.getAttribute("aria-describedby"), await wrong.getAttribute("id"));
  await app.page.waitForFunction(() => document.activeElement.name === "metadata.name");
  await app.page.keyboard.press("Escape");
  await app.eventually("the error is dismissed first", (s) => s.error === null);
  assert.ok(await form.isVisible());
  await name.fill("probe");
  for (const [field, text, taken] of [["spec.nodeName", "N@de", "node-1"], ["metadata.namespace", "Not.One", "default"]]) {
    await form.locator(`[name="${field}"]`).fill(text);
    await form.locator("[type=submit]").click();
    await wrong.getByText(`${field} "${text}"`).waitFor();
    assert.deepEqual(await marked(), [field]);
    await form.locator(`[name="${field}"]`).fill(taken);
    await wrong.waitFor({ state: "detached" });
    await app.eventually("the next try clears it", (s) => s.error === null);
  }
  await form.locator('[name="metadata.namespace"]').fill("");
  await form.locator("[type=submit]").click();
  assert.deepEqual(await marked(), ["metadata.namespace"], "a Pod has a namespace");
  for (const [lang, words] of [["zh", "必填：Pod 的 key 是 namespace/name。"], ["en", "Needed: a Pod’s key is namespace/name."]]) {
    await app.language(lang);
    assert.equal(await wrong.textContent(), words);
  }
  await form.locator('[name="metadata.namespace"]').fill("default");
  for (const lang of ["zh", "en"]) {
    await app.language(lang);
    assert.equal(await name.inputValue(), "probe", "another language changes the labels alone");
  }
  await form.locator("[type=submit]").click();
  await gone();
  await app.until("it is on the server", (s) => KEY in s.api.objects);
  for (const leave of [
    async () => {
      // What is in front is closed first.
      await app.page.locator("header [data-testid=btn-help]").click();
      await app.page.locator("dialog.help[open]").waitFor();
      await app.page.keyboard.press("Escape");
      await app.page.locator("dialog.help[open]").waitFor({ state: "detached" });
      assert.ok(await form.isVisible());
      await app.page.keyboard.press("Escape");
    },
    () => app.id("room-queue").click(),
    () => app.call("load", "indexer"),
  ]) {
    await app.id("btn-create").click();
    await form.waitFor();
    await leave();
    await gone();
  }
}));

test("an invalid command is an error and changes nothing", sandbox(async (app) => {
  await app.call("inject", { op: "create", object: pod("Pending") });
  const { api } = await app.until("it is in the store", (s) => KEY in s.store.items);
  const ghost = { metadata: { namespace: "default", name: "ghost" } };
  for (const [what, operation] of [
    ["creating it again", { op: "create", object: pod("Pending") }],
    ["updating what is not there", { op: "update", object: { ...pod("Running"), ...ghost } }],
    ["deleting what is not there", { op: "delete", object: ghost }],
    ["an object without a name", { op: "create", object: { metadata: { namespace: "default" } } }],
    ["no object", { op: "create" }],
    ["an unknown operation", { op: "explode", object: pod("Pending") }],
  ]) {
    const state = await app.tryCall("inject", operation);
    assert.ok(state.error?.message, `${what}: no error`);
    assert.deepEqual(state.api, api, `${what}: the server changed`);
    assert.ok(await app.id("error").isVisible(), `${what}: nothing on screen`);
    await app.id("error").getByRole("button").click();
    await app.eventually("the error is dismissed", (s) => s.error === null);
  }
}));

test("the buttons create, edit, delete and cut", sandbox(async (app) => {
  const form = app.id("form-object");
  await app.id("btn-create").click();
  const name = await form.getByRole("textbox").first().inputValue();
  assert.match(name, /^[a-z0-9.-]+$/, "the form proposes a name");
  await form.locator("[type=submit]").click();
  await form.waitFor({ state: "hidden" });
  const key = `default/${name}`;
  const created = await app.until("it is on the server", (s) => key in s.api.objects, 60);
  await app.until("it is in the store", (s) => key in s.store.items);

  const object = app.id("api-object").filter({ has: app.page.getByText(key, { exact: true }) });
  if (!(await object.isVisible())) await app.id("room-api").locator("button.more").click();
  await object.click();
  await app.id("btn-edit").click();
  await form.getByRole("textbox").last().fill("Failed");
  await form.locator("[type=submit]").click();
  await form.waitFor({ state: "hidden" });
  const rv = created.api.objects[key];
  await app.until("it has changed", (s) => s.api.objects[key] !== rv, 60);

  await app.id("btn-delete").click();
  await app.until("it is gone", (s) => !(key in s.api.objects), 60);

  await app.id("btn-cut").click();
  await app.until("the watch is cut", (s) => s.reflector.state.toLowerCase() !== "watch", 60);
}));

test("while the loop is paused, deltas pile up; Pop takes one key", quiet(async (app) => {
  await app.id("mode-held").click();
  const other = { ...pod("Pending"), metadata: { namespace: "default", name: "other", labels: { app: "probe" } } };
  await app.call("inject", { op: "create", object: pod("Pending") });
  await app.call("inject", { op: "update", object: pod("Running") });
  await app.call("inject", { op: "create", object: other });
  const piled = await app.toEnd();
  const types = (s, key) => s.queue.deltas[key]?.map(([type]) => type);
  assert.deepEqual(piled.queue.keys, [KEY, "default/other"], "first come, first served");
  assert.deepEqual(types(piled, KEY), ["Added", "Updated"]);
  assert.deepEqual(types(piled, "default/other"), ["Added"]);
  assert.deepEqual(piled.store.items, {}, "nothing reaches the store");

  await app.id("btn-pop").click();
  const popped = await app.until("one was popped and stored", (s) => s.store.items[KEY] === s.api.objects[KEY], 100);
  assert.deepEqual(popped.queue.keys, ["default/other"], "both deltas went with one Pop");
  const rested = await app.toEnd();
  assert.deepEqual(rested.queue.keys, ["default/other"], "one Pop takes one key");
  assert.deepEqual(Object.keys(rested.store.items), [KEY]);

  await app.id("btn-pop").click();
  const empty = await app.until("the other one is stored", (s) => "default/other" in s.store.items, 100);
  assert.deepEqual(empty.queue.keys, []);
}));
