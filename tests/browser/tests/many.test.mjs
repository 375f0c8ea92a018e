// Ten thousand objects: cells instead of tokens, and one object that is followed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";
import { listOf, watchOf } from "../many.mjs";

const { onPage } = suite();
const OBJECTS = 10_000;
const PATIENCE_MS = 90_000;

const openMany = async (app) => {
  const choosing = app.page.waitForEvent("filechooser");
  await app.id("btn-open").click();
  const file = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });
  await (await choosing).setFiles([file("list.json", listOf(OBJECTS)), file("watch.json", watchOf(OBJECTS, 40))]);
  await app.page.waitForFunction(
    (count) => Object.keys(window.deltascope.getState().api.objects).length === count,
    OBJECTS,
    { timeout: PATIENCE_MS },
  );
};

/** The colour in the middle of an object's cell. */
const colourOf = (app, field, key) =>
  app.page.evaluate(
    ([field, key]) => {
      const cell = document.querySelector(`[data-testid=density-${field}] [data-anchor$="/${key}"]`);
      const canvas = cell.parentElement.querySelector("canvas");
      const [at, over] = [cell.getBoundingClientRect(), canvas.getBoundingClientRect()];
      const scale = canvas.width / over.width;
      const middle = (a, b, size) => Math.floor((a - b + size / 2) * scale);
      const pen = canvas.getContext("2d");
      const [x, y] = [middle(at.x, over.x, at.width), middle(at.y, over.y, at.height)];
      return [...pen.getImageData(x, y, 1, 1).data].join();
    },
    [field, key],
  );

test("one of ten thousand objects is found, followed and seen to change", onPage({}, async (app) => {
  await openMany(app);
  const objects = app.id("density-objects");
  assert.match(await objects.getAttribute("aria-label"), /10000 not stored yet/);
  assert.equal(await app.id("api-object").count(), 0, "there is no token");

  // By a click on some cell, which selects its object.
  const box = await objects.boundingBox();
  await app.page.mouse.click(box.x + box.width / 2, box.y + box.height / 4);
  const clicked = (await app.state()).selection;
  assert.match(clicked.anchor, /^api\/object\/team-\d\/app-/);
  await app.id("btn-follow").click();
  assert.equal((await app.state()).following, clicked.key);

  // By the keyboard: the next cell.
  await objects.focus();
  await app.page.keyboard.press("Home");
  await app.page.keyboard.press("ArrowRight");
  await app.page.keyboard.press("ArrowDown");
  const told = await app.page.evaluate(() => {
    const id = document.activeElement.getAttribute("aria-activedescendant");
    return document.getElementById(id).getAttribute("aria-label");
  });
  await app.page.keyboard.press("Enter");
  const { selection: chosen, step } = await app.state();
  assert.notEqual(chosen.key, clicked.key);
  assert.ok(told.startsWith(`${chosen.key} · rv `), told);
  assert.equal(step, 0, "the arrows did not step");

  // By name: the object that the watch changes first.
  const first = "team-0/app-0-00000";
  await app.id("density-find").first().fill("app-0-00000");
  await app.id("density-find").first().press("Enter");
  const found = await app.state();
  assert.deepEqual([found.following, found.selection.key], [first, first]);

  const isNew = await colourOf(app, "objects", first);
  await app.call("runUntil", `key=${first} fact=ItemStored`);
  const alike = await colourOf(app, "objects", first);
  assert.notEqual(alike, isNew, "it is stored");
  await app.call("runUntil", `key=${first} fact=EventSent`);
  const older = await colourOf(app, "objects", first);
  assert.notEqual(older, alike, "the server has a newer one");
  assert.equal(await colourOf(app, "items", first), older, "the Indexer's cell says the same");
  // Going back and forth shows the same.
  await app.call("step", -1);
  assert.equal(await colourOf(app, "objects", first), alike);
  await app.call("step", 1);
  assert.equal(await colourOf(app, "objects", first), older);
}));

test("a flight ends at a cell", onPage({ motion: true }, async (app) => {
  await openMany(app);
  await app.call("seek", 5_000);
  await app.call("runUntil", "fact=ItemStored");
  await app.call("step", -1);
  await app.page.clock.install();
  await app.page.clock.pauseAt(Date.now() + 1000);
  const settled = app.call("step", 1);
  await app.page.clock.runFor(100);
  const { flying, lit } = await app.page.evaluate(() => ({
    flying: document.querySelectorAll("#motion .fly").length,
    lit: document.querySelectorAll("[data-testid=density-items] .spot.lit").length,
  }));
  assert.ok(flying > 0, "something travels");
  assert.equal(lit, 1, "to the cell of the item");
  await app.page.clock.resume();
  await settled;
}));
