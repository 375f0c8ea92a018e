// The page for an iframe: the element, with its attributes after the `#`, and messages to and from the page around
// it.
//
//     embed.html#v1;lesson=tombstone;era=1.36;at=relist;panels=api,queue,indexer
//
// The book lists the messages (docs, The element).
import { DeltaScope, READ, version } from "./deltascope.js";
import { ATTRIBUTES, EVENTS } from "./names.js";

const NS = "deltascope";
const PROTOCOL = 1;
const VERSIONS = /^#?v1$/;
// Parts of the page's own links that no attribute can express.
const OF_A_LINK = ["sel", "i"];
const LINKED = ["lesson", "era", "scene", "at", ...OF_A_LINK];
// Folders and files that `src` may name, below this page's folder: plain names without escapes.
const FOLDER = /^(?!\.)[\p{L}\p{M}\p{N}_~+@=,() .-]+$/u;
const FILE = /\.(?:jsonl?|txt|log|body)$/;
// Paths of cluster APIs: a server may have one below any folder.
const API = /^(?:k8s|apis?|openapi|proxy)$/i;
const API_WITH_LOGS = /^(?:k8s|apis?|openapi|proxy|logs?|metrics|debug|healthz|livez|readyz|version)$/i;
// Headers that an API server sets on each response.
const API_HEADERS = ["audit-id", "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"];
// Moments that only the attribute has, not the link.
const OWN_PLACE = /^(?:start|end|step:\d+)$/;
// What a message may ask for: the element's methods.
const METHODS = Object.getOwnPropertyNames(DeltaScope.prototype).filter((name) => !/^(?:constructor|version|drawn|ready|dispose)$|Callback$/.test(name));
// These have an answer of their own; the others are answered with the new state.
const QUESTION = /^(?:get|export)[A-Z]/;

const element = document.createElement("delta-scope");
const isFramed = window.parent !== window;
/** The origins that may send messages; undefined: all. */
let allowed;
/** The origins that have sent PING; they receive events. */
const asking = new Set();
const told = new Set();

// --- the fragment -------------------------------------------------------------------------------

/** The attributes and the allowed origins in a fragment. */
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
    // The link is passed on as it is, so that it opens, or fails, as on the project's page.
    const at = values.get("at") ?? "";
    const isOwn = OWN_PLACE.test(at);
    if (isOwn) attributes.set("at", at);
    const kept = pairs.filter(([key]) => LINKED.includes(key) && !(isOwn && key === "at"));
    attributes.set("link", [first.startsWith("#") ? first : `#${first}`, ...kept.map(([key, value]) => `${key}=${value}`)].join(";"));
  }
  return { attributes, origins: origins ? origins.split(",").flatMap(originOf) : undefined };
}

/** The origin as browsers write it. An invalid one is reported and allows nothing. */
function originOf(text) {
  try {
    const { origin } = new URL(text.trim());
    if (origin !== "null") return [origin];
  } catch {
    // Reported below.
  }
  if (text.trim()) console.error(`deltascope: origin=${text} is no origin. Write https://example.org.`);
  return [];
}

/**
 * The page around writes the fragment, and could make this page read what only its reader may read. So `src` may only name
 * files below this page's folder, and never what a server under the same origin passes on from a cluster. How a server
 * decodes an unusual path is not known here, so no escapes are allowed.
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

/** Whether the page is embedded by another origin. */
function isForeign() {
  try {
    for (let one = window; one !== one.parent; one = one.parent) {
      if (one.parent.location.origin !== location.origin) return true;
    }
    return false;
  } catch {
    // The browser does not let this page look.
    return true;
  }
}

element[READ] = async (url) => {
  const answer = await fetch(ours(url), { redirect: "error" });
  if (API_HEADERS.some((name) => answer.headers.has(name))) throw refused(url);
  return answer;
};

/** Some programs escape `;`, `=` and `,` when they pass on a link. */
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
  // The element uses the language of its surroundings.
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
    // Values that cannot be cloned mean nothing to another page.
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
  if (!METHODS.includes(type)) {
    throw new Error(`There is no type ${JSON.stringify(type)}. These are: PING, set, ${METHODS.join(", ")}.`);
  }
  // It answers at once, so what it needs is fetched before.
  if (/^(export|getUrl)/.test(type)) await element.ready.catch(() => {});
  const value = await element[type](...args);
  return QUESTION.test(type) ? value : element.getState();
}

function onMessage({ data, origin, source }) {
  if (!isFramed || source !== window.parent) return;
  // Reveal.js sends this to every iframe.
  const isSlide = data === "slide:start" || data === "slide:stop";
  if (!isSlide && !(isObject(data) && data.ns === NS)) return;
  if (!isAllowed(origin)) {
    if (!told.has(origin)) console.warn(`deltascope: ${origin} is not in origin=${allowed.join(",")}, and is not answered.`);
    told.add(origin);
    return;
  }
  if (isSlide) return onSlide(data);
  // A page from a file has an opaque origin, which cannot be addressed.
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
/** A slide out of sight does not play. A run with mode=watch plays when its slide is shown. */
function onSlide(what) {
  const state = element.getState();
  if (what === "slide:stop") {
    resume = resume || state?.playing === true;
    // Cancels a play that has not begun yet.
    quietly(element.pause());
  } else if (resume || element.getAttribute("mode") === "watch") {
    resume = false;
    quietly(element.play());
  }
}

/** The ds-error event reports failures. */
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

// The height is not confidential, so it is sent before the page asks.
let height;
new ResizeObserver(() => {
  if (!isFramed || element.getAttribute("height") !== "auto") return;
  const px = Math.ceil(element.getBoundingClientRect().height);
  if (px === height) return;
  height = px;
  for (const origin of allowed ?? ["*"]) post({ type: "HEIGHT", px }, origin);
}).observe(element);

// Esc leaves the element, then the frame, so that keys belong to the page around again.
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
