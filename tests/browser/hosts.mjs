// Pages of other sites with the package, in a real Chromium.
//
//     import { hosts, deltascope } from "../hosts.mjs";
//     const onHost = hosts();
//     test("it is shown", onHost({ "index.html": page(…) }, async (host) => { … }));
//
// Each page has the package under `deltascope/`, in a sub-path of a sub-path.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { DIST, EXPORTS, FILE, launch } from "./harness.mjs";
import { TYPES } from "./server.mjs";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const PACKAGES = fileURLToPath(new URL("hosts/node_modules", import.meta.url));
/** The headers of a site with a strict policy. */
export const STRICT = {
  "content-security-policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-src 'self'",
};
const PREFIX = "/docs/guide/";
const PATIENCE_MS = 60_000;

/** A page with this body. */
export const page = (body, { html = 'lang="en"', head = "" } = {}) =>
  `<!doctype html><html ${html}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
  `<title>host</title>${head}<script type="module" src="deltascope/deltascope.js"></script></head><body>${body}</body></html>`;
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>';

/** Serves folders and texts by path; a path that ends with `/` is a folder. Files in `fails` fail once. */
export async function serveHost(places, { headers = {}, port = 0, fails = [] } = {}) {
  const all = Object.entries({ ...places, "deltascope/": places["deltascope/"] ?? DIST });
  all.sort(([a], [b]) => b.length - a.length);
  const asked = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const answer = (status, type, body) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store", ...headers });
      response.end(body);
    };
    asked.push(pathname);
    const failing = fails.findIndex((name) => name.test(pathname));
    if (failing >= 0) {
      fails.splice(failing, 1);
      return answer(503, "text/plain", "not now");
    }
    if (pathname === "/favicon.ico") return answer(200, TYPES[".svg"], ICON);
    if (!pathname.startsWith(PREFIX)) return answer(404, "text/plain", "outside the sub-path");
    let name = decodeURIComponent(pathname.slice(PREFIX.length));
    if (name === "" || name.endsWith("/")) name += "index.html";
    for (const [path, what] of all) {
      if (path === name && typeof what === "string" && !path.endsWith("/")) {
        return answer(200, TYPES[extname(name)] ?? "application/octet-stream", what);
      }
      if (!path.endsWith("/") && path !== "") continue;
      const inside = normalize(name.slice(path.length));
      if (!name.startsWith(path) || inside.startsWith("..") || inside.startsWith(sep)) continue;
      try {
        const file = join(what, inside);
        if ((await stat(file)).isFile()) {
          return answer(200, TYPES[extname(name)] ?? "application/octet-stream", await readFile(file));
        }
      } catch {
        // The next place may have the file.
      }
    }
    answer(404, "text/plain", `no ${name}`);
  });
  await new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", listening);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}${PREFIX}`,
    asked,
    close: () =>
      new Promise((closed) => {
        server.close(closed);
        server.closeAllConnections();
      }),
  };
}

/** One browser for the tests of a file. Each test gets its own server and profile. */
export function hosts() {
  let browser;
  before(async () => {
    assert.ok(existsSync(`${DIST}/deltascope.js`), `${DIST} holds no deltascope.js: run make dist`);
    browser = await launch();
  });
  after(() => browser?.close());
  return (places, ...rest) => {
    const body = rest.pop();
    const options = rest.pop() ?? {};
    return async (t) => {
      const server = await serveHost(typeof places === "function" ? await places() : places, options);
      const host = await Host.open(browser, server, options);
      try {
        await body(host, t);
        assert.deepEqual(host.problems, [], "the page logged errors or asked for what it should not");
      } catch (error) {
        if (host.problems.length > 0) error.message += `\nalso seen: ${host.problems.join("\n")}`;
        throw error;
      } finally {
        await host.context.close();
        await server.close();
      }
    };
  };
}

class Host {
  static async open(browser, server, options) {
    const { viewport = { width: 1100, height: 800 }, locale = "en-US", theme = "light", motion = false, script = true } = options;
    const context = await browser.newContext({
      viewport,
      locale,
      colorScheme: theme,
      reducedMotion: motion ? "no-preference" : "reduce",
      javaScriptEnabled: script,
    });
    const host = new Host(context, server, options);
    host.page = await context.newPage();
    host.page.setDefaultTimeout(PATIENCE_MS);
    if (script) {
      await context.addInitScript(() => {
        globalThis.violations = [];
        globalThis.told = [];
        for (const name of ["ready", "step", "marker", "violation", "scene", "answer", "goal", "error"]) {
          addEventListener(`ds-${name}`, ({ detail, target }) => told.push({ name, detail, id: target.id, at: performance.now() }));
        }
        addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
          violations.push(`${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`),
        );
      });
    }
    host.#watch();
    if (options.open !== false) await host.page.goto(server.url + (options.path ?? ""));
    return host;
  }

  constructor(context, server, { provokes }) {
    this.context = context;
    this.server = server;
    this.url = server.url;
    this.provokes = provokes;
    /** What went wrong beside the test. */
    this.problems = [];
    this.warnings = [];
  }

  #watch() {
    const problem = (text) => this.provokes?.test(text) || this.problems.push(text);
    this.page.on("console", (message) => {
      if (message.type() === "error") problem(`console: ${message.text()} ${message.location().url}`);
      else this.warnings.push(message.text());
    });
    this.page.on("pageerror", (error) => problem(`page error: ${error.message}`));
    this.page.on("response", (response) => {
      if (response.status() >= 400) problem(`${response.status()}: ${response.url()}`);
    });
    this.page.on("request", (request) => {
      const address = request.url();
      if (FILE.test(address) && request.resourceType() === "xhr") problem(`the page waited for ${address}`);
      if (/^(data|blob|about):/.test(address) || /^http:\/\/127\.0\.0\.1:/.test(address)) return;
      problem(`asked for ${address}`);
    });
  }

  /** Waits until an element shows its run. */
  ready(selector = "delta-scope") {
    return this.page.evaluate(async ([which, ms]) => {
      const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`${which} is not ready`)), ms));
      const ready = customElements.whenDefined("delta-scope").then(() => document.querySelector(which).drawn);
      await Promise.race([ready, late]);
    }, [selector, PATIENCE_MS]);
  }

  /** Calls a method of an element and waits until the picture shows the result. */
  call(method, ...args) {
    return this.of("delta-scope", method, ...args);
  }

  of(selector, method, ...args) {
    const calls = async ([which, name, given, waits]) => {
      const element = document.querySelector(which);
      if (waits) await element.ready;
      return element[name](...given);
    };
    return this.page.evaluate(calls, [selector, method, args, EXPORTS.test(method)]);
  }

  state(selector = "delta-scope") {
    return this.of(selector, "getState");
  }

  /** Waits for a change that happens by itself. */
  until(what, arg) {
    return this.page.waitForFunction(what, arg);
  }

  /** The events of this name that the page's elements have emitted. */
  told(name) {
    return this.page.evaluate((which) => told.filter((one) => one.name === which), name);
  }

  /** The requests for paths with this ending. */
  asked(end) {
    return this.server.asked.filter((path) => path.endsWith(end)).length;
  }

  /** The result of `look`, which gets the element and its shadow root. */
  look(look, selector = "delta-scope") {
    return this.page.locator(selector).evaluate(new Function("element", `return (${look})(element, element.shadowRoot)`));
  }

  violations() {
    return this.page.evaluate(() => violations);
  }
}
