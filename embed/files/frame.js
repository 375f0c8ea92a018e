// The page in an iframe: the element, with what stands behind the `#` as its attributes, and messages from
// the page around.
//
//     embed.html#v1;lesson=tombstone;era=1.36;at=relist;panels=api,queue,indexer
//
// The book lists the messages (docs, The element).
import { DeltaScope, READ, version } from "./deltascope.js";

const NS = "deltascope";
const PROTOCOL = 1;
const VERSIONS = /^#?v1$/;
// What the page's own links hold beyond what an attribute can say.
const OF_A_LINK = ["sel", "i"];
const LINKED = ["lesson", "era", "at", ...OF_A_LINK];
// What `src` may be, below the folder of this page: names of files as people give them, in no other spelling.
const FOLDER = /^(?!\.)[\p{L}\p{M}\p{N}_~+@=,() .-]+$/u;
const FILE = /\.(?:jsonl?|txt|log|body)$/;
// Where the APIs of clusters are: a server may have one below any folder.
const API = /^(?:k8s|apis?|openapi|proxy)$/i;
const API_WITH_LOGS = /^(?:k8s|apis?|openapi|proxy|logs?|metrics|debug|healthz|livez|readyz|version)$/i;
// An API server says these of each answer.
const API_HEADERS = ["audit-id", "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"];
// Moments that only attributes have.
const OWN_PLACE = /^(?:start|end|step:\d+)$/;
const ATTRIBUTES = DeltaScope.observedAttributes;
const COMMANDS = ["play", "pause", "step", "seek", "reset", "fork", "setEra", "inject", "load"];
const QUESTIONS = ["getState", "getUrl", "exportSvg", "exportTranscript", "exportTrace"];
const EVENTS = ["ready", "step", "marker", "violation", "error"];

const element = document.createElement("delta-scope");
const isFramed = window.parent !== window;
/** Who may ask: origins, or nothing, where anybody may. */
let allowed;
/** Who has asked: events go there. */
const asking = new Set();
const told = new Set();

// --- what stands behind the `#` -----------------------------------------------------------------

/** The attributes that a fragment stands for, and who may ask. */
function read(fragment) {
  const whole = fragment.includes(";") ? fragment : unescape(fragment);
  const [first = "", ...parts] = whole.split(";");
  const pairs = parts.map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
  });
  const values = new Map(pairs.map(([key, value]) => [key, unescape(value)]));
  const origins = values.get("origin");
  const attributes = new Map([["height", "fill"]]);
  const isLink = first !== "" && (!VERSIONS.test(first) || OF_A_LINK.some((key) => values.has(key)));
  for (const name of ATTRIBUTES) {
    if (name !== "link" && values.has(name) && !(isLink && LINKED.includes(name))) attributes.set(name, values.get(name));
  }
  if (isLink) {
    // It is opened as the page opens it, and what is wrong with it is told in the same words.
    const at = values.get("at") ?? "";
    const isOwn = OWN_PLACE.test(at);
    if (isOwn) attributes.set("at", at);
    const kept = pairs.filter(([key]) => LINKED.includes(key) && !(isOwn && key === "at"));
    attributes.set("link", [first.startsWith("#") ? first : `#${first}`, ...kept.map(([key, value]) => `${key}=${value}`)].join(";"));
  }
  return { attributes, origins: origins ? origins.split(",").flatMap(originOf) : undefined };
}

/** As browsers write it; what is none is said, and allows nobody. */
function originOf(text) {
  try {
    const { origin } = new URL(text.trim());
    if (origin !== "null") return [origin];
  } catch {
    // Said below.
  }
  if (text.trim()) console.error(`deltascope: origin=${text} is no origin. Write https://example.org.`);
  return [];
}

/**
 * Whoever embeds this page writes what stands behind the `#`, and could have it read what only the reader may: so it reads
 * files beside itself, and never what a server under the same address hands on from a cluster. What a server makes of an
 * odd spelling is its own affair, so there is none.
 */
function ours(src) {
  const folder = new URL(".", import.meta.url);
  if (!URL.canParse(src, document.baseURI)) throw refused(src);
  const url = new URL(src, document.baseURI);
  const isInside = url.origin === folder.origin && url.pathname.startsWith(folder.pathname);
  const names = url.pathname.slice(folder.pathname.length).split("/").map(unescape);
  const api = isForeign() ? API_WITH_LOGS : API;
  if (!isInside || !names.every((name) => FOLDER.test(name)) || names.slice(0, -1).some((name) => api.test(name)) || !FILE.test(names.at(-1))) {
    throw refused(src);
  }
  return url;
}

function refused(src) {
  return new Error(`src=${src}: in a frame only files beside embed.html are opened (.json, .jsonl, .txt, .log). Embed the element itself, or put the file there.`);
}

/** Whether a page of another origin is around this one. */
function isForeign() {
  try {
    for (let one = window; one !== one.parent; one = one.parent) {
      if (one.parent.location.origin !== location.origin) return true;
    }
    return false;
  } catch {
    // It may not be asked.
    return true;
  }
}

element[READ] = async (url) => {
  const answer = await fetch(ours(url), { redirect: "error" });
  if (API_HEADERS.some((name) => answer.headers.has(name))) throw refused(url);
  return answer;
};

/** Some programs write `;`, `=` and `,` in another way when they pass a link on. */
function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function apply() {
  const { attributes, origins } = read(location.hash);
  allowed = origins;
  // The element goes by the language that is written on what it stands in.
  const chinese = (attributes.get("lang") || navigator.language).toLowerCase().startsWith("zh");
  document.documentElement.lang = chinese ? "zh-Hans" : "en";
  for (const name of ATTRIBUTES) {
    let value = attributes.get(name);
    if (name === "src" && value) {
      try {
        ours(value);
      } catch (error) {
        console.error(`deltascope: ${error.message}`);
        value = undefined;
      }
    }
    if (value === undefined) element.removeAttribute(name);
    else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

apply();
document.body.append(element);
addEventListener("hashchange", apply);

// --- messages -----------------------------------------------------------------------------------

function post(message, origin) {
  window.parent.postMessage({ ns: NS, v: PROTOCOL, ...message }, origin);
}

const isAllowed = (origin) => !allowed || allowed.includes(origin);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

async function answer({ id, type, args }, origin) {
  try {
    const value = await obey(type, args);
    // What cannot be copied says nothing to another page.
    post({ type: "REPLY", id, ok: true, value: value === undefined ? null : value }, origin);
  } catch (error) {
    post({ type: "REPLY", id, ok: false, error: error?.message ?? String(error) }, origin);
  }
}

async function obey(type, args = []) {
  if (!Array.isArray(args)) throw new Error(`"args" of ${type} must be an array: the arguments of the method, in order.`);
  if (type === "set") {
    const [name, value] = args;
    if (!ATTRIBUTES.includes(name)) throw new Error(`There is no attribute ${JSON.stringify(name)}. These are: ${ATTRIBUTES.join(", ")}.`);
    if (name === "src" && value != null) ours(String(value));
    if (value == null) element.removeAttribute(name);
    else element.setAttribute(name, String(value));
    return null;
  }
  if (QUESTIONS.includes(type)) return element[type](...args);
  if (!COMMANDS.includes(type)) {
    throw new Error(`There is no type ${JSON.stringify(type)}. These are: PING, set, ${[...COMMANDS, ...QUESTIONS].join(", ")}.`);
  }
  await element[type](...args);
  return element.getState();
}

function onMessage({ data, origin, source }) {
  if (!isFramed || source !== window.parent) return;
  // Reveal.js says it to every iframe.
  const isSlide = data === "slide:start" || data === "slide:stop";
  if (!isSlide && !(isObject(data) && data.ns === NS)) return;
  if (!isAllowed(origin)) {
    if (!told.has(origin)) console.warn(`deltascope: ${origin} is not in origin=${allowed.join(",")}, and is not answered.`);
    told.add(origin);
    return;
  }
  if (isSlide) return onSlide(data);
  // A page from a file has no origin that could be named.
  const target = origin === "null" ? "*" : origin;
  const { v, id = null, type } = data;
  if (v !== PROTOCOL) {
    post({ type: "REPLY", id, ok: false, error: `v is ${JSON.stringify(v)}. This speaks version ${PROTOCOL}.` }, target);
  } else if (typeof type !== "string") {
    post({ type: "REPLY", id, ok: false, error: '"type" must be a text: PING, or the name of a method.' }, target);
  } else if (type === "PING") {
    asking.add(target);
    post({ type: "PONG", id, version, ready: element.getState() !== null }, target);
    if (height !== undefined) post({ type: "HEIGHT", px: height }, target);
  } else {
    answer(data, target);
  }
}

let resume = false;
/** What is off the screen does not play; what is for watching plays when it comes. */
function onSlide(what) {
  const state = element.getState();
  if (what === "slide:stop") {
    resume = resume || state?.playing === true;
    // What was asked for and has not begun does not begin.
    quietly(element.pause());
  } else if (resume || element.getAttribute("mode") === "watch") {
    resume = false;
    quietly(element.play());
  }
}

/** What went wrong is told by ds-error. */
function quietly(promise) {
  promise.catch(() => {});
}

addEventListener("message", onMessage);
for (const name of EVENTS) {
  element.addEventListener(`ds-${name}`, ({ detail }) => {
    for (const origin of asking) if (isAllowed(origin)) post({ type: "EVENT", name: `ds-${name}`, detail }, origin);
  });
}

// --- the page around ----------------------------------------------------------------------------

// How high it is is no secret: it is told before anybody asks.
let height;
new ResizeObserver(() => {
  if (!isFramed || element.getAttribute("height") !== "auto") return;
  const px = Math.ceil(element.getBoundingClientRect().height);
  if (px === height) return;
  height = px;
  for (const origin of allowed ?? ["*"]) post({ type: "HEIGHT", px }, origin);
}).observe(element);

// Esc leaves the element; then it leaves the frame, and keys are the page's again.
addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || !isFramed) return;
    setTimeout(() => {
      const { activeElement } = document;
      if (!activeElement || activeElement === document.body) window.parent.focus();
    });
  },
  true,
);
