// The program may die: out of memory, or of a panic. The page says so and keeps the run, and pending calls are
// rejected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFile } from "node:fs/promises";
import { suite } from "../harness.mjs";
import { hosts, page } from "../hosts.mjs";

const { onPage } = suite();
const onHost = hosts();

/** Uses up all memory. */
function exhaust(wasm) {
  for (let pages = 2 ** 14; pages >= 1; pages /= 2) {
    for (;;) {
      try {
        wasm.memory.grow(pages);
      } catch {
        break;
      }
    }
  }
}

/** Collects every copy that the program hands out. */
const overhear = () => {
  const keep = globalThis.deltascopeKeep;
  globalThis.kept = "";
  globalThis.deltascopeKeep = (text, isMore, isWhole) => {
    globalThis.kept = isMore ? globalThis.kept + text : text;
    keep(text, isMore, isWhole);
  };
};

/** Steps until memory runs out. The last call and all later ones fail with a message. */
const workOn = (act) =>
  act.page.evaluate(async () => {
    const said = [];
    for (let n = 0; n < 5_000 && said.length === 0; n += 1) {
      await deltascope.inject({ op: "create", object: { metadata: { namespace: "default", name: `pod-${n}` } } }).catch(({ message }) => said.push(message));
      if (said.length === 0) await deltascope.seek(1e9).catch(({ message }) => said.push(message));
    }
    for (const ask of [() => deltascope.step(1), () => deltascope.getState()]) {
      try {
        await ask();
        said.push("answered");
      } catch ({ message }) {
        said.push(message);
      }
    }
    return said;
  });

// Going on loads the page again, whatever of it is still being fetched.
// To say that it has ended may take more than is there.
const LEAVES = /ERR_ABORTED|the page waited for/;

for (const lang of ["en", "zh"]) {
  test(`a page whose program has died says so, keeps the run and can go on: ${lang}`, onPage({ lang, measured: true, provokes: LEAVES }, async (app) => {
    await app.call("load", "tombstone");
    await app.page.evaluate(overhear);
    await app.call("inject", { op: "create", object: { metadata: { namespace: "default", name: "mine" } } });
    await app.page.waitForFunction(() => kept.includes('"mine"'));
    const link = await app.call("getUrl");
    await app.page.evaluate((hash) => history.replaceState(null, "", hash), new URL(link).hash);

    await app.page.evaluate(`(${exhaust})(wasm)`);
    const said = await workOn(app);
    assert.deepEqual(said, Array(3).fill("The program has stopped: it ran out of memory."));

    const dialog = app.id("rescue");
    await dialog.waitFor();
    const words = await dialog.innerText();
    assert.match(words, lang === "zh" ? /程序已停止[^]*内存耗尽[^]*已保留/ : /has stopped[^]*out of memory[^]*is kept/);
    assert.equal(await dialog.locator("textarea").inputValue(), link);
    // Keys act nowhere else, and Esc does not close it.
    await app.page.keyboard.press("ArrowRight");
    await app.page.keyboard.press("Escape");
    assert.ok(await dialog.isVisible());

    const download = app.page.waitForEvent("download");
    await app.id("rescue-save").click();
    const file = await (await download).path();
    await app.id("rescue-again").click();
    await app.page.waitForURL((url) => url.hash === "");
    await app.drawn();
    assert.equal(await app.id("rescue").count(), 0);
    const text = await readFile(file, "utf8");
    await app.call("openText", "rescued.jsonl", text);
    const end = await app.toEnd();
    assert.deepEqual([end.error, end.lesson], [null, "tombstone"]);
    assert.ok("default/mine" in end.store.items, JSON.stringify(end.store.items));
  }));
}

/** Has what the program calls of the browser, and the program alone, fail from the `nth` time on, once a page: with an exception, of
    which the program makes a panic of its own, or with a trap, as where memory runs out in the middle. */
const fail = ({ of, name, how, nth = 1 }) => {
  if (sessionStorage.getItem("failed")) return;
  const { prototype } = globalThis[of];
  const real = prototype[name];
  prototype[name] = function (...given) {
    if (!/wasm/.test(new Error().stack) || --nth > 0) return real.apply(this, given);
    sessionStorage.setItem("failed", "1");
    throw how === "trap" ? new WebAssembly.RuntimeError("unreachable") : new Error("refused");
  };
};
const PANIC = /it met an error of its own \(panicked at src\/|it met an error of its own \(panicked at [^]*refused/;
const MEMORY = /it ran out of memory/;

/** The message is there once, the recording is kept, and the way on leads to a page that works. */
async function rescued(app, why, { keeps = true } = {}) {
  const dialog = app.id("rescue");
  await dialog.waitFor();
  assert.match(await dialog.innerText(), why);
  assert.equal(await dialog.count(), 1);
  if (keeps) {
    const download = app.page.waitForEvent("download");
    await app.id("rescue-save").click();
    const text = await readFile(await (await download).path(), "utf8");
    assert.ok(text.includes('"mine"'), text.slice(0, 400));
  }
  await app.id("rescue-again").click();
  await dialog.waitFor({ state: "detached" });
  await app.drawn();
  const { step } = await app.state();
  await app.call("step", 1);
  assert.equal((await app.state()).step, step + 1);
}

const mine = { op: "create", object: { metadata: { namespace: "default", name: "mine" } } };
const answer = (app, name, ...given) =>
  app.page.evaluate(([name, given]) => deltascope[name](...given).then(() => "answered", ({ message }) => message), [name, given]);

for (const [when, how, why, options, act] of [
  ["in the middle of a command", { of: "Node", name: "cloneNode", how: "panic" }, PANIC, {}, (app) => answer(app, "load", "tombstone")],
  ["in the middle of a command", { of: "Document", name: "createTextNode", how: "trap" }, MEMORY, {}, (app) => answer(app, "load", "tombstone")],
  ["as a motion begins", { of: "Element", name: "animate", how: "trap", nth: 2 }, MEMORY, { motion: true }, (app) => answer(app, "step", 1)],
  ["as it measures", { of: "Element", name: "getBoundingClientRect", how: "trap", nth: 3 }, MEMORY, { motion: true }, (app) => answer(app, "step", 1)],
]) {
  test(`a program that stops ${when} (${how.how}) says so, keeps the run and can go on`, onPage({ ...options, measured: true, provokes: LEAVES }, async (app) => {
    await app.page.evaluate(overhear);
    await app.call("inject", mine);
    await app.page.waitForFunction(() => kept.includes('"mine"'));
    await app.page.evaluate(`(${fail})(${JSON.stringify(how)})`);
    const said = await act(app);
    assert.match(said === "answered" ? await answer(app, "step", 1) : said, why);
    await rescued(app, why);
  }));
}

test("a program that stops in the middle of being mounted says so, and the page can be loaded again", onPage({}, async (app) => {
  const page = await app.context.newPage();
  const other = Object.assign(Object.create(app), { page });
  await page.addInitScript(`(${fail})(${JSON.stringify({ of: "Document", name: "createTextNode", how: "trap", nth: 40 })})`);
  await page.goto(app.url);
  await rescued(other, MEMORY, { keeps: false });
}));

test("what is answered after the program has stopped changes nothing", onPage({ measured: true, provokes: /404|\/version/ }, async (app) => {
  await app.all();
  await app.page.evaluate(overhear);
  await app.call("inject", mine);
  await app.page.waitForFunction(() => kept.includes('"mine"'));
  let release;
  const held = new Promise((go) => (release = go));
  const asked = new Promise((seen) => app.page.route(/\/version$/, async (route) => {
    seen();
    await held;
    await route.fulfill({ status: 404, body: "{}" });
  }));
  const connects = answer(app, "connect", {});
  await asked;
  await app.page.evaluate(`(${fail})(${JSON.stringify({ of: "Node", name: "cloneNode", how: "panic" })})`);
  assert.match(await answer(app, "load", "tombstone"), PANIC);
  assert.match(await connects, PANIC);
  const answered = app.page.waitForResponse(/\/version$/);
  release();
  await answered;
  await rescued(app, PANIC);
}));

for (const [what, breaks] of [
  ["cannot parse its scripts", (page) => page.route(/(?<!\/old)\.js$/, (route) => route.fulfill({ contentType: "text/javascript", body: "class Old { #; }" }))],
  ["knows no modules", (page) => page.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/type="?module"?/g, 'type="of-another-time"') });
  })],
]) {
  test(`a browser that ${what} is told so, in both languages`, onPage({}, async (app) => {
    const other = await app.context.newPage();
    await breaks(other);
    await other.goto(app.url);
    const said = other.getByRole("alert");
    await said.getByText("this browser is too old").waitFor();
    await said.getByText("此浏览器版本太旧").waitFor();
  }));
}

// Without its policy only a browser that knows no trusted types goes on.
test("a board that works stays where only rescue.js did not come", onPage({}, async (app) => {
  const context = await app.context.browser().newContext({ bypassCSP: true });
  const other = await context.newPage();
  await other.route("**/rescue.js", (route) => route.abort());
  await other.goto(app.url);
  await other.getByTestId("select-lesson").waitFor();
  // As when the program is there before the page's other files are.
  await other.evaluate(() => window.dispatchEvent(new Event("load")));
  assert.equal(await other.getByTestId("select-lesson").count(), 1);
  await context.close();
}));

test("what old browsers are told is written for them", async () => {
  const text = await readFile(new URL("../../../embed/files/old.js", import.meta.url), "utf8");
  const code = text.replace(/\/\/.*|"[^"]*"/g, "");
  assert.doesNotMatch(code, /=>|`|\?\.|\?\?|\.\.\.|\b(const|let|class|of|async|import)\b/);
});

test("a page whose program cannot be loaded says so", onPage({ provokes: /_bg\.wasm|deltascope|404|Failed/ }, async (app) => {
  const other = await app.context.newPage();
  await other.route("**/*_bg.wasm", (route) => route.fulfill({ status: 404, body: "gone" }));
  await other.goto(app.url);
  const dialog = other.getByTestId("rescue");
  await dialog.waitFor();
  assert.match(await dialog.innerText(), /did not come[^]*could not be loaded \(.*_bg\.wasm.*Check the connection/);
  assert.equal(await dialog.getByTestId("rescue-save").count(), 0);
  await other.unroute("**/*_bg.wasm");
  await dialog.getByTestId("rescue-again").click();
  await other.waitForFunction(() => window.deltascope?.drawn.then(() => true));
}));

const TWO = `<delta-scope id="a" lesson="tombstone" load="eager"></delta-scope><delta-scope id="b" lesson="indexer" load="eager" lang="zh"></delta-scope>`;
test("elements whose program has died say so, each in its language, and can be restarted", onHost({ "index.html": page(TWO) }, { provokes: LEAVES }, async (host) => {
  for (const id of ["#a", "#b"]) await host.ready(id);
  const said = await host.page.evaluate(async (code) => {
    const glue = performance.getEntriesByType("resource").find(({ name }) => /deltascope-[0-9a-f]+\.js$/.test(name));
    new Function("wasm", `(${code})(wasm)`)(await (await import(glue.name)).default());
    const [one, other] = document.querySelectorAll("delta-scope");
    const said = [];
    for (let n = 0; n < 5_000 && said.length === 0; n += 1) {
      await one.inject({ op: "create", object: { metadata: { namespace: "default", name: `pod-${n}` } } }).catch(({ message }) => said.push(message));
      if (said.length === 0) await one.seek("end").catch(({ message }) => said.push(message));
    }
    said.push(other.getState());
    return said;
  }, String(exhaust));
  assert.deepEqual(said, ["The program has stopped: it ran out of memory.", null]);
  const alert = (id) => host.page.locator(`${id} [role="alert"]`);
  assert.match(await alert("#a").innerText(), /The program has stopped: it ran out of memory\./);
  assert.match(await alert("#b").innerText(), /程序已停止：内存耗尽。/);
  assert.deepEqual((await host.told("error")).map(({ id }) => id).sort(), ["a", "b"]);

  await alert("#a").getByRole("button").click();
  await host.until(() => document.querySelector("#a").getState()?.lesson === "tombstone");
  await host.of("#a", "step", 3);
  await alert("#b").getByRole("button").click();
  await host.until(() => document.querySelector("#b").getState()?.lesson === "indexer");
}));

test("an exception in a listener ends nothing", onHost({ "index.html": page(TWO) }, { provokes: /Invalid count value/ }, async (host) => {
  for (const id of ["#a", "#b"]) await host.ready(id);
  const before = (await host.state("#a")).step;
  await host.page.evaluate(() => document.querySelector("#a").addEventListener("ds-step", () => "-".repeat(-1)));
  await host.of("#a", "step", 3);
  assert.equal((await host.state("#a")).step, before + 3);
  assert.equal(await host.page.locator("[role=alert]").count(), 0);
}));
