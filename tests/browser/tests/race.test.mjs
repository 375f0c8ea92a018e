// The four generations in place of the stage: on the page, in an element, in a frame.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LAPTOP, PHONE, suite } from "../harness.mjs";
import { hosts, page } from "../hosts.mjs";

const { onPage } = suite();
const onHost = hosts();
const html = (body) => ({ "index.html": page(body) });
const RACE = '<delta-scope lesson="tombstone" at="waits" mode="race" load="eager">';

/** The things of each cell of a lane; holes as "–", and a ≠ before a cell that differs. */
const lane = (app, era) =>
  app.page.locator(`.race-lane[data-era="${era}"] .lane-cell`).evaluateAll((cells) =>
    cells.map((cell) => {
      const things = [...cell.querySelectorAll(".c")].map((one) => one.innerText.replace(/\s+/g, " ").trim());
      return (cell.querySelector(".not") ? "≠ " : "") + things.join(", ");
    }),
  );

test("what one Pop of a DeltaFIFO takes together holds together, and a RealFIFO's deltas stand alone", onPage({ lesson: "first-look" }, async (app) => {
  await app.call("seek", 0);
  for (let n = 0; n < 3; n += 1) await app.call("runUntil", "fact=DeltaAppended");
  await app.id("btn-compare").click();
  const joined = (where) => app.page.locator(`${where} .c.joined`).count();
  await app.id("compare-with").selectOption("race");
  await app.eventually("three deltas wait", (s) => s.comparison?.with === "race");
  await app.page.locator(".race-lane .c").first().waitFor();
  assert.deepEqual([await joined(".race-lane[data-era='1.32']"), await joined(".race-lane[data-era='1.34']")], [2, 0]);
  const queues = await app.page.locator(".lane-cell:first-of-type > .cmp-label").allInnerTexts();
  assert.deepEqual(queues.map((label) => label.replace("≠", "").trim()), [
    "DeltaFIFO · one Pop takes all of a key",
    "RealFIFO · one Pop takes one",
    "RealFIFO · one Pop takes several, one per key",
    "RealFIFO · one Pop takes several, one per key, or a list",
  ]);
}));

test("playing stops where lanes part and says what the handler knows, and a click opens a lane", onPage({ lesson: "tombstone" }, async (app) => {
  await app.call("seek", 0);
  await app.id("btn-compare").click();
  await app.id("compare-with").selectOption("race");
  await app.id("race").waitFor();
  // It begins where they part.
  await app.eventually("the first parting", (s) => s.time === 4550 && s.comparison.parts);
  const partings = () => app.id("partings").textContent();
  assert.match(await partings(), /^parting 1 of \d$/);
  await app.call("seek", 0);
  assert.match(await partings(), /^\d partings$/);
  const parting = async (time) => {
    await app.id("btn-play").click();
    await app.eventually(`parts at ${time}`, (s) => s.time === time && !s.playing && s.comparison.parts);
  };
  await parting(4550);
  const said = app.id("race-said");
  assert.match(await said.innerText(), /They part here\. Queue: in 0\.32, 0\.34 and 0\.35 it holds 3 deltas; in 0\.36 it holds one entry for the whole list\./);
  assert.equal(await said.getAttribute("aria-live"), "polite");
  assert.deepEqual(await lane(app, "1.36"), ["≠ ReplacedAll 7 a 2 c 6", "a 2, b 3, c 4", "a 2, b 3, c 4, last c 4"]);
  await parting(6900);
  assert.match(await said.innerText(), /in 0\.32 it knows b \(rv 3\); in 0\.34, 0\.35 and 0\.36 it was called for the delete of b/);
  assert.deepEqual(await lane(app, "1.32"), ["≠ c 6, b 3 ?", "≠ a 2, b 3, c 4", "≠ a 2, b 3, c 4, last a 2→2"]);
  assert.deepEqual(await lane(app, "1.36"), ["empty", "a 2, –, c 6", "a 2, b 3, c 4, last b 3 ?"]);
  // By keys and by buttons.
  await app.page.locator("body").press("Shift+ArrowLeft");
  await app.eventually("back", (s) => s.time === 4550);
  await app.id("next-parting").click();
  await app.eventually("on", (s) => s.time === 6900);
  const { lanes } = (await app.state()).comparison;
  // In the header, another generation is another lane.
  await app.id("era-1.34").click();
  await app.eventually("another lane", (s) => s.era === "1.34" && s.time === 6900 && s.comparison?.with === "race");
  // A lane keeps the focus while what it shows changes.
  await app.id("lane-1.36").focus();
  for (const [key, time] of [["ArrowLeft", 4550], ["ArrowRight", 6900]]) {
    await app.page.keyboard.press(`Shift+${key}`);
    await app.eventually(key, (s) => s.time === time);
  }
  await app.page.keyboard.press("Enter");
  const opened = await app.eventually("opened", (s) => s.comparison === null && s.era === "1.36");
  assert.equal(opened.step, lanes[3].step);
  assert.ok(await app.page.locator(".grid").isVisible());
  assert.ok(await app.id("strip").isVisible());
  // Two commands, and one trail.
  await app.call("compare", "race");
  await app.call("seek", 0);
  await app.page.locator("body").press("ArrowRight");
  await app.id("lane-1.32").click();
  const trail = app.page.locator("#motion .trail");
  await trail.first().waitFor({ state: "attached" });
  assert.equal(await trail.count(), 1);
}));

test("lanes fit on a laptop and a phone, also in Chinese", onPage({ lang: "zh", viewport: PHONE, lesson: "tombstone" }, async (app) => {
  await app.call("seek", "waits");
  await app.call("compare", "race");
  for (const viewport of [PHONE, LAPTOP]) {
    await app.resize(viewport);
    await app.page.locator("body").press("Shift+ArrowRight");
    const wide = await app.page.evaluate(() => {
      const out = (one) => one.getBoundingClientRect().right > innerWidth + 1;
      const shown = [...document.querySelectorAll(".race-lane .c, .race-lane, .race-said")];
      const tabs = document.querySelector(".room-nav");
      return { page: document.documentElement.scrollWidth > innerWidth, out: shown.filter(out).length, tabs: !!tabs?.offsetHeight };
    });
    assert.deepEqual(wide, { page: false, out: 0, tabs: false }, JSON.stringify(viewport));
  }
  assert.match(await app.id("race-said").innerText(), /handler printer/);
}));

test("an element begins with a race, and another mode ends it", onHost(html(`${RACE}</delta-scope>`), async (host) => {
  await host.ready();
  const state = (what) => host.until(`(${what})(document.querySelector("delta-scope").getState())`);
  assert.equal((await host.state()).comparison.parts, true);
  assert.match(await host.call("exportSvg"), /0\.34.*0\.35.*one entry for/s);
  await host.page.getByTestId("next-parting").click();
  await state("(s) => s.time === 6900");
  // Another generation of the run is another lane of the race.
  await host.look('(element) => element.setAttribute("era", "1.36")');
  await state('(s) => s.era === "1.36"');
  const { comparison, time } = await host.state();
  assert.deepEqual([time, comparison?.parts], [6900, true]);
  await host.look('(element) => element.setAttribute("mode", "explore")');
  await state("(s) => s.comparison === null");
}));

test("beside a text it is a race without rooms, and scrolls", onHost(html(`<div style="width: 350px">${RACE}</delta-scope></div>`), async (host) => {
  await host.ready();
  const { rooms, scrolls } = await host.look(`(element) => {
    const find = (selector) => [...element.shadowRoot.querySelectorAll(selector)];
    const [cmp] = find(".cmp");
    return { rooms: find(".room").filter((room) => room.offsetHeight > 0).length, scrolls: cmp.scrollHeight > cmp.clientHeight && getComputedStyle(cmp).overflowY };
  }`);
  assert.deepEqual([rooms, scrolls], [0, "auto"]);
}));

test("a frame shows a race", onHost(html('<iframe src="deltascope/embed.html#v1;lesson=tombstone;at=waits;mode=race" width="900" height="600"></iframe>'), async (host) => {
  const said = host.page.frameLocator("iframe").getByTestId("race-said");
  await said.filter({ hasText: "one entry for the whole list" }).waitFor();
}));
