// Two runs side by side, and the violations of invariants.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { DESKTOP, LAPTOP, PHONE, suite } from "../harness.mjs";

const { onPage } = suite();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A line of a room on both sides; holes as "–", and a ≠ where the sides differ. */
const line = (app, room, label) =>
  app.page.evaluate(
    ([room, label]) => {
      const rows = [...document.querySelectorAll(`[data-room="${room}"] [role="row"]`)];
      const row = rows.find((one) => one.querySelector('[role="rowheader"]').textContent === label);
      const chip = (one) => {
        const text = one.innerText.replace(/\s+/g, " ").trim();
        return one.classList.contains("differs") ? `≠ ${text}` : text;
      };
      return [...row.querySelectorAll('[role="cell"]')].map((cell) =>
        [...cell.querySelectorAll(".c")].map(chip),
      );
    },
    [room, label],
  );
const differs = (app, room) =>
  app.page.locator(`[data-room="${room}"]`).getAttribute("data-differs").then(Number);

test("a relist in two generations: deltas in one, a crate in the other", onPage({ lesson: "tombstone" }, async (app) => {
  await app.call("seek", "waits");
  await app.id("btn-share").click();
  await app.id("drawer").waitFor();
  await app.id("btn-compare").click();
  await app.id("compare").waitFor();
  assert.equal(await app.id("drawer").count(), 0, "both runs need its room");
  assert.equal((await app.state()).comparison.with, "1.36");
  assert.deepEqual(await line(app, "queue", "queued, next first"), [
    ["≠ a 2", "≠ c 6", "≠ b 3 ?"],
    ["≠ ReplacedAll 7 a 2 c 6"],
  ]);
  assert.deepEqual(await line(app, "api", "objects"), [["a 2", "b 5", "c 6"], ["a 2", "b 5", "c 6"]]);
  assert.equal(await differs(app, "store"), 0);
  // The drawer beside them is narrow and high: one column.
  await app.id("btn-why").click();
  const widths = await app.page.evaluate(() => [".of-why", ".chain li"].map((one) => document.querySelector(one).clientWidth));
  assert.ok(widths[1] > 0.8 * widths[0], `the chain is ${widths} px wide`);
  await app.id("drawer-close").click();
  // Both sides share the cursor: after a Pop on both, the stores differ.
  await app.id("btn-next-marker").click();
  assert.deepEqual(await line(app, "store", "items"), [
    ["a 2", "≠ b 3", "≠ c 4"],
    ["a 2", "–", "≠ c 6"],
  ]);
  assert.deepEqual((await line(app, "output", "lines")).map((lines) => lines.slice(3)), [
    ["≠ OnUpdate: a", "–"],
    ["–", "≠ OnDelete: DeletedFinalStateUnknown{b}"],
  ]);
  // At the end both have stored the same objects, but notified handlers in another order.
  const { comparison } = await app.toEnd();
  assert.deepEqual(comparison.summary.stored, [2, 2]);
  assert.deepEqual(comparison.summary.printer, [[3, 2, 1], [3, 2, 1]]);
  const pops = app.page.locator('[data-metric="pops"]');
  assert.deepEqual(await pops.locator("dd").allInnerTexts(), ["6", "2"]);
  assert.match(await pops.getAttribute("class"), /differs/);
  // What differs now and what both have come to are counted apart.
  assert.match(await app.page.locator(".cmp-count").innerText(), /^≠ \d+ differences? now · \d+ totals differ$/);
  assert.match(await app.page.locator('[data-metric="printer"]').getAttribute("title"), /OnAdd.*OnUpdate.*OnDelete/);
  // With another run, and with none.
  await app.id("compare-with").selectOption("pageSize=1");
  await app.eventually("pages", (s) => s.comparison.with === "pageSize=1" && s.comparison.differs.store === 0);
  await app.page.locator("body").press("Escape");
  await app.eventually("alone", (s) => s.comparison === null);
  assert.ok(await app.page.locator(".grid").isVisible());
}));

test("both fit on a laptop and a phone, also in Chinese", onPage({ lang: "zh", viewport: PHONE, lesson: "tombstone" }, async (app) => {
  await app.call("seek", "half-told");
  await app.call("compare", "1.36");
  for (const viewport of [PHONE, LAPTOP]) {
    await app.resize(viewport);
    const wide = await app.page.evaluate(() => {
      const out = (one) => one.getBoundingClientRect().right > innerWidth + 1;
      const chips = [...document.querySelectorAll(".cmp-rooms .c, .cmp-head")];
      return { page: document.documentElement.scrollWidth > innerWidth, chips: chips.filter(out).length };
    });
    assert.deepEqual(wide, { page: false, chips: 0 }, JSON.stringify(viewport));
  }
  assert.match(await app.id("compare").innerText(), /处不同/);
}));

test("a violation is on the timeline, and explained", onPage({ lesson: "reflector" }, async (app) => {
  const mark = app.id("violation");
  assert.equal(await mark.count(), 1);
  assert.match(await mark.getAttribute("title"), /The delete of default\/nettool is lost.*KnownObjects/);
  await mark.click();
  const [lost] = (await app.state()).violations;
  await app.eventually("there", (s) => s.step === lost.at);
  await app.call("seek", 0);
  // The mark on the timeline has opened its explanation.
  const row = app.id("checks").locator('[data-monitor="lost"]');
  assert.match(await row.innerText(), /no KnownObjects to ask/);
  assert.match(await row.getAttribute("class"), /known/);
  await row.locator("[data-at]").click();
  await app.eventually("there again", (s) => s.step === lost.at);
  // With KnownObjects the deletion is kept, so one side has three lines fewer.
  await app.call("compare", "knownObjects=on");
  const { comparison } = await app.toEnd();
  assert.deepEqual(comparison.violations, []);
  // Which check it is, and the way to it.
  await app.id("drawer-close").click();
  await app.page.locator('[data-metric="broken"] button', { hasText: "Checks broken: No change is lost" }).click();
  await app.id("checks").waitFor();
  assert.deepEqual((await line(app, "output", "lines")).map((lines) => lines.at(-1)), [
    "–",
    "≠ Deleted : nettool : Running",
  ]);
}));

for (const [other, viewport] of [["1.36", DESKTOP], ["1.36", PHONE], ["race", DESKTOP], ["race", PHONE]]) {
  test(`axe finds nothing beside a comparison with ${other} at ${viewport.width}`, onPage({ viewport, lesson: "tombstone" }, async (app) => {
    await app.call("seek", "half-told");
    await app.call("compare", other);
    if (viewport === DESKTOP) await app.id("btn-checks").click();
    await app.page.evaluate(axe);
    for (const theme of ["light", "dark"]) {
      await app.theme(theme);
      // Wait for transitions: a colour in between is neither of the two.
      await app.page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished.catch(() => {}))));
      const found = await app.page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
        const html = ({ nodes }) => nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.failureSummary}`);
        return violations.map((one) => [one.id, html(one)]);
      });
      assert.deepEqual(found, [], theme);
    }
  }));
}
