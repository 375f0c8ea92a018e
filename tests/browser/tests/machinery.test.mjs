// The parts around the queue: generations, requests, listeners, and index queries.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";

const { onPage } = suite();
const lesson = "sharedinformer-listwatch";

test("another generation shows the same run with its own queue, at the same time", onPage({ lesson }, async (app) => {
  const classic = await app.toEnd();
  assert.deepEqual([classic.era, classic.queue.kind], ["1.32", "DeltaFIFO"]);
  const lines = [...classic.output].sort();
  await app.call("seek", Math.floor(classic.steps / 2));
  const { time } = await app.state();
  const button = app.id("era-1.36");
  await button.focus();
  await app.page.keyboard.press("Enter");
  const atomic = await app.eventually("the atomic one", (s) => s.era === "1.36");
  assert.equal(atomic.queue.kind, "RealFIFO");
  assert.ok(atomic.time <= time && time - atomic.time < 2000, `${atomic.time}, not ${time}`);
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  assert.equal(await app.id("era-1.32").getAttribute("aria-pressed"), "false");
  assert.deepEqual([...(await app.toEnd()).output].sort(), lines);
  await app.call("setEra", "1.34");
  assert.equal((await app.state()).era, "1.34");
  const wrong = await app.tryCall("setEra", "0.1");
  assert.match(wrong.error.message, /0\.1/);
  await app.call("load", "deltafifo");
  assert.ok(await app.id("era-1.36").isDisabled(), "a queue put together by hand is of no generation");
}));

test("a whole list is one crate in the atomic generation", onPage({ lesson }, async (app) => {
  await app.call("setEra", "1.36");
  await app.call("seek", 0);
  const list = await app.until("the list is queued", (s) => s.queue.items?.some(([type]) => type === "ReplacedAll"));
  const [[, , { objects }]] = list.queue.items;
  const crate = app.id("room-queue").locator(".entry.boxed");
  assert.match(await crate.innerText(), new RegExp(`ReplacedAll\\s+${objects.length}\\s`));
}));

test("requests are shown with their results", onPage({ lesson }, async (app) => {
  const { api } = await app.toEnd();
  const count = Object.keys(api.objects).length;
  const shown = async () => (await app.id("requests").locator("li").allInnerTexts()).reverse();
  const [list, watch] = await shown();
  assert.match(list, new RegExp(`^LIST rv=0 .*→ ${count} objects$`));
  assert.match(watch, /^WATCH rv=\d+ → open$/);
  await app.call("setEra", "1.36");
  await app.toEnd();
  assert.match((await shown())[0], /^WATCH sendInitialEvents rv="" NotOlderThan → open$/);
}));

test("every listener has its buffer and its lamps", onPage({ lesson }, async (app) => {
  const rows = app.id("handler");
  const filled = () => rows.locator(".ring i:not(.run):not(.send):not([class=''])").count();
  const lit = () => rows.locator(".lamp.on", { hasText: "HasSynced" }).count();
  await app.call("seek", 0);
  assert.equal(await lit(), 0);
  const waiting = await app.until("something waits", (s) => s.handlers.some((h) => h.pending > 0));
  assert.equal(await rows.count(), waiting.handlers.length);
  assert.equal(await filled(), waiting.handlers.reduce((sum, h) => sum + Math.min(h.pending, 4), 0));
  const end = await app.toEnd();
  assert.equal(await filled(), 0);
  assert.equal(await lit(), end.handlers.length);
}));

test("a handler added late is notified of the current objects; a removed one is not notified any more", onPage({ lesson }, async (app) => {
  const before = await app.toEnd();
  await app.id("btn-add-handler").click();
  await app.until("it is registered", (s) => s.handlers.length === before.handlers.length + 1, 100);
  const told = (await app.toEnd()).handlers.at(-1).notifications;
  assert.deepEqual(told.map(([type, key]) => `${type} ${key}`).sort(),
    Object.keys(before.store.items).map((key) => `add ${key}`).sort());
  const names = () => app.id("handler").locator(".n").allInnerTexts();
  const [removed, ...stay] = await names();
  const button = app.id("btn-remove-handler").first();
  await button.click();
  assert.ok(await button.isDisabled(), "once is enough");
  assert.match(await app.id("handler").first().innerText(), /being removed/);
  const { step } = await app.state();
  await app.toEnd();
  assert.deepEqual(await names(), stay);
  assert.equal(await app.page.locator(".lane", { hasText: removed }).count(), 0);
  await app.call("seek", step);
  assert.deepEqual(await names(), [removed, ...stay]);
}));

test("a fault is chosen from the menu, and the reflector recovers", onPage({ lesson }, async (app) => {
  await app.toEnd();
  await app.id("select-fault").selectOption({ label: "ERROR event 410" });
  await app.until("it lists again", (s) => s.reflector.state === "list", 200);
  const { reflector, error } = await app.toEnd();
  assert.deepEqual([reflector.state, error], ["watch", null]);
  assert.match(await app.id("requests").innerText(), /→ ended, ERROR 410/);
  await app.id("select-fault").selectOption({ label: "next LIST fails: 403 Forbidden" });
  assert.match(await app.id("armed").innerText(), /^next LIST answers 403 Forbidden/);
  await app.id("btn-disarm").click();
  await app.id("armed").waitFor({ state: "detached" });
}));

test("an index query gives the program's answer", onPage({ lesson: "indexer-run" }, async (app) => {
  const answer = () => app.id("query-answer").innerText();
  await app.toEnd();
  const key = "default/robusta-forwarder-5f65fd6fbb-s2trs";
  assert.equal(await answer(), JSON.stringify([key]));
  const [index, value] = ["query-index", "query-value"].map((id) => app.page.locator(`input[data-testid=${id}]`));
  await value.fill("nobody");
  assert.equal(await answer(), "[]");
  await index.fill("colour");
  assert.equal(await answer(), "Index with name colour does not exist");
}));
