// Runs Firefox for its tests, over WebDriver BiDi. FIREFOX names another binary.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import WebSocket from "ws";

const PATIENCE_MS = 60_000;
// No updates, no pages except ours; motion is reduced, as in Chromium's tests.
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.safebrowsing.update.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "extensions.update.enabled": false,
  "layout.css.prefers-color-scheme.content-override": 1,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,",
  "toolkit.telemetry.reportingpolicy.firstRun": false,
  "ui.prefersReducedMotion": 1,
};

/** The path of Firefox, or nothing if it is not installed. */
export function firefox() {
  if (process.env.FIREFOX) return process.env.FIREFOX;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return ["firefox-esr", "firefox"].flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

/** Calls `body` with a page in a profile of its own. `problems` collects the page's errors. */
export async function inFirefox(body) {
  const profile = await mkdtemp(join(tmpdir(), "deltascope-firefox-"));
  const preferences = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
  await writeFile(join(profile, "user.js"), preferences.join(""));
  const program = spawn(firefox(), ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const gone = new Promise((resolve) => program.once("close", resolve));
  let socket;
  try {
    const page = await within(Page.of(program, (opened) => (socket = opened)), "Firefox does not start");
    await body(page);
  } finally {
    socket?.terminate();
    program.kill();
    await gone;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

class Page {
  problems = [];
  #socket;
  #asked = new Map();
  #last = 0;
  #context;

  static async of(program, opened) {
    const address = await new Promise((resolve, reject) => {
      program.once("error", reject);
      program.once("exit", (code) => reject(new Error(`Firefox ended with ${code}`)));
      createInterface({ input: program.stderr }).on("line", (line) => {
        const [, found] = /listening on (ws:\S+)/.exec(line) ?? [];
        if (found) resolve(found);
      });
    });
    const page = new Page();
    page.#socket = new WebSocket(`${address}/session`);
    opened(page.#socket);
    await new Promise((resolve, reject) => page.#socket.once("open", resolve).once("error", reject));
    page.#socket.on("message", (data) => page.#hear(JSON.parse(data)));
    await page.#ask("session.new", { capabilities: {} });
    await page.#ask("session.subscribe", { events: ["log.entryAdded"] });
    ({ contexts: [{ context: page.#context }] } = await page.#ask("browsingContext.getTree", {}));
    return page;
  }

  #hear({ id, type, result, message, method, params }) {
    if (method === "log.entryAdded" && params.level === "error") this.problems.push(params.text);
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (type === "success") asked?.resolve(result);
    else if (type === "error") asked?.reject(new Error(message));
  }

  #ask(method, params) {
    const id = (this.#last += 1);
    const answer = new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    this.#socket.send(JSON.stringify({ id, method, params }));
    return within(answer, method);
  }

  goto(url) {
    return this.#ask("browsingContext.navigate", { context: this.#context, url, wait: "complete" });
  }

  /** The result of a function in the page, as JSON. */
  async evaluate(what, ...args) {
    const { result, exceptionDetails } = await this.#ask("script.callFunction", {
      functionDeclaration: `async (given) => JSON.stringify(await (${what})(...JSON.parse(given)) ?? null)`,
      arguments: [{ type: "string", value: JSON.stringify(args) }],
      awaitPromise: true,
      userActivation: true,
      target: { context: this.#context },
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  }

  /** Presses keys, given as WebDriver's characters. */
  async press(...keys) {
    const actions = keys.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    await this.#ask("input.performActions", { context: this.#context, actions: [{ type: "key", id: "keys", actions }] });
  }
}
