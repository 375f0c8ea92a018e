// Watches from outside whether the program is alive. A program that has run out of memory or panicked cannot
// report that itself, and its pending promises never settle.

const WORDS = {
  en: {
    stopped: "The program has stopped",
    memory: "it ran out of memory",
    stack: "it ran out of stack",
    error: "it met an error of its own",
  },
  zh: { stopped: "程序已停止", memory: "内存耗尽", stack: "调用栈溢出", error: "程序内部出错" },
};

/** Why a program stopped, in both languages. A panic leaves its message behind; a trap without one means that
    memory ran out. */
function whyOf(error) {
  const panic = globalThis.deltascopePanic;
  const isTrap = error instanceof WebAssembly.RuntimeError;
  return (lang) => {
    const words = WORDS[lang] ?? WORDS.en;
    if (panic) return `${words.error} (${panic})`;
    if (!isTrap) return words.stack;
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
    const isTrap = error instanceof WebAssembly.RuntimeError;
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
    return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, guarded(value)]));
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
