// Whether the program is alive, seen from outside of it: a program that has run out of memory, or has met an error of its
// own, cannot say so itself, and what was asked of it is never answered.

const WORDS = {
  en: {
    stopped: "The program has stopped",
    memory: "it ran out of memory",
    stack: "it ran out of stack",
    error: "it met an error of its own",
  },
  zh: { stopped: "程序已停止", memory: "内存耗尽", stack: "调用栈溢出", error: "程序内部出错" },
};

/** Why a program stopped, in both languages. A panic leaves its message behind; what aborts without one asked for memory that there is not. */
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

/** The end of a program, as an error. `why(lang)` is the reason alone. */
class Stopped extends Error {
  constructor(error, why) {
    super(`${WORDS.en.stopped}: ${why("en")}.`, { cause: error });
    this.why = why;
  }
  in(lang) {
    return `${(WORDS[lang] ?? WORDS.en).stopped}${lang === "zh" ? "：" : ": "}${this.why(lang)}${lang === "zh" ? "。" : "."}`;
  }
}

/** The innermost frame of a stack, as Chromium or as the others write it. */
const topOf = (stack) => stack.split("\n").find((line) => /^\s+at |^[^\s]*@/.test(line)) ?? "";

/** The life of one program. It is told once that it ended, and answers for it from then on. */
export class Life {
  #isOurs;
  #ended;
  #waiting = new Set();
  /** What it ended with. */
  stopped;

  /** `isOurs`: whether a stack is of this program; `ended` is called with a `Stopped`. */
  constructor(isOurs, ended) {
    this.#isOurs = isOurs;
    this.#ended = ended;
    const onError = (event) => {
      // Nobody else can do anything about it.
      if (this.endsWith(event.error ?? event.reason)) event.preventDefault();
    };
    addEventListener("error", onError);
    addEventListener("unhandledrejection", onError);
  }

  /** Whether an error is the end of it, and not one that it hands out. */
  endsWith(error) {
    const isTrap = error instanceof WebAssembly.RuntimeError;
    const isDeep = error instanceof RangeError || error?.name === "InternalError";
    if (!(isTrap || isDeep)) return false;
    const stack = error.stack ?? "";
    // What a listener throws has this program beneath it; where the stack is out, this program was at its top.
    if (!this.#isOurs(isTrap ? stack : topOf(stack))) return false;
    if (!this.stopped) {
      this.stopped = new Stopped(error, whyOf(error));
      // The next program has none of its own yet.
      globalThis.deltascopePanic = undefined;
      for (const reject of this.#waiting) reject(this.stopped);
      this.#waiting.clear();
      this.#ended(this.stopped);
    }
    return true;
  }

  /** The same object, but that its methods fail, and its promises are rejected, once the program has ended. */
  guard(object) {
    const guarded = (value) => {
      if (typeof value === "function") return this.#guarded(value);
      if (!(value instanceof Promise)) return value;
      const answer = this.#orStopped(value);
      // Nobody may be waiting for it.
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
