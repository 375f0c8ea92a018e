// Writes on the API server, by hand and by script, and a process loop that is held.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";

const { onPage } = suite();
const sandbox = (body) => onPage({ lesson: "sandbox" }, body);

const pod = (phase, app = "probe") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "probe", labels: { app } },
  spec: { nodeName: "node-1" },
  status: { phase },
});
const KEY = "default/probe";

test("a created object travels from the server to the store", sandbox(async (app) => {
  await app.call("inject", { op: "create", object: pod("Pending") });
  const created = await app.until("it is on the server", (s) => KEY in s.api.objects);
  const rv = created.api.objects[KEY];
  const stored = await app.until("it is in the store", (s) => s.store.items[KEY] === rv);
  assert.ok(
    Object.values(stored.store.indices).some((values) => Object.values(values).flat().includes(KEY)),
    "it is in an index",
  );
}));

test("an update moves it in the index, a delete takes it out", sandbox(async (app) => {
  await app.call("inject", { op: "create", object: pod("Pending", "before") });
  await app.until("it is in the store", (s) => KEY in s.store.items);
  const holds = (s, value) =>
    Object.values(s.store.indices).some((values) => values[value]?.includes(KEY) ?? false);
  assert.ok(holds(await app.state(), "before"));

  await app.call("inject", { op: "update", object: pod("Running", "after") });
  const updated = await app.until("the new label is indexed", (s) => holds(s, "after"));
  assert.ok(!holds(updated, "before"), "and the old one is not");
  assert.equal(updated.store.items[KEY], updated.api.objects[KEY]);

  await app.call("inject", { op: "delete", object: { metadata: { namespace: "default", name: "probe" } } });
  const gone = await app.until("it is out of the store", (s) => !(KEY in s.store.items));
  assert.ok(!(KEY in gone.api.objects), "and off the server");
  assert.ok(!JSON.stringify(gone.store.indices).includes(KEY), "and in no index");
}));

test("after a cut the watch comes back and misses nothing", sandbox(async (app) => {
  await app.call("inject", { op: "create", object: pod("Pending") });
  await app.until("it is in the store", (s) => KEY in s.store.items);
  await app.call("inject", { op: "cut" });
  await app.until("the watch is cut", (s) => s.reflector.state.toLowerCase() !== "watch");
  await app.call("inject", { op: "update", object: pod("Running") });
  const written = await app.until("the write is on the server", (s) => s.api.objects[KEY] !== s.store.items[KEY]);
  const rv = written.api.objects[KEY];
  await app.until("the store has it", (s) => s.store.items[KEY] === rv);
}));

test("what cannot be done is an error and changes nothing", sandbox(async (app) => {
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

test("held, deltas pile up; Pop takes one key", sandbox(async (app) => {
  await app.id("mode-held").click();
  const other = { ...pod("Pending"), metadata: { namespace: "default", name: "other", labels: { app: "probe" } } };
  await app.call("inject", { op: "create", object: pod("Pending") });
  await app.call("inject", { op: "update", object: pod("Running") });
  await app.call("inject", { op: "create", object: other });
  const waiting = (s, key) => s.queue.deltas[key]?.map(([type]) => type) ?? [];
  const piled = await app.until(
    "all wait",
    (s) => waiting(s, KEY).length === 2 && waiting(s, "default/other").length === 1,
  );
  assert.deepEqual(waiting(piled, KEY), ["Added", "Updated"]);
  const place = (s, key) => s.queue.keys.indexOf(key);
  assert.ok(place(piled, KEY) < place(piled, "default/other"), `first come, first served: ${piled.queue.keys}`);
  assert.ok(!(KEY in piled.store.items), "nothing reaches the store");

  // The others of the sandbox go on writing and queue up behind.
  for (let pops = place(piled, KEY); pops >= 0; pops -= 1) {
    const [next] = (await app.state()).queue.keys;
    await app.id("btn-pop").click();
    await app.until("the next one is taken", (s) => s.queue.keys[0] !== next, 200);
  }
  const state = await app.until("it is stored", (s) => s.store.items[KEY] === s.api.objects[KEY], 200);
  assert.equal(place(state, KEY), -1, "both deltas went with one Pop");
  assert.equal(place(state, "default/other"), 0, "the other one is next");
  assert.ok(!("default/other" in state.store.items));
}));
