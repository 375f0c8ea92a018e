// <delta-scope>: one element that shows how an informer works.
//
// This module is small. It loads the program behind the elements when the first of them needs it, once per page.

import { Absent, Life } from "./alive.js";
import { ATTRIBUTES, doubts } from "./names.js";
import { frame, pause } from "./paced.js";

/** The version of the package. */
export const version = "__VERSION__";

const TAG = "delta-scope";
// A change of these opens another run. A change of any other attribute acts on the current one.
const OPENS = new Set(["lesson", "src", "link"]);
// Distance from the viewport at which an element is loaded.
const NEAR = "300px";
// How long to wait for the first frame.
const READY_MS = 1000;
const BOOK_DARK = /\b(?:coal|navy|ayu)\b/;
const BOOK_LIGHT = /\b(?:light|rust)\b/;
const WORDS = {
  en: { start: "Show how it runs", again: "Try again", loading: "Loading…", failed: "This cannot be shown here:", stage: "deltascope: an informer, step by step" },
  zh: { start: "运行演示", again: "重试", loading: "正在加载…", failed: "这里无法显示：", stage: "deltascope：逐步看 informer" },
};

// Elements are drawn one after the other: several at once would block the page.
let turns = Promise.resolve();
function inTurn(draw) {
  const drawn = turns.then(draw);
  // Drop the result, so that it is not kept in memory.
  turns = drawn.then(() => {}, () => {});
  return drawn;
}

let program;
let failures = 0;
/** The URL of a file for a retry. Under the old URL some browsers keep a failed download, or a module that has
    stopped. */
function again(file) {
  const url = new URL(file, HERE);
  url.searchParams.set("again", failures);
  return url.href;
}

async function bring(file, first) {
  // The old URL would return the module that has stopped.
  if (stops > 0) return import(/* @vite-ignore */ /* webpackIgnore: true */ again(file));
  try {
    return await first();
  } catch (error) {
    if (failures === 0) throw error;
    return import(/* @vite-ignore */ /* webpackIgnore: true */ again(file));
  }
}

/** How often a program has stopped. All elements share the program and lose it together. */
let stops = 0;
function stopped(error) {
  program = undefined;
  failures += 1;
  stops += 1;
  for (const element of elements) element[STOPPED](error);
}

/** Loads the program once, with what shows more than most elements do where it is asked for; resolves with its exports. */
function load(isMore) {
  program ??= (async () => {
    const url = new URL("./__WASM__", import.meta.url);
    if (stops > 0) url.searchParams.set("again", failures);
    const mark = stops > 0 ? `?again=${failures}` : "";
    // The program, its glue, and its other files.
    const names = [`${url.pathname.split("/").pop()}${mark}:`, `__GLUE__${mark}:`, "__GLUE__".replace(/\.js$/, "-")];
    const wasm = fetch(url);
    // Awaited below; until then a failure must not count as unhandled.
    wasm.catch(() => {});
    const [glue, styles] = await Promise.all([
      bring("__GLUE__", () => import("./__GLUE__")),
      bring("deltascope-stage.js", () => import("./deltascope-stage.js")),
    ]);
    // Only a released program has several files.
    glue.begin?.(isMore);
    const life = new Life((stack) => names.some((name) => stack.includes(name)), stopped);
    await glue.default({ module_or_path: wasm });
    await pause();
    // Side by side, in the order of the rules. Most elements do without the middle one in their first picture.
    const sheets = [0, 1, 2].map(() => new CSSStyleSheet());
    [sheets[0], sheets[2]].forEach((sheet, at) => sheet.replaceSync(styles.default[at]));
    let coming;
    const later = () => (coming ??= bring("deltascope-later.js", () => import("./deltascope-later.js"))
      .then(({ default: text }) => sheets[1].replaceSync(text))
      .catch((error) => {
        coming = undefined;
        failures += 1;
        throw new Absent(error);
      }));
    const { mountElement } = life.guard({ mountElement: glue.mountElement });
    return { mount: mountElement, sheets, later, life, more: glue.more };
  })().catch((error) => {
    // Lets the next element try again.
    program = undefined;
    failures += 1;
    throw new Absent(error);
  });
  return isMore ? program.then(withMore) : program;
}

async function withMore(loaded) {
  const more = loaded.more?.().catch((error) => {
    throw new Absent(error);
  });
  await Promise.all([more, loaded.later()]);
  return loaded;
}

// Styles of the placeholder before the program is loaded: the poster, or a box of the same height.
const BEFORE = new CSSStyleSheet();
BEFORE.replaceSync(`
  :host { display: block; position: relative; }
  :host([height=fill]) { height: 100%; }
  :host([hidden]) { display: none; }
  .box { container: ds-box / inline-size; position: relative; isolation: isolate; font-size: medium; }
  .sized { box-sizing: border-box; height: 30em; }
  .sized.two-rows { height: 42em; }
  .sized.bare { height: 21em; }
  .sized.full { height: 36em; }
  .sized.full.two-rows { height: 44em; }
  .sized.all { height: 38em; }
  .sized.all.full { height: 48em; }
  @container ds-box (min-width: 56.25em) {
    .sized.all { height: 62.5cqi; max-height: max(38em, 90vh); }
    .sized.all.full { min-height: 46em; max-height: none; }
  }
  @container ds-box (max-width: 25em) { .sized:not(.full):is(.rooms-2, .two-rows) { height: 38em; } }
  @container ds-box (max-width: 41em) { .sized:not(.full).rooms-3 { height: 38em; } }
  @container ds-box (max-width: 50em) { .sized:not(.full).rooms-4 { height: 38em; } }
  @container ds-box (max-width: 56em) { .sized:not(.full).rooms-5 { height: 38em; } }
  .box.fill, .sized.sized.fill { height: 100%; min-height: 10em; max-height: none; }
  .before { position: relative; display: grid; place-items: center; }
  .before:not(.has-poster) { border: 1px solid GrayText; border-radius: 12px; }
  .waits { cursor: pointer; }
  .before ::slotted(*) { display: block; box-sizing: border-box; width: 100%; height: 100%; min-height: 0;
    object-fit: contain; object-position: top; }
  .announce { position: absolute; inset: auto 0 0.75em; margin: auto; width: fit-content; max-width: 90%;
    font: 0.875em/1.4 system-ui, sans-serif; color: CanvasText; background: Canvas; border: 1px solid GrayText;
    border-radius: 999px; padding: 0.35em 1em; }
  button.announce { cursor: pointer; font-weight: 600; }
  button.announce:focus-visible { outline: 2px solid Highlight; outline-offset: 2px; }
  .announce.wrong { border-radius: 10px; border-color: currentColor; }
  .wrong > .sized { height: auto; min-height: 0; max-height: none; gap: 0.75em; padding-bottom: 0.75em; }
  .wrong > .before:not(.has-poster) { padding-top: 0.75em; }
  .wrong > .before ::slotted(*) { height: auto; }
  .wrong .announce { position: static; }
  .quiet .announce { display: none; }
  .frame.coming { position: absolute; inset: 0 0 auto; z-index: -1; opacity: 0; }
  slot[name=transcript] { display: none; }
  .wrong ~ slot[name=transcript] { display: block; }
  [hidden] { display: none !important; }
  .on-paper { display: none; }
  @media print {
    .frame, .announce { display: none !important; }
    .sized { height: auto !important; max-height: none !important; }
    slot[name=transcript], .on-paper { display: block; }
    .before { display: block !important; }
    .before ::slotted(*) { height: auto; }
    .on-paper ~ .box { display: none; }
    .on-paper svg { width: 100%; height: auto; }
  }
`);

// --- the page around ----------------------------------------------------------------------------

const elements = new Set();
let watch;

function follow(element) {
  elements.add(element);
  watch ??= watchPage();
  watch.near.observe(element);
}

function unfollow(element) {
  elements.delete(element);
  watch?.near.unobserve(element);
  if (elements.size === 0) {
    watch?.end();
    watch = undefined;
  }
}

/** One set of observers for all elements: the page's theme and language, visibility, and printing. */
function watchPage() {
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) entry.target[SEEN]?.(entry.isIntersecting);
    },
    { rootMargin: NEAR },
  );
  const changed = () => elements.forEach((element) => element[AROUND]());
  const page = new MutationObserver(changed);
  page.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "data-theme", "lang"] });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const print = () => elements.forEach((element) => element[PRINT](true));
  const printed = () => elements.forEach((element) => element[PRINT](false));
  dark.addEventListener("change", changed);
  addEventListener("beforeprint", print);
  addEventListener("afterprint", printed);
  return {
    near,
    end() {
      near.disconnect();
      page.disconnect();
      dark.removeEventListener("change", changed);
      removeEventListener("beforeprint", print);
      removeEventListener("afterprint", printed);
    },
  };
}

function isDark() {
  const root = document.documentElement;
  const said = root.dataset.theme;
  if (BOOK_DARK.test(root.className)) return true;
  if (BOOK_LIGHT.test(root.className)) return false;
  if (said === "dark" || said === "light") return said === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// In two expressions: bundlers would move the file of a URL that is made in one.
const HERE = import.meta.url;
// For webpack, import.meta.url is the path on the machine that built the page.
const PAGE = HERE.startsWith("file:") ? undefined : new URL("embed.html", HERE).href;

const isSet = (value) => value != null && value !== "" && value !== "auto";

// --- the element --------------------------------------------------------------------------------

const SEEN = Symbol("seen");
const AROUND = Symbol("around");
const PRINT = Symbol("print");
const STOPPED = Symbol("stopped");

/** A method of an element with this name fetches `src` instead of the browser's `fetch`. */
export const READ = Symbol("read");

/** The element. `define` registers it. */
export class DeltaScope extends HTMLElement {
  static observedAttributes = ATTRIBUTES;
  static version = version;
  /** The URL of the page that `getUrl()` links to: embed.html, which is beside this module unless a bundler moved
      it. */
  static page;

  #api;
  #parts;
  #ready;
  #settle;
  /** Whether it has been settled well. */
  #isReady = false;
  #turn = 0;
  #given;
  #around = {};
  // Attributes that changed while the element was drawn.
  #late = new Map();
  #resume = false;
  // Numbers the calls of play and pause: only the latest counts.
  #wish = 0;
  #chosen;
  // The run that is shown while `load` draws another one.
  #kept;
  #isSeen = false;
  #disposed = false;
  #loading = false;
  #failed = false;

  constructor() {
    super();
    this.#renew();
  }

  /** The version of the package. */
  get version() {
    return version;
  }

  /** Resolves once the first picture is shown; rejects if there cannot be one. */
  get drawn() {
    return this.#ready;
  }

  /** Resolves once what the exports and `getUrl` need is there, too. */
  get ready() {
    const whole = this.#ready.then(() => this.#api?.exports());
    whole.catch(() => {});
    return whole;
  }

  connectedCallback() {
    if (this.#disposed || this.#parts) return;
    this.#build();
    for (const doubt of doubts(this)) console.warn(`deltascope: ${doubt}`);
    follow(this);
    if (this.getAttribute("load") === "eager") this.#start();
  }

  disconnectedCallback() {
    // An element that was only moved is connected again at once.
    queueMicrotask(() => {
      if (!this.isConnected) this.#close();
    });
  }

  attributeChangedCallback(name, before, value) {
    if (before === value || !this.#parts) return;
    if (name === "load") {
      this.#offer();
      if (value === "eager" || (value !== "click" && this.#isSeen)) this.#start();
      return;
    }
    if (name === "height" || name === "panels" || name === "controls") this.#measure();
    if (OPENS.has(name)) {
      this.#given = undefined;
      // The attribute that was set last counts.
      if (value !== null) this.#chosen = name;
      else if (this.#chosen === name) this.#chosen = undefined;
      if (this.#api || this.#loading || this.#failed) this.#restart();
      return;
    }
    if (before && !value && (name === "era" || name === "at")) {
      // Falls back to the lesson's own value.
      if (this.#api || this.#loading || this.#failed) this.#restart();
      return;
    }
    if (!this.#api) {
      this.#late.set(name, value ?? "");
      this.#kept?.late.set(name, value ?? "");
      return;
    }
    if (name === "theme" || name === "lang") {
      this[AROUND]();
    } else {
      this.#api.set(name, value ?? "");
    }
  }

  // Calls before the run is loaded wait for it.
  async #do(name, ...values) {
    this.#check();
    this.#start();
    await this.#ready;
    const done = await this.#api?.[name](...values);
    this.#tell();
    return done;
  }

  /** Reports a failure to the caller as well. */
  #tell() {
    const error = this.#api?.getState().error;
    if (error) throw new Error(error.message);
  }

  #check() {
    if (this.#disposed) throw new Error("This <delta-scope> was disposed of. Make another one.");
  }

  /** Plays. Out of sight it starts once the element is visible. */
  async play() {
    this.#check();
    const wish = (this.#wish += 1);
    this.#start();
    await this.#ready;
    if (wish !== this.#wish || !this.#api) return;
    if (this.#isSeen) await this.#api.play();
    else this.#resume = true;
  }

  async pause() {
    this.#wish += 1;
    this.#resume = false;
    await this.#api?.pause();
  }

  step(by = 1, granularity) { return this.#do("step", by, granularity); }
  seek(where) { return this.#do("seek", where); }
  fork() { return this.#do("fork"); }
  smallest(until) { return this.#do("smallest", until); }
  setEra(era) { return this.#do("setEra", String(era)); }
  inject(event) { return this.#do("inject", event); }
  /** Goes on in the story, or ends what plays before its scene. */
  next() { return this.#do("next"); }
  back() { return this.#do("back"); }
  /** Answers the question of the scene; null: shows what happens. */
  answer(value = null) { return this.#do("answer", value); }

  /** Goes back to the start, or to `scene` or the moment of `at`: settings stay, the user's actions are dropped. */
  async reset() {
    await this.#do("reset");
    if (this.#given) return;
    for (const [name, act] of [["scene", (scene) => this.#api?.set("scene", scene)], ["at", (at) => this.#api?.seek(at)]]) {
      const value = this.getAttribute(name);
      if (value) await act(value);
    }
  }

  /** Goes to the scene of this number, from 1. */
  get scene() { return this.#scene; }
  // As with `load`.
  set scene(number) { this.setAttribute("scene", number); }

  #scene(number) { return this.#do("scene", number); }

  /** Shows another run: the id of a lesson, a scenario as an object, the text of a trace, or a link (`#v1;…`). */
  get load() { return this.#show; }
  // Frameworks set a property if the element has one, and there is an attribute of this name as well.
  set load(when) { this.setAttribute("load", when); }

  async #show(what) {
    this.#check();
    const isRun = typeof what === "string" || (typeof what === "object" && what !== null && !Array.isArray(what));
    if (!isRun) {
      throw new TypeError("load() takes the id of a lesson, a scenario as an object, the text of a trace, or a link that begins with #v1.");
    }
    // What runs stays if the other one cannot be shown.
    if (this.#isReady && this.#api) {
      const { frame, mount } = this.#parts;
      this.#kept = { api: this.#api, given: this.#given, around: this.#around, late: new Map(), frame, mount };
      this.#api = undefined;
      this.#resume = false;
    } else if (!this.#kept) {
      this.#forget();
    }
    if (typeof what !== "string") this.#given = { scenario: what };
    else if (what.startsWith("#")) this.#given = { link: what };
    else if (/^\s*\{/.test(what)) this.#given = { file: what, name: "trace.jsonl" };
    else this.#given = { lesson: what };
    this.#turn += 1;
    this.#loading = false;
    this.#next();
    const wrong = await this.#start();
    await this.#ready;
    if (wrong) throw wrong;
    this.#tell();
  }

  /** The current state as JSON; null before the run is loaded. */
  getState() { return (this.#isReady && this.#api?.getState()) || null; }
  /** A link to this moment, on a page that shows only this run. */
  getUrl() {
    const url = this.#api?.getUrl();
    const shown = DeltaScope.page ?? PAGE;
    if (!url || !shown) return null;
    const page = new URL(shown, document.baseURI);
    page.hash = url.slice(url.indexOf("#"));
    return page.href;
  }
  /** The picture as SVG. */
  exportSvg(options) { return this.#api?.exportSvg(options ?? {}) ?? null; }
  /** The run's transcript. */
  exportTranscript() { return this.#api?.exportTranscript() ?? null; }
  /** The run as a file that can be opened again. */
  exportTrace(options) { return this.#api?.exportTrace(options) ?? null; }

  /** Releases everything, for good. */
  dispose() {
    this.#disposed = true;
    this.#close();
  }

  // --- internals ---

  #renew() {
    this.#ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#isReady = false;
    // Code that does not await `drawn` gets the event instead.
    this.#ready.catch(() => {});
  }

  get #words() {
    return WORDS[this.#lang] ?? WORDS.en;
  }

  get #lang() {
    const own = this.getAttribute("lang");
    const said = isSet(own) ? own : this.parentElement?.closest("[lang]")?.lang;
    return (said || navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
  }

  get #theme() {
    const own = this.getAttribute("theme");
    return isSet(own) ? own : isDark() ? "dark" : "light";
  }

  #build() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [BEFORE];
    const box = make("div", "box");
    const before = make("div", "before sized");
    const poster = make("slot");
    poster.name = "poster";
    const transcript = make("slot");
    transcript.name = "transcript";
    before.append(poster);
    box.append(before);
    root.replaceChildren(box, transcript);
    this.#parts = { root, box, before };
    const look = () => before.classList.toggle("has-poster", poster.assignedElements().length > 0);
    poster.addEventListener("slotchange", () => {
      look();
      this.#tint();
    });
    look();
    this.#tint();
    this.#measure();
    this.#offer();
  }

  /** Shows a button to start, a note that the run is loading, or an error. */
  #offer(message) {
    const { box, before } = this.#parts ?? {};
    if (!before) return;
    // The author's words are for readers to whom nothing runs.
    box.classList.toggle("wrong", !!message);
    before.querySelector(".announce")?.remove();
    const click = !message && this.getAttribute("load") === "click" && !this.#loading;
    const say = make(click ? "button" : "div", "announce");
    say.textContent = message ?? (click ? this.#words.start : this.#words.loading);
    say.classList.toggle("wrong", !!message);
    let button = say;
    if (message) {
      say.setAttribute("role", "alert");
      button = make("button");
      button.textContent = this.#words.again;
      say.append(" ", button);
    }
    if (click || message) button.addEventListener("click", () => this.#start(true));
    // A click on the picture starts it as well.
    before.onclick = click ? () => this.#start(true) : null;
    before.classList.toggle("waits", click);
    // With a poster the note is not needed.
    before.classList.toggle("quiet", !click && !message && before.classList.contains("has-poster"));
    before.append(say);
  }

  /** Sets the height. The placeholder is as high as the run will be. */
  #measure() {
    const { box, frame, before } = this.#parts ?? {};
    const asked = this.getAttribute("height") ?? "";
    const height = /^(\d+)(px)?$/.exec(asked)?.[1];
    const px = height >= 160 && height <= 4000 ? `${height}px` : "";
    const rooms = new Set((this.getAttribute("panels") ?? "").split(/[\s,]+/).filter(Boolean));
    const below = Number(rooms.has("now")) + Number(rooms.has("processor"));
    const controls = this.getAttribute("controls");
    const is = {
      all: rooms.size === 0,
      "two-rows": below > 0 && below < rooms.size,
      tight: rooms.size - below > 2,
      full: controls === "full",
      bare: controls === "none",
      fill: asked === "fill",
    };
    box?.classList.toggle("fill", is.fill);
    for (const count of [1, 2, 3, 4, 5]) is[`rooms-${count}`] = rooms.size - below === count;
    for (const sized of [frame, before]) {
      if (!sized) continue;
      for (const [name, on] of Object.entries(is)) sized.classList.toggle(name, on);
      sized.style.height = px;
      sized.style.minHeight = px && "0";
      sized.style.maxHeight = px && "none";
    }
  }

  [SEEN](isSeen) {
    this.#isSeen = isSeen;
    const load = this.getAttribute("load");
    if (isSeen && load !== "click" && !this.#failed) this.#start();
    // Pause when out of sight, resume when back; nothing plays before all is there.
    if (!this.#api || !this.#isReady) return;
    if (!isSeen && this.#api.getState().playing) {
      this.#resume = true;
      this.#api.pause();
    } else if (isSeen && this.#resume) {
      this.#resume = false;
      this.#api.play();
    }
  }

  [AROUND]() {
    this.#tint();
    if (!this.#api) return;
    const around = { theme: this.#theme, lang: this.#lang };
    for (const name of ["theme", "lang"]) {
      if (around[name] !== this.#around[name]) this.#api.set(name, around[name]);
    }
    this.#around = around;
  }

  /** A drawn poster contains both themes. */
  #tint(theme = this.#theme) {
    const pictures = ":scope > img[slot=poster], :scope > picture[slot=poster] > :is(source, img)";
    for (const poster of this.querySelectorAll(pictures)) {
      const name = poster.localName === "source" ? "srcset" : "src";
      const url = new URL(poster[name], document.baseURI);
      if (!url.pathname.endsWith(".svg") || url.hash === `#${theme}`) continue;
      url.hash = theme;
      poster[name] = url.href;
    }
  }

  // Prints the current picture, in light colours.
  [PRINT](isOnPaper) {
    this.#tint(isOnPaper ? "light" : undefined);
    if (!isOnPaper) return;
    const { root } = this.#parts ?? {};
    root?.querySelector(".on-paper")?.remove();
    const svg = this.exportSvg({ theme: "light", prints: navigator.onLine });
    if (!root || !svg) return;
    // The page's Content-Security-Policy may forbid inline styles even in parsed documents, but not a sheet.
    const [style = "", rules = ""] = /<style>(.*?)<\/style>/s.exec(svg) ?? [];
    const picture = new DOMParser().parseFromString(svg.replace(style, ""), "image/svg+xml").documentElement;
    this.#parts.ink ??= new CSSStyleSheet();
    this.#parts.ink.replaceSync(rules);
    if (!root.adoptedStyleSheets.includes(this.#parts.ink)) root.adoptedStyleSheets.push(this.#parts.ink);
    const printed = make("div", "on-paper");
    printed.append(document.adoptNode(picture));
    root.prepend(printed);
  }

  #restart() {
    this.#turn += 1;
    this.#forget();
    this.#next();
    this.#start();
  }

  async #start(focus = false) {
    if (this.#loading || this.#api || !this.#parts || this.#disposed) return;
    this.#loading = true;
    if (this.#failed) this.#next();
    this.#failed = false;
    const turn = (this.#turn += 1);
    // The previous run stays in place until this one is drawn.
    this.#parts.before.hidden = !!this.#parts.box.querySelector(".frame:not(.coming)");
    this.#offer();
    try {
      const [loaded, given] = await Promise.all([load(this.#isMore()), this.#what()]);
      const built = await inTurn(() => this.#draw(turn, loaded, given));
      if (!built) return;
      const api = loaded.life.guard(built);
      if (turn !== this.#turn) return api.dispose();
      this.#kept?.api.dispose();
      this.#kept = undefined;
      this.#shows(api);
      // The first picture is shown once the browser has painted.
      await frame(READY_MS);
      if (turn !== this.#turn) return;
      if (focus) this.#parts.mount.focus();
      // `getState` answers at once, so what it needs is fetched before.
      await Promise.all([this.#api.whole(), loaded.later()]);
      if (turn !== this.#turn) return;
      this.#isReady = true;
      this.#settle.resolve();
      this.#emit("ready", { version });
    } catch (error) {
      if (turn !== this.#turn) return;
      if (this.#kept) {
        const { api, given, around, late, frame, mount } = this.#kept;
        this.#kept = undefined;
        Object.assign(this.#parts, { frame, mount });
        this.#given = given;
        this.#around = around;
        this.#late = late;
        this.#measure();
        this.#shows(api);
        this.#isReady = true;
        this.#settle.resolve();
        this.#emit("error", { message: this.#said(error) });
        return error;
      }
      this.#forget();
      this.#fail(error, `${this.#words.failed} ${this.#said(error)}`);
    }
  }

  /** From now on this run is the one that is shown. */
  #shows(api) {
    this.#api = api;
    this.#loading = false;
    this[AROUND]();
    // Set the generation first: moments depend on it.
    const late = [...this.#late].sort(([a], [b]) => Number(b === "era") - Number(a === "era"));
    for (const [name, value] of late) if (!(name in this.#around)) this.#api.set(name, value);
    const { before, box, frame } = this.#parts;
    before.hidden = true;
    frame.classList.remove("coming");
    for (const other of box.querySelectorAll(".frame")) if (other !== frame) other.remove();
  }

  #said(error) {
    return error?.in?.(this.#lang) ?? error?.message ?? String(error);
  }

  /** Shows an error in place of the run. */
  #fail(error, message) {
    this.#loading = false;
    this.#failed = true;
    this.#parts.before.hidden = false;
    for (const frame of this.#parts.box.querySelectorAll(".frame")) frame.remove();
    this.#parts.frame = undefined;
    this.#offer(message);
    this.#settle.reject(error);
    this.#emit("error", { message: this.#said(error) });
  }

  /** The program has stopped, so the board no longer reacts. */
  [STOPPED](error) {
    if (!this.#parts || (!this.#api && !this.#loading)) return;
    this.#turn += 1;
    this.#api = this.#kept = undefined;
    this.#resume = false;
    this.#fail(error, this.#said(error));
  }

  /** Draws the board piece by piece, while the page around goes on. Returns nothing if it is no longer wanted. */
  async #draw(turn, { mount, sheets, life }, given) {
    await pause();
    if (turn !== this.#turn) return undefined;
    const api = this.#mount(mount, sheets, given);
    try {
      for (let more = true; more; ) {
        await pause();
        if (turn !== this.#turn) {
          if (!life.stopped) api.dispose();
          return undefined;
        }
        more = life.guard(api).build();
        if (more instanceof Error) throw more;
        await pause();
        // Forces layout after each room, instead of all at once at the end.
        this.#parts?.frame?.getBoundingClientRect();
      }
      if (this.#parts && turn === this.#turn) {
        // An inert frame could not be focused. Removing `inert` is as much work as one more piece.
        this.#parts.frame.inert = false;
        this.#parts.frame.getBoundingClientRect();
        await pause();
      }
    } catch (error) {
      if (!life.stopped) api.dispose();
      throw error;
    }
    return api;
  }

  /** Whether the first picture shows more than the begin of a small run: `starts.mjs` measures both kinds. */
  #isMore() {
    // What `#what` prefers to a lesson.
    if (!this.#given && this.#chosen !== "lesson" && (this.getAttribute("link") || this.getAttribute("src"))) return true;
    const named = { scenario: this.#chosen !== "lesson" && this.#scenario(), lesson: this.getAttribute("lesson") };
    const { scenario, lesson } = this.#given ?? named;
    const isSmall = scenario || lesson === "first-look";
    return !isSmall || this.getAttribute("controls") === "full" || ["at", "mode", "scene"].some((name) => this.hasAttribute(name));
  }

  #scenario() {
    return this.querySelector(":scope > script[type='application/json']");
  }

  /** The run to open, unless it is a lesson. */
  async #what() {
    if (this.#given) return this.#given;
    if (this.#chosen === "lesson") return {};
    const link = this.#chosen !== "src" && this.getAttribute("link");
    if (link) return { link: link.slice(Math.max(0, link.indexOf("#"))) };
    const src = this.getAttribute("src");
    if (src) {
      if (!URL.canParse(src, document.baseURI)) throw new Error(`src=${src} is no address of a file.`);
      const url = new URL(src, document.baseURI);
      const answer = await (this[READ] ?? fetch)(url);
      if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
      const text = await answer.text();
      const name = url.pathname.split("/").pop() || "run";
      return asScenario(text) ?? { file: text, name };
    }
    const script = this.#scenario();
    if (!script) return {};
    try {
      return { scenario: JSON.parse(script.textContent) };
    } catch (error) {
      throw new SyntaxError(`The JSON in <script> inside of this element has a mistake: ${error.message}`);
    }
  }

  #mount(mount, sheets, given) {
    const { root, box } = this.#parts;
    root.adoptedStyleSheets = [BEFORE, ...sheets];
    const frame = make("div", "frame sized coming");
    const rem = make("div", "rem");
    const stage = make("div", "ds");
    frame.part = "frame";
    // It has both languages itself; a machine translation would be worse, and would break what moves.
    frame.translate = false;
    frame.inert = true;
    stage.tabIndex = 0;
    stage.setAttribute("role", "group");
    stage.setAttribute("aria-label", this.#words.stage);
    rem.append(stage);
    // Receives the focus on Esc, so that Tab continues from here.
    const end = make("span", "end");
    end.tabIndex = -1;
    frame.append(rem, end);
    for (const coming of box.querySelectorAll(".coming")) coming.remove();
    box.append(frame);
    Object.assign(this.#parts, { frame, mount: stage });
    this.#measure();
    frame.style.setProperty("--base", getComputedStyle(frame).fontSize);
    this.#around = { theme: this.#theme, lang: this.#lang };
    const attributes = { ...this.#around };
    for (const name of ATTRIBUTES) {
      const value = this.getAttribute(name);
      if (value != null && !(name in this.#around)) attributes[name] = value;
    }
    this.#late.clear();
    const { lesson, ...what } = given;
    if (this.#given) {
      // These attributes belong to the run in the markup: the new one has other moments, and perhaps no
      // generations.
      delete attributes.era;
      delete attributes.at;
      delete attributes.until;
      delete attributes.scene;
      attributes.lesson = lesson ?? "";
    }
    return mount(stage, { attributes, ...what, emit: (name, detail) => this.#emit(name, detail) });
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(`ds-${name}`, { detail, bubbles: true, composed: true }));
  }

  /** Releases the previous run. */
  #forget() {
    this.#loading = false;
    this.#resume = false;
    this.#parts?.root.querySelector(".on-paper")?.remove();
    for (const api of [this.#api, this.#kept?.api]) api?.dispose();
    this.#api = this.#kept = undefined;
  }

  /** Code that awaits the cancelled run now awaits the next one. */
  #next() {
    const before = this.#settle;
    this.#renew();
    before.resolve(this.#ready);
  }

  #close() {
    this.#turn += 1;
    this.#wish += 1;
    unfollow(this);
    this.#forget();
    this.#parts?.root.replaceChildren();
    this.#parts = undefined;
    if (this.#disposed) this.#settle.reject(new Error("This <delta-scope> was disposed of."));
    else this.#next();
  }
}

/** Parses a lesson or a scenario. A trace is no single JSON value. */
function asScenario(text) {
  try {
    const scenario = JSON.parse(text);
    const isOne = ["scenario", "settings", "initial", "script", "traffic"].some((name) => name in scenario);
    return isOne ? { scenario } : undefined;
  } catch {
    return undefined;
  }
}

function make(tag, name) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  return element;
}

/** Registers the element; returns whether the name was free. Two versions on one page need two names. */
export function define(tag = TAG) {
  if (customElements.get(tag)) return false;
  // A class can be registered under one name only.
  customElements.define(tag, tag === TAG ? DeltaScope : class extends DeltaScope {});
  return true;
}

const tag = new URL(HERE).searchParams.get("tag") ?? TAG;
if (!define(tag) && customElements.get(tag).version !== version) {
  console.info(`deltascope ${version}: <${tag}> is taken by another version; import with ?tag=another-name`);
}
