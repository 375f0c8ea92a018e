// The page of `deltascope tap`: a real tap between a client and the tests' API server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startApi } from "../apiserver.mjs";
import { DIST, PHONE, launch, open } from "../harness.mjs";
import { caughtUp } from "../live.mjs";

const PROGRAM = fileURLToPath(new URL("../../../target/debug/deltascope", import.meta.url));
// The browser's console reports that the tap is gone.
const GONE = /ERR_CONNECTION|status of 40\d/;

let browser;
before(async () => {
  assert.ok(existsSync(PROGRAM), `there is no ${PROGRAM}: cargo build --features cli`);
  browser = await launch();
});
after(() => browser?.close());

/** A tap before an API server, with its page. */
async function tapped(api, ...more) {
  const folder = mkdtempSync(join(tmpdir(), "deltascope-tap-test-"));
  const config = join(folder, "kubeconfig");
  const child = spawn(PROGRAM, ["tap", "--proxy", api.url, "--dist", DIST, "--kubeconfig-out", config, ...more], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, LC_ALL: "C" },
  });
  let said = "";
  child.stderr.on("data", (piece) => (said += piece));
  while (!said.includes("\n")) await once(child.stderr, "data");
  const { server } = JSON.parse(readFileSync(config, "utf8")).clusters[0].cluster;
  const end = async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGINT");
    await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  };
  return { server, folder, url: /http:\S+/.exec(said)[0], end };
}

/** Lists and watches as an informer does; `heard` is called as its handler would be. */
async function informer(server, path, heard) {
  const headers = { "User-Agent": "manager/v0.0.0 (linux/amd64)" };
  const list = await (await fetch(`${server}/${path}?resourceVersion=0&limit=500`, { headers })).json();
  const stop = new AbortController();
  const from = list.metadata.resourceVersion;
  const watch = await fetch(`${server}/${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`, { headers, signal: stop.signal });
  for (const item of list.items) heard?.("ADDED", item);
  let rest = "";
  const read = new WritableStream({
    write(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const { type, object } of lines.map((line) => JSON.parse(line))) if (type !== "BOOKMARK") heard?.(type, object);
    },
  });
  const reading = watch.body.pipeThrough(new TextDecoderStream()).pipeTo(read).catch(() => {});
  return () => {
    stop.abort();
    return reading;
  };
}

/** A line of a controller's log. */
const said = (type, { metadata }) => JSON.stringify({ informer: { type, kind: "Pod", apiVersion: "v1", object: { metadata } } });

test("a controller's informers are listed, live, and a click shows one on the stage", async () => {
  const api = await startApi();
  api.generate("pods", 5);
  const tap = await tapped(api);
  // What fails because the test wants it; and the page ends a request whose answer it no longer needs.
  let provoked;
  const app = await open(browser, tap.url, { provokes: { test: (text) => /ERR_ABORTED/.test(text) || provoked?.test(text) } });
  try {
    const { page } = app;
    await page.getByText("No informer yet").waitFor();
    const leave = await informer(tap.server, "api/v1/pods");
    const row = page.locator("tr", { has: app.id("informer-1") });
    await row.getByText("manager/v0.0.0").waitFor();
    const cell = (name) => row.locator(`[data-name="${name}"]`);
    const shows = (name, text) => page.waitForFunction(
      ([name, text]) => document.querySelector(`.informers [data-name="${name}"]`)?.textContent === text, [name, text]);
    await shows("objects", "5");
    assert.equal(await cell("lists").textContent(), "rv=0");
    assert.equal(await cell("client-go").textContent(), "0.34?");

    // The row follows.
    const made = structuredClone(api.create("pods", { metadata: { name: "new" } }));
    await shows("objects", "6");
    await shows("events", "1");

    // The stage, live, from the informer's own requests; by keyboard.
    await app.id("informer-1").press("Enter");
    await caughtUp(app, api);
    const state = await app.state();
    assert.equal(state.lesson, "informer:1");
    assert.match(await app.id("select-lesson").locator("option:checked").textContent(), /manager/);
    assert.ok(!(await app.id("informers").isVisible()));
    api.update("pods", "default/new");
    await caughtUp(app, api);

    // An answer that does not come does not end it.
    provoked = /ERR_FAILED/;
    await page.route("**/informers/1.jsonl*", (route) => route.abort(), { times: 2 });
    await page.waitForEvent("requestfailed");
    await page.waitForEvent("requestfailed");
    api.update("pods", "default/new");
    await caughtUp(app, api);
    assert.ok(app.provoked.filter((text) => /ERR_FAILED/.test(text)).length >= 2);
    provoked = undefined;

    // What the controller logged, dropped beside what it should have heard: it lacks an update.
    const log = [...api.stores.get("pods").objects.values()].filter(({ metadata }) => metadata.name !== "new").map((pod) => said("ADDED", pod));
    api.update("pods", "default/new");
    await caughtUp(app, api);
    log.push(said("ADDED", made), said("MODIFIED", api.stores.get("pods").objects.get("default/new")));
    const file = join(tap.folder, "controller.log");
    writeFileSync(file, log.join("\n"));
    await app.drop(file);
    await app.id("heard").getByText("the log lacks an expected call").waitFor();
    const before = await app.state();
    await app.id("heard").getByRole("button", { name: "Show the moment" }).click();
    const moment = await app.eventually("it is the moment", ({ step }) => step !== before.step);
    assert.match(moment.handlers[0].notifications.at(-1).join(" "), /update default\/new/);
    await app.id("btn-live").click();

    // Its cluster is the controller's: there is no other to connect to.
    assert.equal(await app.id("btn-cluster").count(), 0);

    // Back in time, while it goes on, and to the edge.
    await app.call("step", -3);
    const there = await app.state();
    api.create("pods", { metadata: { name: "later" } });
    const later = await app.eventually("it goes on", ({ steps }) => steps > there.steps);
    assert.equal(later.step, there.step);
    await app.id("btn-live").click();
    await caughtUp(app, api);

    // The generation that the requests show can be overruled; the store is the same, and it is still live.
    await app.id("era-1.36").click();
    await app.eventually("it is another generation", ({ era, live }) => era === "1.36" && live);
    await app.id("btn-live").click();
    await caughtUp(app, api);
    api.remove("pods", "default/later");
    await caughtUp(app, api);

    // A link would give the token away.
    await app.call("load", "tombstone");
    await app.id("btn-share").click();
    assert.match(await app.id("share-no-link").innerText(), /token/);
    assert.equal(await app.id("share-link").count(), 0);

    // Back to the list, where a watch that has ended is told.
    await app.id("btn-informers").click();
    await leave();
    await row.getByText("does not watch").waitFor();
    await shows("watch ends", "1 by the client");

    // A relist is a finding, which leads to its moment and stays there.
    const again = await informer(tap.server, "api/v1/pods");
    const finding = app.id("findings").locator("li", { hasText: "was listed again" });
    await finding.waitFor();
    await finding.getByRole("button", { name: "Show the moment" }).click();
    const relisted = await app.eventually("it is shown", ({ lesson, live }) => lesson === "informer:1" && live && !live.following);
    const { findings } = await (await fetch(`${tap.server}/deltascope/informers.json`)).json();
    const { atMs } = findings.find(({ kind }) => kind === "relists");
    assert.ok(relisted.time >= atMs && relisted.time <= atMs + 1000, `${relisted.time} ${atMs}`);
    api.update("pods", "default/new");
    const after = await app.eventually("it goes on", ({ steps }) => steps > relisted.steps);
    assert.equal(after.step, relisted.step);
    await app.id("btn-informers").click();

    // On a phone nothing is cut off; in Chinese.
    await app.resize(PHONE);
    await app.language("zh");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is too wide");
    await again();
    await row.getByText("未在 watch").waitFor();

    // A tap that has gone is reported, on the stage of another page as well, and what it said stays.
    const stage = await app.context.newPage();
    await stage.addInitScript(() => {
      const wait = setTimeout;
      globalThis.setTimeout = (act, ms) => wait(act, Math.min(ms, 20));
    });
    await stage.goto(tap.url);
    await stage.getByTestId("informer-1").click();
    await stage.waitForFunction(() => deltascope.getState().live?.following && deltascope.getState().step > 0);
    provoked = GONE;
    await tap.end();
    await app.id("informers-trouble").getByText("tap 没有应答").waitFor();
    assert.ok(await app.id("informer-1").isVisible());
    await stage.getByTestId("error").getByText("tap 没有应答").waitFor();
    const last = await stage.evaluate(() => deltascope.getState());
    assert.ok(last.lesson === "informer:1" && !last.live, JSON.stringify(last.live));
    assert.deepEqual(app.problems, []);
  } finally {
    await app.context.close();
    await tap.end();
    await api.close();
  }
});

test("a page whose file is removed while it reads it goes on with the newest", async () => {
  const api = await startApi();
  api.generate("pods", 5);
  const folder = mkdtempSync(join(tmpdir(), "deltascope-keep-test-"));
  const tap = await tapped(api, "--out", join(folder, "run"), "--rotate", "16K", "--keep", "1");
  const app = await open(browser, tap.url, { provokes: { test: (text) => /status of 404/.test(text) } });
  try {
    const leave = await informer(tap.server, "api/v1/pods");
    await app.id("informer-1").click();
    api.create("pods", { metadata: { name: "new" } });
    await caughtUp(app, api);
    for (let number = 0, part = 1; part < 4; number++) {
      api.update("pods", "default/new");
      if (number % 10 === 9) ({ part } = (await (await fetch(`${tap.server}/deltascope/page.json`)).json()).rows[0]);
    }
    await caughtUp(app, api);
    const state = await app.state();
    assert.ok(state.lesson === "informer:1" && state.live.following && state.error === null, JSON.stringify(state));
    await leave();
  } finally {
    await app.context.close();
    await tap.end();
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("what a controller logs stands beside its handler, live, and the first difference at its line", async () => {
  const api = await startApi();
  api.generate("pods", 5);
  const folder = mkdtempSync(join(tmpdir(), "deltascope-log-test-"));
  const file = join(folder, "controller.log");
  const tap = await tapped(api, "--log", file, "--out", join(folder, "run"), "--rotate", "16K", "--keep", "2");
  let provoked;
  const app = await open(browser, tap.url, { provokes: { test: (text) => /ERR_ABORTED/.test(text) || provoked?.test(text) } });
  try {
    const { page } = app;
    let lines = 0;
    let plan = (line) => [line];
    const leave = await informer(tap.server, "api/v1/pods", (type, object) => {
      for (const line of plan(said(type, object))) {
        appendFileSync(file, `${line}\n`);
        lines++;
      }
    });
    await app.id("informer-1").click();
    const log = app.id("heard");
    const shows = (text) => log.getByText(text).first().waitFor();
    await shows("5 as they should be.");
    // It follows, each notification with its line; the engine's own output makes room.
    api.create("pods", { metadata: { name: "new" } });
    await shows("6 as they should be.");
    await caughtUp(app, api);
    const last = app.id("heard-line").last();
    assert.match(await last.innerText(), /OnAdd default\/new \d+\s+line 6/);
    assert.ok(!(await app.page.locator(".printed:not(.logged)").isVisible()));

    // A log that is only behind does not differ.
    const held = [];
    plan = (line) => (held.push(line), []);
    api.update("pods", "default/new");
    await shows("The log is 1 behind.");
    assert.equal(await log.locator(".differs").count(), 0);
    appendFileSync(file, `${held.join("\n")}\n`);
    lines += held.length;
    plan = (line) => [line];
    await shows("7 as they should be.");

    // The recording goes on in another file meanwhile, and again: the stage goes on as well.
    let part = 1;
    for (let more = 0; part < 3; more++) {
      api.update("pods", "default/new");
      if (more % 10 !== 9) continue;
      // Files that nobody has read are removed as well.
      await caughtUp(app, api);
      ({ part } = (await (await fetch(`${tap.server}/deltascope/page.json`)).json()).rows[0]);
    }
    const all = lines;
    await caughtUp(app, api);
    const state = await app.state();
    assert.equal(state.lesson, "informer:1");
    assert.ok(state.live.following && state.error === null, JSON.stringify(state));
    await page.waitForFunction(() => / as they should be\.$/.test(document.querySelector("[data-testid=heard] .verdict").textContent));
    assert.equal(await log.locator(".differs").count(), 0);
    assert.ok(all > 20);

    // A line twice is found, at its line.
    plan = (line) => [line, line.replace("MODIFIED", "ADDED")];
    const at = lines + 2;
    api.update("pods", "default/new");
    await app.eventually("it is logged", () => lines === at);
    plan = (line) => [line];
    await caughtUp(app, api);
    api.remove("pods", "default/new");
    await shows(`line ${at} says: OnAdd default/new`);
    await shows("The first difference:");
    // In Chinese, and on a phone.
    await app.language("zh");
    await shows(`第 ${at} 行：OnAdd default/new`);
    await app.resize(PHONE);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is too wide");
    await app.resize({ width: 1440, height: 900 });
    await app.language("en");

    // A log that the tap gives out no more is said, and the stage goes on.
    provoked = /status of 410/;
    const log410 = "**/informers/1.log*";
    await page.route(log410, (route) => route.fulfill({ status: 410, body: "{}" }));
    await shows("The log is compared no further");
    await page.unroute(log410);
    provoked = undefined;
    assert.ok((await app.state()).live.following);

    // Opened anew, it begins with the newest file, and says that what came before is not compared.
    await app.id("btn-informers").click();
    await app.id("informer-1").click();
    await shows("What came before this part is not compared.");
    await caughtUp(app, api);

    // A recording that cannot be written any more does not look live, and says why.
    rmSync(join(folder, "run"), { recursive: true });
    await app.id("error").getByText("its file could not be written").waitFor({ timeout: 30_000 });
    assert.ok(!(await app.state()).live);
    await leave();
  } finally {
    await app.context.close();
    await tap.end();
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
