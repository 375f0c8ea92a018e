// What a browser may refuse: WebAssembly, newer formats, storage, time. The page says so, or goes on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IS_SPLIT, suite } from "../harness.mjs";
import { hosts, page } from "../hosts.mjs";

const { onPage } = suite();
const onHost = hosts();

/** A module of a format that no browser knows yet: its last section has no such number. */
const NEWER = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0x70, 1, 0]);
const withoutWasm = (target) => target.addInitScript(() => delete globalThis.WebAssembly);
const withProgram = (program) => (target) => target.route("**/*_bg.wasm*", (route) => route.fulfill({ contentType: "application/wasm", body: program }));
const withNewer = withProgram(NEWER);
/** What a browser says that does not know what the program needs. */
const inOld = async (target) => {
  await target.addInitScript(() => (WebAssembly.validate = () => false));
  await withNewer(target);
};
/** The page of a network that wants a password first, for each file. */
const behindPortal = withProgram("<!doctype html><title>Sign in</title>");
const withPiece = withProgram(Buffer.concat([NEWER.subarray(0, 8), Buffer.from([1, 9, 1])]));
/** The memory that the program asks for is not there. */
const withoutRoom = (target) => target.addInitScript(() => {
  WebAssembly.instantiateStreaming = WebAssembly.instantiate = async () => {
    throw new RangeError("could not allocate memory");
  };
});
const withPolicy = (target) =>
  target.route("**/*.html", async (route) => {
    const response = await route.fetch();
    // A debug build has its start script in the page.
    await route.fulfill({ response, headers: { ...response.headers(), "content-security-policy": "script-src 'self' 'unsafe-inline'" } });
  });

for (const [what, refuse, en, zh] of [
  ["WebAssembly is switched off", withoutWasm, /has no WebAssembly, or it is switched off/, /没有 WebAssembly/],
  ["the policy refuses WebAssembly", withPolicy, /'wasm-unsafe-eval' to its script-src/, /script-src 中加入 'wasm-unsafe-eval'/],
  ["something else came in place of the program", behindPortal, /could not be loaded \(.*\)\. Check the connection/, /请检查网络连接/],
  ["only a piece of the program came", withPiece, /could not be loaded \(.*\)\. Check the connection/, /请检查网络连接/],
  ["there is no memory", withoutRoom, /no memory for the program \(could not allocate memory\)/, /没有足够的内存/],
  ["the browser is too old", inOld, /too old for the program \(.*\)\. Use a current version/, /版本太旧/],
]) {
  const provokes = /WebAssembly|wasm|Policy/i;
  for (const [lang, words] of [["en", en], ["zh", zh]]) {
    test(`the page says that ${what}: ${lang}`, onPage({ lang, provokes }, async (app) => {
      const other = await app.context.newPage();
      await refuse(other);
      await other.goto(`${app.url}index.html`);
      const dialog = other.getByTestId("rescue");
      await dialog.waitFor();
      assert.match(await dialog.innerText(), words);
      assert.ok(await dialog.getByTestId("rescue-again").isVisible());
    }));
  }

  const ONE = `<delta-scope id="a" lesson="tombstone" load="eager" lang="zh"></delta-scope>`;
  test(`an element says that ${what}`, onHost({ "index.html": page("") }, { provokes }, async (host) => {
    const other = await host.page.context().newPage();
    await refuse(other);
    await other.goto(`${host.url}index.html`);
    await other.evaluate((one) => (document.body.innerHTML = one), ONE);
    const alert = other.locator("#a [role=alert]");
    await alert.waitFor();
    assert.match(await alert.innerText(), zh);
    assert.ok(await alert.getByRole("button").isVisible(), "it offers another try");
  }));
}

test("a browser without dialogs shows the message in the page", onPage({ provokes: /wasm|WebAssembly/ }, async (app) => {
  const other = await app.context.newPage();
  await other.addInitScript(() => delete HTMLDialogElement.prototype.showModal);
  await withNewer(other);
  await other.goto(app.url);
  await other.getByTestId("rescue-again").waitFor();
}));

for (const [what, block] of [
  ["full", () => (Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); })],
  ["blocked", () => Object.defineProperty(globalThis, "localStorage", { get: () => { throw new DOMException("blocked", "SecurityError"); } })],
]) {
  test(`a page whose storage is ${what} works, and says what it cannot keep`, onPage({}, async (app) => {
    const other = await app.context.newPage();
    await app.id("btn-lessons").click();
    const kept = (of) => of.locator(".shelf-foot .kept");
    await kept(app.page).waitFor();
    assert.match(await kept(app.page).innerText(), /stays in this browser/);
    await other.addInitScript(block);
    await other.goto(app.url);
    await other.waitForFunction(() => globalThis.deltascope?.drawn.then(() => true));
    await other.evaluate(async () => {
      await deltascope.drawn;
      await deltascope.load("tombstone");
      await deltascope.scene(1);
    });
    await other.getByTestId("btn-lessons").click();
    await kept(other).waitFor();
    assert.match(await kept(other).innerText(), /cannot keep your progress.*lost with this tab/);
    const { lessonProgress } = await other.evaluate(() => deltascope.getState());
    assert.ok(lessonProgress.tombstone.opened, "until the tab is closed");
  }));
}

test("a tab that was frozen for an hour goes on where it was", onPage({ clock: true, motion: true }, async (app) => {
  await app.call("load", "sandbox");
  await app.id("btn-play").click();
  await app.page.clock.runFor(10_000);
  const before = await app.state();
  assert.ok(before.playing && before.step > 0, JSON.stringify(before.step));
  // The timers that were due fire once each, as in a laptop that has slept.
  await app.page.clock.fastForward(3_600_000);
  const after = await app.state();
  assert.ok(after.time - before.time < 60_000, `${after.time - before.time} ms of the run's time passed`);
  await app.page.clock.runFor(10_000);
  const later = await app.state();
  assert.ok(later.step > after.step, "it plays on");
  assert.deepEqual(later.violations ?? [], before.violations ?? []);
}));

test("an element without the rest of the program says so, and is shown at the next try", { skip: IS_SPLIT ? false : "this build is not split" }, onHost({ "index.html": page("") }, { provokes: /rest|Failed|503/ }, async (host) => {
  const other = await host.page.context().newPage();
  await other.route(/-rest\./, (route) => route.abort());
  await other.goto(`${host.url}index.html`);
  await other.evaluate(() => (document.body.innerHTML = `<delta-scope id="a" lesson="tombstone" load="eager" lang="zh"></delta-scope>`));
  const alert = other.locator("#a [role=alert]");
  await alert.waitFor();
  assert.match(await alert.innerText(), /页面的一部分没有加载成功/);
  await other.unroute(/-rest\./);
  await alert.getByRole("button").click();
  await other.waitForFunction(() => document.querySelector("#a").getState()?.lesson === "tombstone");
}));
