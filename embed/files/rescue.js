// Shown when the program has died or cannot be loaded: an error, a copy of the recording, and a way on. It does
// not depend on the program.
import { Absent, Life } from "./alive.js";

// The program makes elements of its own templates, which hold nothing that could run.
globalThis.trustedTypes?.createPolicy("default", {
  createHTML(html) {
    if (/<(script|iframe|object|embed|base|link|meta)\b|\son\w+\s*=|javascript:/i.test(html)) throw new TypeError("no template of the page");
    return html;
  },
});

/** How much of the program has come, on the start screen of a first visit: a browser keeps compiled only what nobody
    else reads, so later ones are left alone. A compressed file's length says nothing of what comes out of it. */
const { fetch } = globalThis;
const isNew = () => {
  try {
    return !localStorage.getItem("deltascope.seen");
  } catch {
    return false;
  }
};
const bar = document.querySelector("#loading .bar");
if (bar && isNew()) globalThis.fetch = async (...asked) => {
  const answer = await fetch(...asked);
  if (!answer.ok || !answer.url.endsWith("_bg.wasm")) return answer;
  globalThis.fetch = fetch;
  const mb = (bytes) => (bytes / 1e6).toFixed(1);
  const all = answer.headers.has("content-encoding") ? 0 : answer.headers.get("content-length");
  const reader = answer.clone().body.getReader();
  let come = 0;
  const count = async () => {
    for (let piece; !(piece = await reader.read()).done; ) {
      come += piece.value.length;
      bar.dataset.come = `${mb(come)}${all > 0 ? ` / ${mb(all)}` : ""} MB`;
    }
  };
  // Whoever reads the answer itself says why it does not come.
  count().catch(() => {});
  return answer;
};

const WORDS = {
  en: {
    title: "The program has stopped",
    missing: "The program did not come",
    why: (why) => `Nothing goes on, because ${why}. The page has to be loaded again.`,
    kept: "What you did until then is kept, and can be opened again.",
    keptPart: "What you did is kept up to the bound of a recording, and can be opened again.",
    large: "What was open came from a file or is too large to keep a copy; open that file again.",
    link: "This link was open. It is left out when the page is loaded again:",
    save: "Save the recording",
    again: "Load the page again",
  },
  zh: {
    title: "程序已停止",
    missing: "程序未能加载",
    why: (why) => `无法继续运行：${why}。需要重新加载页面。`,
    kept: "此前的操作已保留，可以重新打开。",
    keptPart: "此前的操作已保留到录制的上限，可以重新打开。",
    large: "打开的内容来自文件，或太大而未保留副本；请重新打开该文件。",
    link: "打开的是下面的链接。重新加载页面时会去掉它：",
    save: "保存运行记录",
    again: "重新加载页面",
  },
};
const NAME = "deltascope-rescued.jsonl";

let api;
let isAbsent = false;
/** The lines of the recording that the program has handed out. */
let lines = [];
let isWhole = true;

/** Called by the program with the recording, or with what was added to it. An empty text means that there is no
    copy of this run. */
globalThis.deltascopeKeep = (text, isMore, whole) => {
  if (!isMore) lines = [];
  if (text) lines.push(text);
  isWhole = whole;
};

// The program says which language it speaks, once it is there.
const lang = () => (((api && document.documentElement.lang) || navigator.language).startsWith("zh") ? "zh" : "en");

function make(tag, attributes, ...inside) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...inside);
  return element;
}

function button(id, text, act) {
  const one = make("button", { type: "button", textContent: text, onclick: act });
  one.dataset.testid = id;
  return one;
}

function save() {
  const url = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  make("a", { href: url, download: NAME }).click();
  setTimeout(() => URL.revokeObjectURL(url));
}

function again() {
  history.replaceState(null, "", location.pathname + location.search);
  location.reload();
}

/** Shows the dialog. The page below no longer works, so keys and clicks end here. */
function show(title, text) {
  const words = WORDS[lang()];
  const dialog = make("dialog", { className: "rescue" }, make("h2", { textContent: title }), make("p", { textContent: text }));
  dialog.dataset.testid = "rescue";
  const buttons = make("p", { className: "buttons" });
  if (lines.length > 0) {
    dialog.append(make("p", { textContent: isWhole ? words.kept : words.keptPart }));
    buttons.append(button("rescue-save", words.save, save));
  } else if (!isWhole) {
    dialog.append(make("p", { textContent: words.large }));
  }
  if (location.hash.length > 1) {
    const link = make("textarea", { readOnly: true, value: location.href, rows: 3 });
    link.setAttribute("aria-label", words.link);
    dialog.append(make("p", { textContent: words.link }), link);
  }
  buttons.append(button("rescue-again", words.again, again));
  buttons.firstChild.autofocus = true;
  dialog.append(buttons);
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.getElementById("loading")?.remove();
  document.body.append(dialog);
  // An old browser has no dialogs; there it stands below the page.
  dialog.showModal?.();
  dialog.setAttribute("open", "");
  for (const name of ["keydown", "keyup", "pointerdown", "pointermove", "pointerup", "click", "input", "change", "drop", "dragover", "hashchange"]) {
    addEventListener(name, (event) => dialog.contains(event.target) || event.stopImmediatePropagation(), true);
  }
}

// The names of the program's files: its glue, and its other modules.
const life = new Life((stack) => /\bdeltascope-[0-9a-f]+(?:_bg\.wasm|\.js|-\w+\.wasm)\b/.test(stack), (stopped) => {
  console.warn(stopped);
  show(WORDS[lang()].title, WORDS[lang()].why(stopped.why(lang())));
});

Object.defineProperty(globalThis, "deltascope", {
  configurable: true,
  get: () => api,
  set(given) {
    api = life.guard(given);
  },
});

/** Until the program has started, any error means that it cannot be loaded. */
function absent(error) {
  if (api || isAbsent || life.stopped || life.endsWith(error)) return;
  isAbsent = true;
  show(WORDS[lang()].missing, new Absent(error).in(lang()));
}
addEventListener("error", (event) => {
  const address = event.target?.src ?? event.target?.href;
  if (address || event.error) absent(event.error ?? new Error(address));
}, true);
addEventListener("unhandledrejection", ({ reason }) => absent(reason));
