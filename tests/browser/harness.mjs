// Opens the built page in a real Chromium, and fails a test if anything goes wrong beside it.
//
//     import { suite } from "../harness.mjs";
//     const { onPage } = suite();
//     test("it loads", onPage({ lang: "zh" }, async (app) => { … }));
//
// DIST names another build, CHROMIUM another browser.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startApi } from "./apiserver.mjs";
import { noted } from "./marks.mjs";
import { serve } from "./server.mjs";

export const DIST = process.env.DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
// The shell is the same engine without a browser's windows, and takes a little more than half the time.
const SHELL = "/usr/bin/chromium-headless-shell";
const CHROMIUM = process.env.CHROMIUM ?? (existsSync(SHELL) ? SHELL : "/usr/bin/chromium");
// Text is as wide on every machine.
const FONTCONFIG_FILE = fileURLToPath(new URL("fonts.conf", import.meta.url));
// There is no sandbox for root. The other flags keep the browser from making requests of its own.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
// Far more than any step takes here: it distinguishes a hang from a busy machine.
const PATIENCE_MS = 60_000;
// How many steps are taken in the page between two checks of the states.
const BATCH = 25;

export const DESKTOP = { width: 1440, height: 900 };
export const LAPTOP = { width: 1280, height: 720 };
export const PHONE = { width: 390, height: 844 };
export const SMALLEST = { width: 360, height: 740 };

export const ROOMS = ["api", "reflector", "queue", "pop", "indexer", "now", "processor"];

export async function launch() {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, env: { ...process.env, FONTCONFIG_FILE } });
  const folder = process.env.MARKS;
  if (folder) noted(browser, { dist: DIST, folder, seldom: SELDOM });
  return browser;
}

/** For a page: its browser keeps nothing. */
export function blockStorage() {
  Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("blocked", "SecurityError"); } });
}

/** A file of the program beside its main one. A debug build has one. */
export const FILE = /\bdeltascope-[0-9a-f]+-\w+\.wasm/;
/** Its styles that come later. */
const STYLES = /\b(?:later|seldom)-[0-9a-f]+\.css/;
const FILES = existsSync(DIST) ? readdirSync(DIST).filter((name) => FILE.test(name)) : [];
export const IS_SPLIT = FILES.length > 0;
/** What no first picture needs. */
export const LATER = /\bdeltascope-[0-9a-f]+-(?:rest|own|seldom)\.wasm/;
/** Of that, what neither a lesson nor a room needs, and what only the page has. */
export const SELDOM = /\bdeltascope-[0-9a-f]+-seldom\.wasm/;
export const OWN = /\bdeltascope-[0-9a-f]+-own\.wasm/;

/** Methods that answer at once, after `ready`. */
export const EXPORTS = /^(?:export|getUrl)/;

/** One browser and one server for the tests of a file. Each test gets its own profile. */
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
   * The same with an API server behind the page. `api`: its options; `setUp`: prepares it before the page opens; `through`: the
   * server between them (see fronts.mjs) instead of this harness' own.
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
 * Opens the page and waits until it is ready. Motion is reduced unless `motion` is set, so that each state is on screen at
 * once. `asFound` leaves language and theme as the page chose them. `link` is opened instead of the plain page. `reads`: the
 * URL of an API, to which requests may be sent and aborted at any time; `provokes`: a pattern of the errors that the test
 * provokes; `clock`: whether the test controls the time (`app.page.clock`); `measured`: makes the page's `wasm` available;
 * `newcomer`: leaves the size of a step as the page chose it, an event, else it is one fact; `firstVisit`: the page opens as
 * for somebody who has never been here, with the first story; `forced`: the colours are the
 * reader's (high contrast), those of `theme`.
 */
export async function open(browser, url, options = {}) {
  const { lang = "en", theme = "light", viewport = DESKTOP, motion = false, lesson, asFound, link, reads, provokes, clock, measured, newcomer, firstVisit, forced = false } = options;
  const context = await browser.newContext({
    viewport,
    locale: lang === "zh" ? "zh-CN" : "en-US",
    colorScheme: theme,
    reducedMotion: motion ? "no-preference" : "reduce",
    forcedColors: forced ? "active" : "none",
    hasTouch: false,
  });
  if (clock) await context.clock.install();
  if (measured) {
    await context.addInitScript(() => {
      addEventListener("TrunkApplicationStarted", (event) => (globalThis.wasm = event.detail.wasm));
    });
  }
  // Most tests are about single facts, and begin on the stage. Storage is closed to pages without an origin.
  if (!firstVisit) {
    await context.addInitScript((newcomer) => {
      if (!location.protocol.startsWith("http")) return;
      localStorage.setItem("deltascope.seen", "1");
      localStorage.setItem("deltascope.shelf", "off");
      localStorage.setItem("deltascope.tools", "on");
      if (!newcomer && !localStorage.getItem("deltascope.step")) localStorage.setItem("deltascope.step", "micro");
    }, Boolean(newcomer));
  }
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const app = new App(context, page, url, { reads, provokes });
  await page.goto(new URL(link ?? "", url).href);
  await app.drawn();
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
    /** What went wrong beside the test, and what the test provoked. */
    this.problems = [];
    this.provoked = [];
    const problem = (text) => (provokes?.test(text) ? this.provoked : this.problems).push(text);
    /** All requested URLs, and the requests that have no response yet. */
    this.requests = [];
    this.unanswered = new Set();
    page.on("console", (message) => {
      if (message.type() === "error") problem(`console: ${message.text()} ${message.location().url}`);
    });
    page.on("pageerror", (error) => problem(`page error: ${error.message}`));
    page.on("request", (request) => {
      const address = request.url();
      this.requests.push(address);
      // Nothing should stop the page until a file has come (ARCHITECTURE.md).
      if (FILE.test(address) && request.resourceType() === "xhr") problem(`the page waited for ${address}`);
      if (/^(data|blob|about):/.test(address)) return;
      this.unanswered.add(request);
      if (![url, reads].some((base) => base && address.startsWith(base))) problem(`asked for ${address}`);
    });
    page.on("requestfailed", (request) => {
      this.unanswered.delete(request);
      const why = request.failure()?.errorText;
      // A watch that is no longer needed is aborted, and so is a part when the page is left.
      const mayEnd = (reads && request.url().startsWith(reads)) || FILE.test(request.url()) || STYLES.test(request.url());
      if (mayEnd && why === "net::ERR_ABORTED") return;
      problem(`failed: ${request.url()} ${why}`);
    });
    page.on("response", (response) => {
      this.unanswered.delete(response.request());
      if (response.status() >= 400) problem(`${response.status()}: ${response.url()}`);
    });
  }

  /** Loads the page anew, and waits until it is drawn. */
  async reload() {
    await this.page.reload();
    await this.drawn();
  }

  /** Waits until the page that is loaded is drawn: before, `getState` would stop it. */
  async drawn() {
    await this.page.waitForFunction(() => window.deltascope !== undefined);
    await this.page.evaluate(() => window.deltascope.drawn);
  }

  /** The element with this data-testid. */
  id(name) {
    return this.page.getByTestId(name);
  }

  /** The result of window.deltascope.getState(). */
  state() {
    return this.page.evaluate(() => window.deltascope.getState());
  }

  /** Resizes the window. Styles apply at once, but the listeners of media queries only run with the next frame. */
  async resize(size) {
    await this.page.setViewportSize(size);
    await this.page.evaluate(() => new Promise(requestAnimationFrame));
  }

  /** Calls a method of window.deltascope and waits until the picture shows the result. */
  call(method, ...args) {
    const calls = async ([name, given, waits]) => {
      if (waits) await window.deltascope.ready;
      return window.deltascope[name](...given);
    };
    return this.page.evaluate(calls, [method, args, EXPORTS.test(method)]);
  }

  /** The same for calls that may fail: the promise may reject; the state has the error. */
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

  /** Waits until the page has all of the program: what comes later cannot come, or would hold up what follows. */
  async all() {
    await this.page.evaluate(() => window.deltascope.ready);
    await this.whole();
  }

  /** Waits until the page has fetched what it fetches by itself. */
  async whole() {
    const isThere = (name) => this.requests.some((address) => address.endsWith(name));
    const isAsked = () => [...this.unanswered].some((request) => FILE.test(request.url()));
    await this.eventually("all of the program is there", () => FILES.filter((name) => !SELDOM.test(name)).every(isThere) && !isAsked());
  }

  /** Goes to the end of the run and returns that state. */
  async toEnd() {
    const { steps } = await this.state();
    await this.call("seek", steps);
    return this.state();
  }

  /** Steps to the first state that matches; the run may be endless. */
  async until(what, predicate, limit = 1000) {
    let states = [await this.state()];
    for (let taken = 0; ; taken += states.length) {
      const found = states.find(predicate);
      if (found) {
        await this.call("seek", found.step);
        return found;
      }
      if (taken > limit) break;
      // Many at a time: a round trip to the page takes longer than a step.
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

  /** Waits for a change that happens by itself, without stepping. */
  async eventually(what, predicate) {
    const deadline = performance.now() + PATIENCE_MS;
    let state = await this.state();
    while (!predicate(state)) {
      assert.ok(performance.now() < deadline, `still not: ${what}\n${JSON.stringify(state)}`);
      state = await this.page.evaluate(async () => {
        await new Promise(requestAnimationFrame);
        return window.deltascope.getState();
      });
    }
    return state;
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

  /** Waits until the play before a scene of a story is over; a press of Next finishes it. */
  async arrived() {
    if ((await this.state()).playing) await this.page.keyboard.press("PageDown");
    await this.eventually("the play is over", (state) => !state.playing);
  }

  /** The same page in a fresh profile, as another user sees it. Its errors count here. */
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
   * Drops files on the page as a user would: the browser itself makes the events and the DataTransfer. Takes paths of files.
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
