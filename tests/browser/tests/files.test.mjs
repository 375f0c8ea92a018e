// Files that users drop: recordings of real watches, and other files.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "../harness.mjs";

const { onPage } = suite();
const file = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const recorded = (name) => file(`src/replay/lessons/recordings/${name}.body`);
const transcript = (name) => file(`tests/transcripts/${name}.body`);
const WATCH = recorded("watch-pod-lifecycle");
const LIST = recorded("watch-bookmarks-list");
const WATCH_AFTER_LIST = recorded("watch-bookmarks");

let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), "deltascope-drop-"))));
after(() => rm(folder, { recursive: true, force: true }));

const made = async (name, content) => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

/** Every key and version that the store holds during the run. */
const stored = (app) =>
  app.page.evaluate(async () => {
    const seen = new Set();
    const { steps } = await window.deltascope.getState();
    for (let n = 0; n <= steps; n += 1) {
      await window.deltascope.seek(n);
      const { store } = await window.deltascope.getState();
      for (const [key, rv] of Object.entries(store.items)) seen.add(`${key}@${rv}`);
    }
    return [...seen];
  });

test("a dropped watch plays", onPage({}, async (app) => {
  const { lesson: before } = await app.state();
  await app.drop(WATCH);
  const opened = await app.eventually("another lesson is open", (s) => s.lesson !== before);
  assert.equal(opened.error, null);
  const seen = await stored(app);
  assert.ok(seen.includes("default/nettool@41475"), `${seen}`);
  assert.ok(seen.includes("default/nettool@41490"), `${seen}`);
  assert.ok(seen.includes("default/batch-1@41486"), `${seen}`);
  const end = await app.toEnd();
  assert.deepEqual(end.store.items, {}, "both pods were deleted");
  assert.equal(end.reflector.lastSyncResourceVersion, "41491");
}));

test("a file chosen by the button plays, and can be chosen again", onPage({}, async (app) => {
  const choose = async (...paths) => {
    const chooser = app.page.waitForEvent("filechooser");
    await app.id("btn-open").click();
    await (await chooser).setFiles(paths);
  };
  for (let times = 0; times < 2; times += 1) {
    await app.call("load", "deltafifo");
    await choose(LIST, WATCH_AFTER_LIST);
    await app.eventually("the files are open", (s) => s.lesson !== "deltafifo" || s.error);
    const end = await app.toEnd();
    assert.equal(end.error, null);
    assert.deepEqual(end.store.items, { "default/nettool": "41627", "default/web-0": "41572" });
  }
}));

test("a list and a watch dropped together play as one", onPage({}, async (app) => {
  // In either order: a file manager guarantees none.
  for (const files of [[LIST, WATCH_AFTER_LIST], [WATCH_AFTER_LIST, LIST]]) {
    await app.call("load", "deltafifo");
    await app.drop(...files);
    await app.eventually("the files are open", (s) => s.lesson !== "deltafifo" || s.error);
    const end = await app.toEnd();
    assert.equal(end.error, null);
    assert.deepEqual(end.store.items, { "default/nettool": "41627", "default/web-0": "41572" });
    assert.equal(end.reflector.lastSyncResourceVersion, "41636");
    const seen = await stored(app);
    assert.ok(seen.includes("default/via-proxy@41583"), `${seen}`);
  }
}));

test("openText opens the same", onPage({}, async (app) => {
  await app.call("openText", "pods.json", await readFile(LIST, "utf8"));
  const end = await app.toEnd();
  assert.equal(end.error, null);
  assert.deepEqual(end.store.items, { "default/nettool": "41571", "default/web-0": "41572" });
}));

test("a bad line in the middle names its line; what came before plays", onPage({}, async (app) => {
  const lines = (await readFile(WATCH, "utf8")).split("\n");
  lines[4] = lines[4].slice(0, 100);
  await app.drop(await made("spoiled.json", lines.join("\n")));
  const state = await app.eventually("the error", (s) => s.error);
  assert.equal(state.error.line, 5);
  assert.ok(state.error.message.length > 10, state.error.message);
  const alert = app.id("error");
  assert.ok(await alert.isVisible());
  assert.equal(await alert.getAttribute("role"), "alert");
  assert.ok((await alert.innerText()).includes("5"), "the line is on screen");
  const end = await app.toEnd();
  assert.deepEqual(end.store.items, { "default/nettool": "41478" });
}));

for (const [what, make, words] of [
  ["a gzipped list", () => transcript("list-gzip"), /gzip|compress/i],
  ["a Table", () => transcript("list-table"), /Table/],
  ["a Status", () => transcript("error-401"), /Status|Unauthorized|401/],
  ["an empty file", () => made("empty.json", ""), /empty/i],
  ["a text", () => made("notes.txt", "Ceci n’est pas un pod\n"), /JSON/i],
  ["something else in JSON", () => made("package.json", '{"name":"x","version":"1.0.0"}\n'), /./],
  ["binary rubbish", () => made("rubbish.bin", Buffer.from([0, 255, 254, 0, 1, 2, 192, 128])), /./],
]) {
  test(`${what} is refused in words, and what was open stays`, onPage({ lesson: "deltafifo" }, async (app) => {
    await app.call("seek", 3);
    const before = await app.state();
    await app.drop(await make());
    const state = await app.eventually("the error", (s) => s.error);
    assert.match(state.error.message, words);
    assert.ok(await app.id("error").isVisible());
    assert.deepEqual({ ...state, error: null }, before);
    await app.call("step", 1);
    assert.equal((await app.state()).step, 4, "it can still be stepped");
  }));
}

test("a watch that ends in 410 plays up to it", onPage({ lesson: "deltafifo" }, async (app) => {
  const watch = await readFile(WATCH, "utf8");
  const gone = await readFile(recorded("watch-410"), "utf8");
  const lines = watch.split("\n").slice(0, 3).join("\n");
  await app.drop(await made("gone.json", `${lines}\n${gone}`));
  await app.eventually("it is open", (s) => s.error || s.lesson !== "deltafifo");
  const end = await app.toEnd();
  assert.deepEqual(end.store.items, { "default/nettool": "41477" });
}));
