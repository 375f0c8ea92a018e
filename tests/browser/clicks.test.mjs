// What each control, key and method runs until it asks for what is seldom needed, on a page of its own: from then on the page has all, and
// nothing that comes after is noticed (marks.mjs). See visit.test.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, PHONE, SELDOM, suite } from "./harness.mjs";

/** Places of the page, each with what leads there. */
const PLACES = {
  "the microscope": (app) => app.call("load", "sandbox").then(() => app.call("seek", 60)),
  "a run whose check fails": (app) => app.call("load", "reflector").then(() => app.call("seek", 1e6)),
  "a story's question": (app) => app.call("load", "tombstone").then(() => app.call("scene", 2)),
  "a story's goal": (app) => app.call("load", "first-look").then(() => app.call("scene", 7)),
  "the lessons": (app) => app.page.evaluate(() => (location.hash = "#v1;shelf;course=short")).then(() => app.id("shelf").waitFor()),
};
const CLICKABLE = "button:visible, a:visible, summary:visible, [data-anchor]:visible, select:visible, [role=slider]:visible";
const KEYS = [..."abcdefghijklmnopqrstuvwxyz[]?/.,", "Escape", "Enter", "Home", "End", "PageUp", "ArrowLeft", "Shift+ArrowRight"];
// The dialog of a cluster asks whether one answers here.
const ASKS = /\/version/;
const { onPage } = suite();
const newcomer = true;

test("every method that needs more, until that is asked for", onPage({ newcomer }, more));
for (const look of [{ viewport: DESKTOP }, { viewport: PHONE, lang: "zh" }]) {
  for (const [where, go] of Object.entries(PLACES)) {
    test(`everything that can be clicked in ${where} at ${look.viewport.width} px, on a page of its own`, onPage({ newcomer, ...look, provokes: ASKS }, (app) => clicks(app, go)));
  }
}
test("all tools, each on a page of its own", onPage({ provokes: ASKS }, (app) => clicks(app, PLACES["the microscope"])));
test("without what is seldom needed, what asks for it says so", onPage({ newcomer, provokes: /ERR_FAILED|Failed to fetch/ }, without));
test("every key, on a page of its own", onPage({ newcomer }, keys));

/** Those of `SELDOM_CALLS`: what they run before they ask for more. */
async function more(app) {
  const calls = { runUntil: ["call=OnAdd"], playUntil: ["x"], breakAt: ["call=OnAdd"], select: ["store/item"], openText: ["a.json", "{}"], smallest: [], fork: [], switchTo: [1], compare: ["1.36"], connect: [] };
  for (const [name, given] of Object.entries(calls)) {
    await app.reload();
    const asked = app.page.waitForRequest(SELDOM);
    await app.page.evaluate(([name, given]) => void window.deltascope[name](...given), [name, given]);
    await asked;
  }
}

/** What names a control among those that do the same. */
const named = (app) =>
  app.page.locator(CLICKABLE).evaluateAll((all) =>
    all.map((one) => {
      const { testid = "", anchor = "" } = one.dataset;
      const anchors = anchor.split("/").slice(0, 2).join("/");
      return [one.localName, testid.replace(/^card-.*/, "card"), anchors, testid || anchor ? "" : one.className].join(" ");
    }),
  );

async function clicks(app, go) {
  await go(app);
  const names = new Set(await named(app));
  assert.ok(names.size > 10, [...names].join(", "));
  app.page.on("filechooser", () => {});
  for (const name of names) {
    // It has not come to what is asked for by the one before.
    await app.page.goto("about:blank");
    await app.page.goto(app.url);
    await app.drawn();
    await go(app);
    const at = (await named(app)).indexOf(name);
    if (at < 0) continue;
    await app.page.locator(CLICKABLE).nth(at).click({ timeout: 1000, force: true }).catch(() => {});
    await app.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
  }
}

async function without(app) {
  await app.page.route(SELDOM, (route) => route.abort());
  const asks = {
    compares: () => app.page.evaluate(() => void window.deltascope.compare("1.36")),
    connects: () => app.page.evaluate(() => void window.deltascope.connect()),
    exports: () => app.page.evaluate(async () => {
      await window.deltascope.ready;
      window.deltascope.getUrl();
      await window.deltascope.compare("1.36");
    }),
    "shares as it plays": () => app.id("btn-play").click().then(() => app.id("btn-share").click()),
    "opens the dialog": () => app.id("btn-cluster").click(),
    "asks why": () => app.page.locator("[data-anchor^='store/']").first().click(),
  };
  for (const ask of Object.values(asks)) {
    await app.reload();
    await app.call("load", "sandbox");
    await app.call("seek", 60);
    await ask();
    const said = app.id("error").filter({ hasText: "could not be loaded" });
    await said.waitFor();
    await app.call("step", 1);
    await app.page.keyboard.press("Escape");
    await app.page.keyboard.press("Escape");
  }
}

async function keys(app) {
  for (const key of KEYS) {
    await app.reload();
    await app.call("load", "sandbox");
    await app.call("seek", 40);
    await app.page.keyboard.press(key);
    await app.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
  }
}
