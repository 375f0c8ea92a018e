// The parts of a released program that come later: what is opened without them, and what is said if they do not come.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DIST, IS_SPLIT, PART, launch } from "../harness.mjs";
import { serve } from "../server.mjs";

const skip = IS_SPLIT ? false : "this build is not split";
let browser;
let server;
before(async () => {
  server = await serve(DIST);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** The page with its first picture, and a switch that lets the parts come. */
async function withoutParts(t, { hash = "", firstVisit = false } = {}) {
  const context = await browser.newContext({ locale: "en-US" });
  t.after(() => context.close());
  if (!firstVisit) {
    await context.addInitScript(() => {
      localStorage.setItem("deltascope.seen", "1");
      localStorage.setItem("deltascope.shelf", "off");
    });
  }
  const net = { isUp: false, asked: [] };
  await context.route(PART, (route) => {
    net.asked.push(route.request().url());
    return net.isUp ? route.continue() : route.abort();
  });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(server.url + hash);
  await page.waitForFunction(() => window.deltascope !== undefined);
  await page.evaluate(() => window.deltascope.ready);
  const said = page.getByTestId("error").filter({ hasText: "could not be loaded" });
  return { page, net, said, errors };
}

test("the first picture and its steps need no part", { skip }, async (t) => {
  const { page, errors } = await withoutParts(t, { firstVisit: true });
  await page.locator(".tale").waitFor();
  const step = () => page.evaluate(async () => {
    await deltascope.step(1);
    return deltascope.getState().step;
  });
  assert.equal((await step()) + 1, await step());
  assert.equal(await page.evaluate(() => deltascope.getUrl()), null, "no part, no link");
  assert.deepEqual(errors, []);
});

for (const [what, open, isOpen] of [
  ["the shelf", "btn-lessons", ".shelf"],
  ["the dialog of a cluster", "btn-cluster", "dialog.cluster[open]"],
]) {
  test(`a part that does not come is said, and fetched again when it is asked for: ${what}`, { skip }, async (t) => {
    const { page, net, said, errors } = await withoutParts(t);
    await page.getByTestId(open).click();
    await said.waitFor();
    assert.equal(await page.locator(isOpen).count(), 0);
    net.isUp = true;
    await page.getByTestId(open).click();
    await page.locator(isOpen).waitFor();
    assert.deepEqual(errors, []);
  });
}

test("a lesson whose part does not come leaves the run as it is, until it is opened again", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutParts(t);
  const load = (id) => page.evaluate(async (id) => {
    await deltascope.load(id);
    return deltascope.getState().lesson;
  }, id);
  const before = await load("sandbox");
  assert.equal(before, "sandbox", "this one comes with the page");
  assert.equal(await load("tombstone"), before);
  await said.waitFor();
  net.isUp = true;
  assert.equal(await load("tombstone"), "tombstone");
  assert.equal(await said.count(), 0);
  assert.deepEqual(errors, []);
});

test("a command whose part does not come leaves the run as it is, until it is given again", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutParts(t);
  const inject = (name) => page.evaluate(async (name) => {
    await deltascope.inject({ op: "create", object: { metadata: { namespace: "default", name } } });
    return Object.keys(deltascope.getState().api.objects).includes(`default/${name}`);
  }, name);
  assert.equal(await inject("mine"), false);
  await said.waitFor();
  assert.equal(await page.evaluate(async () => {
    const { step } = deltascope.getState();
    await deltascope.step(1);
    return deltascope.getState().step - step;
  }), 1, "a step needs no part");
  net.isUp = true;
  assert.equal(await inject("mine"), true);
  assert.equal(await said.count(), 0);
  assert.deepEqual(errors, []);
});

test("a link is opened once its part is there", { skip }, async (t) => {
  const { page, net, said } = await withoutParts(t, { hash: "#v1;lesson=tombstone" });
  await said.waitFor();
  net.isUp = true;
  await page.reload();
  await page.waitForFunction(() => window.deltascope !== undefined);
  assert.equal(await page.evaluate(async () => {
    await deltascope.ready;
    return deltascope.getState().lesson;
  }), "tombstone");
});
