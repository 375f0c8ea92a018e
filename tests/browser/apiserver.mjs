// A test API server over real HTTP. For a client that discovers, lists and watches, it behaves like a Kubernetes API server, with
// faults on command. tests/apiserver.test.mjs compares it with the recorded responses of a real one. It takes the writes of a
// controller (apiserver/writes.mjs); objects also change on command:
//
//     const api = await startApi({ port: 0 });
//     api.create("pods", { metadata: { name: "a" } }); api.cut(); api.fail({ status: 429, retryAfter: 1, times: 2 });
//
// or, by hand, through a second port, a method's name as the path and its arguments as a JSON array:
//
//     node tests/browser/apiserver.mjs --port 9001 --pods 50 --rate 20
//     curl -d '["pods", {"metadata": {"name": "a"}}]' http://127.0.0.1:9002/create
//     curl -d '[]' http://127.0.0.1:9002/cut
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { EventEmitter } from "node:events";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import * as asks from "./apiserver/query.mjs";
import * as discovery from "./apiserver/discovery.mjs";
import { JSON_TYPE, PARTIAL, Store, apiVersion, at, encode, full, keyOf, merge, partial, versionOf } from "./apiserver/objects.mjs";
import { Refusal, bad, expired, failure, tooLarge } from "./apiserver/status.mjs";
import { write } from "./apiserver/writes.mjs";
import { KINDS, changed, example, random } from "./kinds.mjs";

export { fieldSelector, labelSelector } from "./apiserver/selectors.mjs";

const TEXT_TYPE = "text/plain; charset=utf-8";
// Like a real one, it compresses larger bodies.
const GZIP_FROM = 128 * 1024;
// How long a request for a future version waits.
const TOO_LARGE_MS = 3000;
// A bookmark is sent this long before a watch's timeout.
const LAST_BOOKMARK_MS = 2000;
// A watch whose client is this far behind is dropped.
const SLOW_BYTES = 64 * 1024 * 1024;
const TICK_MS = 20;
const ASKED = 10_000;

export async function startApi(options = {}) {
  const api = new Api(options);
  await api.up();
  if (options.control !== undefined) await api.listenForCommands(options.control);
  return api;
}

class Api extends EventEmitter {
  #server;
  #control;
  #sockets = new Set();
  #watches = new Set();
  #rules = [];
  #held = [];
  #stalled = { watches: false, requests: false };
  #cutAt;
  #timer;
  #uids = 0;
  #random = random(1);

  /**
   * `kinds`: the plurals to serve (default: all); `watchList`: whether there are streaming lists; `aggregated`: whether there is
   * aggregated discovery; `watchCache`: without it, `limit` also applies at resourceVersion=0; `history`: how many changes are
   * kept per resource.
   */
  constructor({ port = 0, host = "127.0.0.1", kubernetes = "1.36.4", revision = 41_000, kinds, watchList = true,
    aggregated = true, watchCache = true, bookmarkMs = 60_000, tooLargeMs = TOO_LARGE_MS, history = 20_000 } = {}) {
    super();
    this.settings = { host, kubernetes, watchList, aggregated, watchCache, bookmarkMs, tooLargeMs, history };
    this.port = port;
    this.revision = revision;
    /** The requests, newest last: { method, url, path, accept, watch, status, at }. */
    this.asked = [];
    this.kinds = KINDS.filter((kind) => !kinds || kinds.includes(kind.plural));
    this.stores = new Map();
    // Two versions of a kind share one resource.
    for (const kind of this.kinds) {
      if (!this.stores.has(this.#id(kind))) this.stores.set(this.#id(kind), new Store(kind, revision, history));
    }
    /** "current", "stale" (in discovery, but it cannot be reached) or "gone", by group. */
    this.groups = {};
    this.pieceBytes = 0;
  }

  get url() {
    return `http://${this.settings.host}:${this.port}`;
  }

  // --- objects and their changes ------------------------------------------------------------------

  create(resource, given = {}) {
    const { kind } = this.#store(resource);
    const { name = `made-${this.#uids + 1}`, namespace = "default", ...metadata } = given.metadata ?? {};
    return this.#apply(resource, "ADDED", {
      ...given,
      metadata: {
        name,
        ...(kind.namespaced && { namespace }),
        uid: `00000000-0000-4000-8000-${(this.#uids += 1).toString(16).padStart(12, "0")}`,
        resourceVersion: "",
        creationTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
        ...metadata,
      },
    });
  }

  /** Applies a JSON merge patch (RFC 7396); by default, a change that a controller would make. */
  update(resource, key, patch) {
    const { kind, objects } = this.#store(resource);
    const object = objects.get(key);
    if (!object) throw new Error(`there is no ${resource} ${key}`);
    const next = patch ? merge(object, patch) : changed(kind, object, this.revision);
    return this.#apply(resource, "MODIFIED", next);
  }

  /** Replaces an object. */
  put(resource, object) {
    return this.#apply(resource, "MODIFIED", object);
  }

  object(resource, key) {
    return this.#store(resource).objects.get(key);
  }

  remove(resource, key) {
    const object = this.#store(resource).objects.get(key);
    if (!object) throw new Error(`there is no ${resource} ${key}`);
    return this.#apply(resource, "DELETED", object);
  }

  /** Applies a recorded watch event or list item, with its version. */
  replay(resource, { type = "ADDED", object }) {
    const { kind: _, apiVersion: __, ...rest } = object;
    this.revision = Math.max(this.revision, versionOf(rest));
    return this.#tell(this.#store(resource).apply(type, rest, versionOf(rest)));
  }

  /** Creates `count` more objects. */
  generate(resource, count, where) {
    const store = this.#store(resource);
    for (let made = 0; made < count; made += 1) {
      this.create(resource, example(store.kind, store.made, where));
      store.made += 1;
    }
    return store.objects.size;
  }

  /** From now on makes this many changes a second, most of them updates; 0 stops. Ends after `count` changes. */
  rate(perSecond, { resource = "pods", writes = 0.2, count = Infinity } = {}) {
    clearInterval(this.#timer);
    if (!(perSecond > 0)) return;
    const store = this.#store(resource);
    const { objects } = store;
    const keys = [...objects.keys()];
    const start = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      const due = Math.min(count, ((performance.now() - start) * perSecond) / 1000);
      for (; sent < due; sent += 1) {
        const roll = this.#random();
        const place = Math.floor(this.#random() * keys.length);
        if (keys.length === 0 || roll < writes / 2) {
          keys.push(keyOf(this.create(resource, example(store.kind, store.made))));
          store.made += 1;
        } else if (!objects.has(keys[place])) {
          keys[place] = keys.at(-1);
          keys.pop();
        } else if (roll < writes) {
          this.remove(resource, keys[place]);
          keys[place] = keys.at(-1);
          keys.pop();
        } else {
          this.update(resource, keys[place]);
        }
      }
      if (sent >= count) clearInterval(this.#timer);
    }, TICK_MS);
  }

  /** Uses up a version, as a write to another resource does: bookmarks report it, watch events do not. */
  advance(by = 1) {
    return (this.revision += by);
  }

  /** Forgets the history before a revision (by default the current one): a watch or an exact list from there gets
      410. */
  compact(revision = this.revision) {
    for (const store of this.stores.values()) store.compact(revision);
  }

  // --- faults ---------------------------------------------------------------------------------------

  /** Ends all open watches in the middle of a line, after `bytes` bytes of it (by default half). */
  cut(bytes = 0) {
    const kinds = new Set([...this.#watches].map((watch) => watch.store));
    this.#cutAt = { bytes };
    for (const { kind, objects } of kinds) {
      const [key] = objects.keys();
      if (key) this.update(this.#id(kind), key);
      else this.create(this.#id(kind), example(kind, 0));
    }
    this.#cutAt = undefined;
  }

  /** Breaks the connections of all open watches, between two lines. */
  drop() {
    for (const watch of this.#watches) watch.response.socket?.destroySoon();
  }

  /** Ends all open watches, as at their timeout. */
  end() {
    for (const watch of this.#watches) this.#endWatch(watch);
  }

  /** Half-open connections: nothing is sent any more, nothing is closed. */
  stall({ watches = true, requests = true } = {}) {
    this.#stalled = { watches, requests };
  }

  /** Ends the stall: data that was held back is sent. */
  resume() {
    this.stall({ watches: false, requests: false });
    for (const watch of this.#watches) this.#flush(watch);
    for (const go of this.#held.splice(0)) go();
  }

  /**
   * Refuses requests from now on. `on`: "list", "watch", "discovery", "get", "write" or any; `path`: a part of the path; `times`: how
   * often; `status` 0 breaks the connection. The default body is that of a real server (or of kubectl proxy).
   */
  fail(rule = {}) {
    this.#rules.push({ status: 500, times: Infinity, ...rule });
  }

  /** Removes all these rules. */
  heal() {
    this.#rules = [];
  }

  /** Sends a made-up event of this many bytes to all open watches. Its object is in no list. */
  huge(bytes) {
    for (const watch of this.#watches) {
      const object = full(watch.kind, at({ metadata: { name: "huge", namespace: "default", annotations: { it: "" } } }, this.revision));
      const line = encode({ type: "ADDED", object });
      this.#send(watch, line.replace('"it":""', () => `"it":"${"x".repeat(Math.max(0, bytes - line.length))}"`));
    }
  }

  /** Sends any text to all open watches. */
  raw(text) {
    for (const watch of this.#watches) this.#send(watch, text);
  }

  /** Sends all bodies in chunks of this many bytes (0: as they come). */
  pieces(bytes) {
    this.pieceBytes = bytes;
  }

  /** Sends a bookmark to all open watches that allow bookmarks. */
  bookmark() {
    for (const watch of this.#watches) this.#bookmark(watch);
  }

  /** "current", "stale" or "gone". */
  group(name, state) {
    this.groups[name] = state;
  }

  /**
   * Restarts: the connections break, and the history is forgotten. With a `revision` the versions begin there, as after a
   * restored backup.
   */
  async restart({ revision } = {}) {
    await this.down();
    if (revision !== undefined) {
      this.revision = revision;
      for (const { objects } of this.stores.values()) {
        for (const [key, object] of objects) objects.set(key, at(object, (this.revision += 1)));
      }
    }
    for (const store of this.stores.values()) Object.assign(store, { history: [], floor: this.revision });
    await this.up();
  }

  /** Stops listening on the port. */
  async down() {
    await new Promise((closed) => {
      this.#server.close(closed);
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  async up() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.on("connection", (socket) => {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    this.port = await listen(this.#server, this.port, this.settings.host);
  }

  async close() {
    clearInterval(this.#timer);
    this.resume();
    await this.down();
    this.#control?.closeAllConnections();
    this.#control?.close();
  }

  // --- for tests to inspect -------------------------------------------------------------------------

  get watches() {
    return [...this.#watches].map(({ url, since, sent, response }) => ({ url, since, sent, unread: response.writableLength }));
  }

  /** Waits until a condition holds. It is checked whenever a request or a watch begins or ends. */
  async when(what, predicate, patienceMs = 15_000) {
    let given;
    const late = new Promise((_, reject) => {
      given = setTimeout(() => reject(new Error(`still not: ${what}; ${encode(this.overview())}`)), patienceMs);
    });
    try {
      while (!predicate(this)) await Promise.race([new Promise((again) => this.once("change", again)), late]);
    } finally {
      clearTimeout(given);
    }
  }

  overview() {
    const objects = Object.fromEntries([...this.stores].map(([id, { objects }]) => [id, objects.size]));
    return { url: this.url, revision: this.revision, objects, watches: this.watches, asked: this.asked.slice(-20) };
  }

  // --- internals ------------------------------------------------------------------------------------

  #id(kind) {
    return kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
  }

  #store(resource) {
    const store = this.stores.get(resource) ?? [...this.stores].find(([id]) => id.startsWith(`${resource}.`))?.[1];
    if (!store) throw new Error(`${resource} is not served`);
    return store;
  }

  #apply(resource, type, object) {
    this.revision += 1;
    return this.#tell(this.#store(resource).apply(type, at(object, this.revision), this.revision));
  }

  #tell(event) {
    for (const watch of this.#watches) {
      if (watch.store === event.store) this.#pass(watch, event);
    }
    return event.object;
  }

  /** Sends a change to a watch, if its selectors match. */
  #pass(watch, event) {
    if (event.revision <= watch.since) return;
    watch.since = event.revision;
    if (watch.namespace && event.object.metadata.namespace !== watch.namespace) return;
    const was = event.before !== undefined && watch.selects(event.before);
    const is = event.type !== "DELETED" && watch.selects(event.object);
    if (!was && !is) return;
    const type = !was ? "ADDED" : is ? "MODIFIED" : "DELETED";
    const object = type === "DELETED" && event.type !== "DELETED" ? at(event.before, event.revision) : event.object;
    // Watches with the same form share the line.
    const form = `${watch.form} ${apiVersion(watch.kind)} ${type}`;
    event.lines[form] ??= Buffer.from(this.#line(watch, type, object));
    this.#send(watch, event.lines[form]);
  }

  #line(watch, type, object) {
    return encode({ type, object: watch.form === "partial" ? partial(object) : full(watch.kind, object) });
  }

  #bookmark(watch, metadata = {}) {
    if (!watch.bookmarks) return;
    const object = { metadata: { resourceVersion: `${this.revision}`, ...metadata } };
    this.#send(watch, this.#line(watch, "BOOKMARK", { ...object, ...watch.kind.empty }));
  }

  #send(watch, line) {
    if (this.#cutAt) {
      const bytes = Buffer.from(line);
      this.#write(watch.response, bytes.subarray(0, this.#cutAt.bytes || bytes.length >> 1));
      this.#after(watch.response, () => watch.response.socket?.destroySoon());
      return this.#forget(watch);
    }
    watch.held.push(line);
    if (!this.#stalled.watches) this.#flush(watch);
  }

  #flush(watch) {
    watch.sent += watch.held.length;
    for (const line of watch.held.splice(0)) this.#write(watch.response, line);
    if (watch.response.writableLength > SLOW_BYTES) this.#endWatch(watch);
  }

  #write(response, data) {
    if (!this.pieceBytes) return this.#after(response, () => response.write(data));
    const bytes = Buffer.from(data);
    for (let from = 0; from < bytes.length; from += this.pieceBytes) {
      const piece = bytes.subarray(from, from + this.pieceBytes);
      // Each in a task of its own, or they would arrive together.
      response.tail = (response.tail ?? Promise.resolve()).then(() => {
        response.write(piece);
        return new Promise(setImmediate);
      });
    }
  }

  #after(response, action) {
    if (response.tail) response.tail = response.tail.then(action);
    else action();
  }

  #endWatch(watch) {
    this.#after(watch.response, () => watch.response.end());
    this.#forget(watch);
  }

  #forget(watch) {
    clearTimeout(watch.over);
    clearTimeout(watch.last);
    clearInterval(watch.every);
    this.#watches.delete(watch);
    this.emit("change");
  }

  async #answer(request, response) {
    const url = new URL(request.url, "http://localhost");
    const query = url.searchParams;
    // The deprecated path of a watch.
    const path = url.pathname.replace(/^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)\/watch\//, "$1/");
    const watch = path !== url.pathname || ["true", "1"].includes(query.get("watch"));
    const asked = { method: request.method, url: request.url, path, accept: request.headers.accept ?? "", watch, status: 0, at: Date.now() };
    this.asked.push(asked);
    if (this.asked.length > ASKED) this.asked.splice(0, ASKED / 2);
    this.emit("change");
    response.on("finish", () => this.emit("change"));
    if (this.#stalled.requests) {
      await new Promise((go) => this.#held.push(go));
    }
    const context = { request, response, query, path, watch, asked };
    try {
      await this.#route(context);
    } catch (error) {
      if (error instanceof Refusal) {
        const headers = error.status.details?.retryAfterSeconds ? { "retry-after": `${error.status.details.retryAfterSeconds}` } : {};
        this.#json(context, error.status.code, error.status, headers);
      } else {
        this.#text(context, 500, `${error.stack}\n`);
      }
    }
    this.emit("change");
  }

  async #route(context) {
    const { path, watch, request } = context;
    const target = discovery.target(this, path);
    const reads = watch ? "watch" : target?.name === undefined ? "list" : "get";
    const verb = !target?.kind ? "discovery" : request.method === "GET" ? reads : "write";
    const rule = this.#rules.find((rule) =>
      rule.times > 0 && (!rule.on || rule.on === verb) && (!rule.path || path.includes(rule.path)));
    if (rule) {
      rule.times -= 1;
      return this.#refuse(context, rule, target, verb);
    }
    if (request.method !== "GET" && !target?.kind) {
      const message = "the server does not allow this method on the requested resource";
      throw new Refusal(failure(405, "MethodNotAllowed", message, {}));
    }
    if (this.groups[target?.group] === "stale") return this.#text(context, 503, "service unavailable\n");
    if (!target || this.groups[target.group] === "gone") {
      const answer = discovery.document(this, path, request.headers.accept ?? "");
      return answer ? this.#json(context, 200, answer.found, answer.headers) : this.#text(context, 404, "404 page not found\n");
    }
    if (!target.kind) {
      throw new Refusal(failure(404, "NotFound", "the server could not find the requested resource", {}));
    }
    if (request.method !== "GET") {
      return this.#json(context, ...await write(this, this.#id(target.kind), request, target));
    }
    if (verb === "watch") return this.#watch(context, target);
    return verb === "list" ? this.#list(context, target) : this.#get(context, target);
  }

  #refuse(context, { status, body, contentType, retryAfter, message }, target, verb) {
    if (status === 0) return context.response.socket?.destroy();
    const headers = retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` };
    const kind = target?.kind;
    const where = target?.namespace ? `in the namespace "${target.namespace}"` : "at the cluster scope";
    const known = {
      401: () => failure(401, "Unauthorized", "Unauthorized"),
      403: () => failure(403, "Forbidden", `${kind?.plural} is forbidden: User "jane" cannot ${verb} resource "${kind?.plural}" ` +
        `in API group "${kind?.group}" ${where}`, { kind: kind?.plural }),
      404: () => failure(404, "NotFound", "the server could not find the requested resource", {}),
      410: () => expired("The resourceVersion for the provided list is too old."),
      429: () => "Too many requests, please try again later.\n",
      500: () => `dial tcp ${this.settings.host}:16443: connect: connection refused\n`,
      503: () => "service unavailable\n",
      504: () => tooLarge(this.revision + 1, this.revision),
    };
    const answer = body ?? (message ? failure(status, "Unknown", message) : known[status]?.() ?? `${status}\n`);
    if (typeof answer === "string") return this.#text(context, status, answer, headers, contentType);
    return this.#json(context, status, answer, headers);
  }

  #text(context, status, text, headers = {}, type = TEXT_TYPE) {
    this.#reply(context, status, text, { "x-content-type-options": "nosniff", ...headers, "content-type": type });
  }

  #json(context, status, value, headers = {}) {
    const { query, request } = context;
    const pretty = query.has("pretty")
      ? !["false", "0"].includes(query.get("pretty"))
      : /^(Mozilla\/5\.0|curl|Wget)/.test(request.headers["user-agent"] ?? "");
    this.#reply(context, status, encode(value, pretty), { "content-type": JSON_TYPE, ...headers });
  }

  #reply({ request, response, asked }, status, text, headers) {
    asked.status = status;
    if (response.destroyed) return;
    const all = { "cache-control": "no-cache, private", ...headers };
    let body = Buffer.from(text);
    if (body.length > GZIP_FROM && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) {
      body = gzipSync(body, { level: 1 });
      Object.assign(all, { "content-encoding": "gzip", vary: "Accept-Encoding" });
    }
    response.writeHead(status, this.pieceBytes ? all : { ...all, "content-length": body.length });
    this.#write(response, body);
    this.#after(response, () => response.end());
  }

  // --- get, list and watch --------------------------------------------------------------------------

  #get(context, { kind, namespace, name }) {
    const object = this.object(this.#id(kind), namespace ? `${namespace}/${name}` : name);
    if (!object) {
      throw new Refusal(failure(404, "NotFound", `${kind.plural} "${name}" not found`, { name, kind: kind.plural }));
    }
    const form = asks.form(context.request.headers.accept, kind, true);
    this.#json(context, 200, form === "partial" ? partial(object) : full(kind, object));
  }

  async #list(context, { kind, namespace }) {
    const { query, request } = context;
    const form = asks.form(request.headers.accept, kind, false);
    const given = query.get("resourceVersion") ?? "";
    const match = query.get("resourceVersionMatch") ?? "";
    const token = query.get("continue") ?? "";
    const limit = asks.limit(query.get("limit") ?? "");
    asks.checkList(given, match, token);
    const selects = asks.selects(query, kind);
    const store = this.#store(this.#id(kind));
    let revision = this.revision;
    let start = "";
    let size = limit;
    if (token) {
      const { rv, start: from } = asks.continued(token);
      if (given && given !== "0") throw bad("specifying resource version is not allowed when using continue");
      start = from.replace(/^\//, "").replace(/\0$/, "");
      revision = rv === -1 ? this.revision : rv;
      if (revision < store.floor) {
        const rest = asks.token(-1, `${start}\0`);
        throw new Refusal(expired("The provided continue parameter is too old to display a consistent list result. You can start a " +
          "new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the " +
          "results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
          "deleted between the time the first chunk was returned and now may show up in the list.", { continue: rest }));
      }
    } else {
      const asked = asks.version(given);
      if (asked > this.revision) await this.#until(context, asked);
      if (asked > this.revision) throw new Refusal(tooLarge(asked, this.revision));
      // A limit and a version without a match mean Exact, for compatibility.
      if (asked > 0 && (match === asks.MATCH_EXACT || (limit > 0 && !match))) {
        if (asked < store.floor) throw new Refusal(expired("The resourceVersion for the provided list is too old."));
        revision = asked;
      }
      if (given === "0" && this.settings.watchCache) size = 0;
    }
    const inside = (key, object) =>
      (!namespace || object.metadata.namespace === namespace) && (!start || (namespace ? key.slice(namespace.length + 1) : key) > start);
    const all = store.snapshot(revision).filter(([key, object]) => inside(key, object) && selects(object));
    const page = size > 0 ? all.slice(0, size) : all;
    const more = all.length - page.length;
    const metadata = { resourceVersion: `${revision}` };
    if (more > 0) {
      const key = page.at(-1)[0];
      const last = namespace ? key.slice(namespace.length + 1) : key;
      metadata.continue = asks.token(revision, `/${last}\0`);
      // With a selector the server does not count the remaining objects.
      if (!query.get("labelSelector") && !query.get("fieldSelector")) metadata.remainingItemCount = more;
    }
    const items = page.map(([, object]) => (form === "partial" ? partial(object) : object));
    const list = form === "partial"
      ? { kind: "PartialObjectMetadataList", apiVersion: PARTIAL.apiVersion }
      : { kind: `${kind.kind}List`, apiVersion: apiVersion(kind) };
    this.#json(context, 200, { ...list, metadata, items });
  }

  /** Waits for a future version, for as long as a real server does. */
  async #until(context, revision) {
    const until = Date.now() + this.settings.tooLargeMs;
    while (this.revision < revision && Date.now() < until && !context.response.destroyed) {
      await new Promise((waited) => setTimeout(waited, Math.min(TICK_MS, until - Date.now())));
    }
  }

  async #watch(context, { kind, namespace, name }) {
    const { query, response, request, asked } = context;
    if (!kind.verbs.includes("watch")) {
      throw new Refusal(failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}));
    }
    const form = asks.form(request.headers.accept, kind, true);
    const bookmarks = query.get("allowWatchBookmarks") === "true";
    const initial = query.get("sendInitialEvents");
    const match = query.get("resourceVersionMatch") ?? "";
    const given = query.get("resourceVersion") ?? "";
    asks.checkWatch(initial, match, this.settings.watchList);
    const selected = asks.selects(query, kind);
    const selects = name ? (object) => object.metadata.name === name && selected(object) : selected;
    if (!/^\d*$/.test(given)) {
      throw new Refusal(failure(500, "InternalError", `Internal error occurred: resourceVersion: Invalid value: "${given}": ` +
        `strconv.ParseUint: parsing "${given}": invalid syntax`));
    }
    const since = Number(given || 0);
    const store = this.#store(this.#id(kind));
    asked.status = 200;
    response.writeHead(200, { "cache-control": "no-cache, private", "content-type": JSON_TYPE });
    response.flushHeaders();
    const watch = { url: request.url, kind, namespace, form, bookmarks, selects, store, since, response, held: [], sent: 0 };
    const error = (status) => {
      this.#send(watch, encode({ type: "ERROR", object: status }));
      this.#endWatch(watch);
    };
    if (initial === "true" && since > this.revision) {
      await this.#until(context, since);
      if (since > this.revision) return error(tooLarge(since, this.revision));
    }
    const fromNow = since === 0 || initial === "true";
    if (!fromNow && since < store.floor) {
      return error(expired(this.settings.watchCache
        ? `too old resource version: ${since} (${store.floor})`
        : "The resourceVersion for the provided watch is too old."));
    }
    this.#watches.add(watch);
    response.on("close", () => this.#forget(watch));
    if (fromNow) {
      watch.since = this.revision;
      if (initial !== "false") {
        for (const [, object] of store.snapshot(this.revision)) {
          if ((!namespace || object.metadata.namespace === namespace) && selects(object)) {
            this.#send(watch, this.#line(watch, "ADDED", object));
          }
        }
      }
      if (initial === "true") this.#bookmark(watch, { annotations: { "k8s.io/initial-events-end": "true" } });
    } else {
      for (const event of store.history) this.#pass(watch, event);
    }
    const seconds = Number(query.get("timeoutSeconds") ?? 0);
    if (seconds > 0) {
      watch.over = setTimeout(() => this.#endWatch(watch), seconds * 1000);
      const last = seconds * 1000 - LAST_BOOKMARK_MS;
      if (last > 0) watch.last = setTimeout(() => this.#bookmark(watch), last);
    }
    watch.every = setInterval(() => this.#bookmark(watch), this.settings.bookmarkMs);
  }

  // --- commands over HTTP ---------------------------------------------------------------------------

  async listenForCommands(port) {
    const commands = ["create", "update", "remove", "generate", "rate", "advance", "compact", "cut", "drop", "end", "stall", "resume",
      "fail", "heal", "huge", "raw", "pieces", "bookmark", "group", "restart", "down", "up", "overview"];
    this.#control = createServer(async (request, response) => {
      const reply = (status, value) => {
        response.writeHead(status, { "content-type": JSON_TYPE });
        response.end(`${JSON.stringify(value ?? null, null, 2)}\n`);
      };
      const name = request.url.slice(1) || "overview";
      if (!commands.includes(name)) return reply(404, { commands });
      try {
        let text = "";
        for await (const piece of request) text += piece;
        reply(200, await this[name](...JSON.parse(text || "[]")));
      } catch (error) {
        reply(400, { error: error.message });
      }
    });
    this.controlUrl = `http://${this.settings.host}:${await listen(this.#control, port, this.settings.host)}`;
  }
}

function listen(server, port, host) {
  return new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(port, host, () => listening(server.address().port));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const number = (text, fallback) => (text === undefined ? fallback : Number(text));
  const { values } = parseArgs({
    options: {
      port: { type: "string" },
      control: { type: "string" },
      kubernetes: { type: "string" },
      rate: { type: "string" },
      resource: { type: "string" },
      "no-watch-list": { type: "boolean" },
      "no-aggregated": { type: "boolean" },
      "bookmark-ms": { type: "string" },
      ...Object.fromEntries(KINDS.map(({ plural }) => [plural, { type: "string" }])),
    },
  });
  const port = number(values.port, 9001);
  const api = await startApi({
    port,
    control: number(values.control, port && port + 1),
    kubernetes: values.kubernetes,
    watchList: !values["no-watch-list"],
    aggregated: !values["no-aggregated"],
    bookmarkMs: number(values["bookmark-ms"], undefined),
  });
  const counts = { namespaces: 4, nodes: 5, pods: 20, secrets: 5, configmaps: 5, deployments: 5, events: 0, crontabs: 3 };
  for (const [plural, count] of Object.entries(counts)) api.generate(plural, number(values[plural], count));
  api.rate(number(values.rate, 0), { resource: values.resource });
  console.log(`a test API server: ${api.url}, commands: ${api.controlUrl}`);
}
