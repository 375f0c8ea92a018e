// Opens the built page in a real Chromium and watches that nothing goes wrong beside the test.
//
//     import { suite } from "../harness.mjs";
//     const { onPage } = suite();
//     test("it loads", onPage({ lang: "zh" }, async (app) => { … }));
//
// DIST names another build, CHROMIUM another browser.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startApi } from "./apiserver.mjs";
import { serve } from "./server.mjs";

export const DIST = process.env.DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
// As root there is no sandbox; the rest keeps the browser from talking to the outside by itself.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
// Far above what a step takes here; a page that hangs is told apart from a busy machine.
const PATIENCE_MS = 60_000;
// Steps between two looks at the states that were passed.
const BATCH = 25;

export const DESKTOP = { width: 1440, height: 900 };
export const LAPTOP = { width: 1280, height: 720 };
export const PHONE = { width: 390, height: 844 };
export const SMALLEST = { width: 360, height: 740 };

export const ROOMS = ["api", "reflector", "queue", "pop", "indexer", "now", "processor"];

export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** One browser and one server for the tests of a file; each test gets a profile of its own. */
export function suite() {
  let browser;
  let server;
  before(async () => {
    assert.ok(existsSync(`${DIST}/index.html`), `${DIST} holds no index.html: run make dist`);
    server = await serve(DIST);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  const onPage = (options, body) => async (t) => {
    await watchedOver(await open(browser, server.url, options), (app) => body(app, t));
  };
  /**
   * The same with an API server of its own behind the page. `api`: its options; `setUp`: what is there before the page is;
   * `through`: what stands between them (see fronts.mjs) instead of this harness' server.
   */
  const onCluster = (options, body) => async (t) => {
    const api = await startApi(options.api);
    let front;
    try {
      await options.setUp?.(api);
      front = options.through
        ? await options.through(api.url, { dist: DIST })
        : await serve(DIST, { api: api.url });
      const reads = front.api ?? new URL("/k8s/", front.url).href;
      const app = await open(browser, front.url, { ...options, reads });
      await watchedOver(app, () => body(app, api, { front, t }));
    } finally {
      await front?.close();
      await api.close();
    }
  };
  return { onPage, onCluster };
}

async function watchedOver(app, body) {
  try {
    await body(app);
    assert.deepEqual(app.problems, [], "the page logged errors or asked for what it should not");
  } catch (error) {
    if (app.problems.length > 0) error.message += `\nalso seen: ${app.problems.join("\n")}`;
    throw error;
  } finally {
    await app.context.close();
  }
}

/**
 * Opens the page and waits until it is ready. Motion is reduced unless a test asks for it, so that a
 * state is on screen as soon as it is asked for. `asFound` leaves language and theme as the page chose them.
 * `link` is opened instead of the page alone. `reads`: an API's address, which may be asked, and left, at any time; `provokes`: a
 * pattern of what a test makes go wrong on purpose; `clock`: time can be made to pass (`app.page.clock`);
 * `measured`: the page's `wasm` is at hand there.
 */
export async function open(browser, url, options = {}) {
  const { lang = "en", theme = "light", viewport = DESKTOP, motion = false, lesson, asFound, link, reads, provokes, clock, measured } = options;
  const context = await browser.newContext({
    viewport,
    locale: lang === "zh" ? "zh-CN" : "en-US",
    colorScheme: theme,
    reducedMotion: motion ? "no-preference" : "reduce",
    hasTouch: false,
  });
  if (clock) await context.clock.install();
  if (measured) {
    await context.addInitScript(() => {
      addEventListener("TrunkApplicationStarted", (event) => (globalThis.wasm = event.detail.wasm));
    });
  }
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const app = new App(context, page, url, { reads, provokes });
  await page.goto(link ?? url);
  await page.waitForFunction(() => window.deltascope !== undefined);
  await page.evaluate(() => window.deltascope.ready);
  if (!asFound) {
    await app.language(lang);
    await app.theme(theme);
  }
  if (lesson) await app.call("load", lesson);
  return app;
}

class App {
  constructor(context, page, url, { reads, provokes } = {}) {
    this.context = context;
    this.page = page;
    this.url = url;
    this.reads = reads;
    /** What went wrong beside the test, and what it provoked. */
    this.problems = [];
    this.provoked = [];
    const problem = (text) => (provokes?.test(text) ? this.provoked : this.problems).push(text);
    /** Every address that was asked for, and the requests without the head of an answer yet. */
    this.requests = [];
    this.unanswered = new Set();
    page.on("console", (message) => {
      if (message.type() === "error") problem(`console: ${message.text()} ${message.location().url}`);
    });
    page.on("pageerror", (error) => problem(`page error: ${error.message}`));
    page.on("request", (request) => {
      const address = request.url();
      this.requests.push(address);
      if (/^(data|blob|about):/.test(address)) return;
      this.unanswered.add(request);
      if (![url, reads].some((base) => base && address.startsWith(base))) problem(`asked for ${address}`);
    });
    page.on("requestfailed", (request) => {
      this.unanswered.delete(request);
      const why = request.failure()?.errorText;
      // A watch that is not wanted any more is left.
      if (reads && request.url().startsWith(reads) && why === "net::ERR_ABORTED") return;
      problem(`failed: ${request.url()} ${why}`);
    });
    page.on("response", (response) => {
      this.unanswered.delete(response.request());
      if (response.status() >= 400) problem(`${response.status()}: ${response.url()}`);
    });
  }

  /** The element with this data-testid. */
  id(name) {
    return this.page.getByTestId(name);
  }

  /** What window.deltascope says. */
  state() {
    return this.page.evaluate(() => window.deltascope.getState());
  }

  /** Calls a method of window.deltascope and waits until the picture shows it. */
  call(method, ...args) {
    return this.page.evaluate(([name, given]) => window.deltascope[name](...given), [method, args]);
  }

  /** The same for what cannot be done: the promise may be rejected, the state tells. */
  async tryCall(method, ...args) {
    await this.page.evaluate(
      ([name, given]) =>
        Promise.resolve()
          .then(() => window.deltascope[name](...given))
          .then(() => undefined, () => undefined),
      [method, args],
    );
    return this.state();
  }

  /** Goes to the end of what there is and returns that state. */
  async toEnd() {
    let state = await this.state();
    await this.call("seek", state.steps);
    state = await this.state();
    return state;
  }

  /** Steps on to the first state that is as asked for; the source may be endless. */
  async until(what, predicate, limit = 1000) {
    let states = [await this.state()];
    for (let taken = 0; ; taken += states.length) {
      const found = states.find(predicate);
      if (found) {
        await this.call("seek", found.step);
        return found;
      }
      if (taken > limit) break;
      // Many at a time: the way to the page and back takes longer than a step.
      states = await this.page.evaluate(async (count) => {
        const seen = [];
        while (seen.length < count) {
          await window.deltascope.step(1);
          seen.push(await window.deltascope.getState());
        }
        return seen;
      }, BATCH);
    }
    assert.fail(`${limit} steps on, still not: ${what}\n${JSON.stringify(states.at(-1))}`);
  }

  /** Waits for something that comes by itself, without stepping. */
  async eventually(what, predicate) {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const state = await this.state();
      if (predicate(state)) return state;
      assert.ok(performance.now() < deadline, `still not: ${what}\n${JSON.stringify(state)}`);
      await this.page.evaluate(() => new Promise(requestAnimationFrame));
    }
  }

  async language(lang) {
    const is = () => this.page.evaluate(() => document.documentElement.lang);
    if (!(await is()).startsWith(lang)) await this.id("toggle-lang").click();
    await this.page.waitForFunction((l) => document.documentElement.lang.startsWith(l), lang);
  }

  async theme(theme) {
    const is = () => this.page.evaluate(() => document.documentElement.dataset.theme);
    for (let tries = 0; tries < 3 && (await is()) !== theme; tries += 1) {
      await this.id("toggle-theme").click();
    }
    await this.page.waitForFunction((t) => document.documentElement.dataset.theme === t, theme);
  }

  /** The same page in a fresh profile, as somebody else sees it; whatever goes wrong there counts here. */
  async elsewhere(options, body) {
    const other = await open(this.context.browser(), this.url, options);
    try {
      return await body(other);
    } finally {
      this.problems.push(...other.problems);
      await other.context.close();
    }
  }

  /** The ids that the lesson menu offers. */
  lessons() {
    return this.id("select-lesson")
      .locator("option")
      .evaluateAll((options) => options.map((option) => option.value).filter(Boolean));
  }

  /**
   * Drops files on the page as a hand would: the browser itself makes the events and the
   * DataTransfer. Paths of files on disk.
   */
  async drop(...paths) {
    const zone = await this.id("drop-zone").boundingBox();
    const size = this.page.viewportSize();
    const inside = zone && zone.x + zone.width / 2 < size.width && zone.y + zone.height / 2 < size.height;
    const [x, y] = inside
      ? [zone.x + zone.width / 2, zone.y + zone.height / 2]
      : [size.width / 2, size.height / 2];
    const data = { items: [], files: paths, dragOperationsMask: 1 };
    const cdp = await this.context.newCDPSession(this.page);
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await cdp.send("Input.dispatchDragEvent", { type, x, y, data });
    }
    await cdp.detach();
  }
}
