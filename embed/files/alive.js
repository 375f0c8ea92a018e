// Watches from outside whether the program is alive. A program that has run out of memory or panicked cannot
// report that itself, and its pending promises never settle.

const WORDS = {
  en: {
    stopped: "The program has stopped",
    memory: "it ran out of memory",
    stack: "it ran out of stack",
    error: "it met an error of its own",
    part: "a part of it could not be loaded",
    none: () => "This browser has no WebAssembly, or it is switched off; Lockdown Mode does that. Allow it for this page, or use another browser.",
    policy: () => "The policy of this page refuses WebAssembly. Add 'wasm-unsafe-eval' to its script-src.",
    old: (what) => `This browser is too old for the program (${what}). Use a current version of Chrome, Edge, Firefox or Safari.`,
    room: (what) => `This browser has no memory for the program (${what}). Close other tabs, then try again.`,
    missing: (what) => `The program could not be loaded (${what}). Check the connection, then try again.`,
  },
  zh: {
    stopped: "程序已停止",
    memory: "内存耗尽",
    stack: "调用栈溢出",
    error: "程序内部出错",
    part: "程序的一部分未能加载",
    none: () => "此浏览器没有 WebAssembly，或已将其禁用（例如锁定模式）。请为本页面启用它，或换用其他浏览器。",
    policy: () => "本页面的安全策略不允许 WebAssembly。需要由提供页面的一方在 script-src 中加入 'wasm-unsafe-eval'。",
    old: (what) => `此浏览器版本太旧，无法运行该程序（${what}）。请使用新版的 Chrome、Edge、Firefox 或 Safari。`,
    room: (what) => `浏览器没有足够的内存来运行该程序（${what}）。请关闭其他标签页，然后重试。`,
    missing: (what) => `程序加载失败（${what}）。请检查网络连接，然后重试。`,
  },
};

/** Whether an error is one of WebAssembly's, in a browser that has it. */
const isOf = (error, kind) => typeof WebAssembly === "object" && error instanceof WebAssembly[kind];

/** A module with what the program needs of WebAssembly: references, bulk memory, sign extension, conversions that do not trap. */
const NEEDED = Uint8Array.of(
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7d, 1, 0x7f, 3, 2, 1, 0, 4, 4, 1, 0x6f, 0, 1, 5, 3, 1, 0, 1,
  10, 18, 1, 16, 0, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0, 0x20, 0, 0xfc, 0, 0xc0, 11,
);

/** Which words say why the program could not be loaded. */
function kindOf(error, what) {
  if (typeof WebAssembly !== "object") return "none";
  // Browsers word the refusal differently, but all name the policy. An address says nothing.
  const isRefused = isOf(error, "CompileError") || error instanceof EvalError;
  const words = what.replace(/\b[a-z]+:\/\/\S+/gi, "");
  if (isRefused && /content security policy|unsafe-eval|\bCSP\b/i.test(words)) return "policy";
  if (error instanceof RangeError) return "room";
  // A current browser that cannot read the program has got something else, or a piece of it.
  return WebAssembly.validate(NEEDED) ? "missing" : "old";
}

/** That the program could not be loaded, why, and what to do. */
export class Absent extends Error {
  #words;
  constructor(error) {
    const what = error?.message ?? String(error);
    const kind = kindOf(error, what);
    const words = (lang) => (WORDS[lang] ?? WORDS.en)[kind](what);
    super(words("en"), { cause: error });
    this.#words = words;
  }
  in(lang) {
    return this.#words(lang);
  }
}

/** Why a program stopped, in both languages. A panic leaves its message behind; a trap without one means that
    memory ran out. */
function whyOf(error) {
  const panic = globalThis.deltascopePanic;
  const isTrap = isOf(error, "RuntimeError");
  return (lang) => {
    const words = WORDS[lang] ?? WORDS.en;
    if (panic) return `${words.error} (${panic})`;
    if (!isTrap) return words.stack;
    // The program waited for it, and cannot go on without.
    if (error.isAbsent) return `${words.part} (${error.message})`;
    return /unreachable/i.test(error.message) ? words.memory : `${words.error} (${error.message})`;
  };
}

/** The end of a program as an error. `why(lang)` is only the reason. */
class Stopped extends Error {
  constructor(error, why) {
    super(`${WORDS.en.stopped}: ${why("en")}.`, { cause: error });
    this.why = why;
  }
  in(lang) {
    return `${(WORDS[lang] ?? WORDS.en).stopped}${lang === "zh" ? "：" : ": "}${this.why(lang)}${lang === "zh" ? "。" : "."}`;
  }
}

/** The innermost frame of a stack, in Chromium's or the other browsers' format. */
const topOf = (stack) => stack.split("\n").find((line) => /^\s+at |^[^\s]*@/.test(line)) ?? "";

/** The life of one program. Once it has ended, all calls fail with the reason. */
export class Life {
  #isOurs;
  #ended;
  #waiting = new Set();
  /** The error that it ended with. */
  stopped;

  /** `isOurs` returns whether a stack belongs to this program; `ended` is called once with a `Stopped`. */
  constructor(isOurs, ended) {
    this.#isOurs = isOurs;
    this.#ended = ended;
    const onError = (event) => {
      // The error is handled here.
      if (this.endsWith(event.error ?? event.reason)) event.preventDefault();
    };
    addEventListener("error", onError);
    addEventListener("unhandledrejection", onError);
  }

  /** Whether an error ends the program, as opposed to one that the program throws on purpose. */
  endsWith(error) {
    const isTrap = isOf(error, "RuntimeError");
    const isDeep = error instanceof RangeError || error?.name === "InternalError";
    if (!(isTrap || isDeep)) return false;
    const stack = error.stack ?? "";
    // An error in the page's listener has this program further down its stack. On a stack overflow only the
    // innermost frame counts.
    if (!this.#isOurs(isTrap ? stack : topOf(stack))) return false;
    if (!this.stopped) {
      this.stopped = new Stopped(error, whyOf(error));
      // The message belonged to this program; the next one starts without.
      globalThis.deltascopePanic = undefined;
      for (const reject of this.#waiting) reject(this.stopped);
      this.#waiting.clear();
      this.#ended(this.stopped);
    }
    return true;
  }

  /** The same object, but its methods throw and its promises reject once the program has ended. */
  guard(object) {
    const guarded = (value) => {
      if (typeof value === "function") return this.#guarded(value);
      if (!(value instanceof Promise)) return value;
      const answer = this.#orStopped(value);
      // The caller may not await it, which must not count as unhandled.
      answer.catch(() => {});
      return answer;
    };
    const same = {};
    for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      // What is only fetched for those who ask is not asked for here.
      if (get) Object.defineProperty(same, name, { get: () => guarded(get.call(object)) });
      else same[name] = guarded(value);
    }
    return same;
  }

  #guarded(method) {
    return (...args) => {
      if (this.stopped) throw this.stopped;
      try {
        const answer = method(...args);
        return answer instanceof Promise ? this.#orStopped(answer) : answer;
      } catch (error) {
        throw this.endsWith(error) ? this.stopped : error;
      }
    };
  }

  #orStopped(answer) {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      answer.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }
}
