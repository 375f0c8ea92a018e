// Watching a cluster: a test API server behind the page changes objects, breaks connections and stalls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";
import { PRIVATE } from "../kinds.mjs";
import { NO_KUBECTL, kubectlProxy } from "../fronts.mjs";
import { caughtUp, connected, inTime, lists, watches } from "../live.mjs";

const { onCluster } = suite();

// The browser's console reports a broken connection as an error.
const BROKEN = /ERR_|500/;
/** Pods that exist before the page opens. */
const some = { setUp: (api) => api.generate("pods", 5) };

test("the current objects arrive, then the changes", onCluster(some, async (app, api) => {
  await connected(app, api);
  api.create("pods", { metadata: { name: "new" } });
  api.update("pods", "default/web-0");
  api.remove("pods", "kube-system/cart-1");
  await caughtUp(app, api);
  const told = ({ handlers }) => handlers[0].notifications.map(([what, key]) => `${what} ${key}`);
  const state = await app.eventually("the handler hears of it", (now) => told(now).length === 8);
  assert.deepEqual(told(state).slice(-3), ["add default/new", "update default/web-0", "delete kube-system/cart-1"]);
  assert.equal(api.watches.length, 1);
  await app.call("disconnect");
  await api.when("the watch is left", () => api.watches.length === 0);
}));

test("the user can step through the past while the live run goes on", onCluster(some, async (app, api) => {
  await connected(app, api);
  api.rate(50);
  const met = await app.eventually("some changes", ({ steps }) => steps > 200);
  await app.call("seek", met.steps - 50);
  const there = await app.state();
  await app.call("step", -7);
  await app.call("step", 7);
  const again = await app.state();
  assert.equal(again.step, met.steps - 50);
  for (const part of ["api", "queue", "store", "handlers", "lock", "time"]) assert.deepEqual(again[part], there[part], part);
  const later = await app.eventually("it went on meanwhile", ({ steps }) => steps > met.steps + 100);
  assert.equal(later.step, met.steps - 50, "and the cursor did not");
  await app.id("btn-live").click();
  api.rate(0);
  await caughtUp(app, api);
}));

test("a version that the server has forgotten means a new list", onCluster({ ...some, provokes: BROKEN }, async (app, api) => {
  await connected(app, api);
  const before = lists(api).length;
  await api.down();
  api.update("pods", "default/web-0");
  api.remove("pods", "kube-system/cart-1");
  api.compact();
  await api.up();
  await caughtUp(app, api);
  assert.ok(lists(api).length + watches(api).filter(({ url }) => url.includes("sendInitialEvents")).length > before);
}));

test("a line that is cut is dropped, and the watch resumes there", onCluster({ ...some, provokes: BROKEN }, async (app, api) => {
  await connected(app, api);
  // client-go treats a watch that ends within a second without an event as failed.
  api.update("pods", "default/web-0");
  await caughtUp(app, api);
  const before = lists(api).length;
  api.cut();
  await caughtUp(app, api);
  const last = watches(api).at(-1).url;
  assert.equal(lists(api).length, before, "nothing was listed again");
  assert.ok(!last.includes("sendInitialEvents") && /resourceVersion=[1-9]/.test(last), last);
}));

test("a line may arrive in single bytes", onCluster(some, async (app, api) => {
  api.pieces(1);
  await connected(app, api);
  api.update("pods", "default/web-0", { metadata: { labels: { name: "日本語 🦀 <&>" } } });
  await caughtUp(app, api);
}));

test("a proxy may go away and come back", { skip: NO_KUBECTL }, onCluster({
  ...some,
  through: kubectlProxy,
  clock: true,
  provokes: /version|ERR_|500/,
}, async (app, api, { front }) => {
  await connected(app, api);
  await app.whole();
  const port = Number(new URL(front.origin).port);
  await front.close();
  await app.id("live-trouble").waitFor();
  api.update("pods", "default/web-0");
  const back = await kubectlProxy(api.url, { port });
  try {
    await inTime(app, caughtUp(app, api));
  } finally {
    await back.close();
  }
}));

test("a half-open connection is detected", onCluster({ ...some, clock: true }, async (app, api) => {
  await connected(app, api);
  api.stall();
  api.update("pods", "default/web-0");
  await app.page.clock.fastForward(80_000);
  await app.page.locator(".live-badge.trouble").waitFor();
  const before = watches(api).length;
  await app.page.clock.fastForward(700_000);
  await api.when("it is asked again", () => watches(api).length > before);
  api.resume();
  await caughtUp(app, api);
}));

for (const [status, rule, english, chinese] of [
  [401, {}, /401/, /401/],
  [403, {}, /403.*"jane" cannot list/, /403/],
  [404, {}, /404/, /404/],
  [429, { retryAfter: 3 }, /429/, /429/],
  [500, {}, /500/, /500/],
  [503, { body: "" }, /503/, /503/],
]) {
  test(`${status} is reported in words`, onCluster({ ...some, clock: true, provokes: new RegExp(`${status}`) }, async (app, api) => {
    for (const on of ["list", "watch"]) api.fail({ status, on, ...rule });
    await app.call("connect", { metadataOnly: false });
    await app.id("live-trouble").filter({ hasText: english }).waitFor();
    await app.language("zh");
    await app.id("live-trouble").filter({ hasText: chinese }).waitFor();
    api.heal();
    await inTime(app, caughtUp(app, api));
  }));
}

test("the data of Secrets never reaches the page", onCluster({
  setUp: (api) => ["secrets", "configmaps"].map((resource) => api.generate(resource, 8)),
}, async (app, api) => {
  for (const resource of ["secrets", "configmaps"]) {
    for (const metadataOnly of [false, true]) {
      await connected(app, api, { resource, metadataOnly });
      const [key] = api.stores.get(resource).objects.keys();
      api.update(resource, key, { data: { more: btoa(`${PRIVATE} again`) } });
      await caughtUp(app, api, resource);
      const seen = await app.page.evaluate(() =>
        [window.deltascope.exportTrace(), window.deltascope.exportTranscript(), JSON.stringify(window.deltascope.getState()),
          document.documentElement.outerHTML, window.deltascope.getUrl()].join("\n"));
      for (const secret of [PRIVATE, btoa(PRIVATE).slice(0, -3), btoa(`${PRIVATE}-3`), btoa(`${PRIVATE} again`)]) {
        assert.ok(!seen.includes(secret), `${resource}: ${secret}`);
      }
    }
  }
}));

// Freed memory is searched as well: its content stays until it is overwritten.
test("the data of Secrets is wiped from memory", onCluster({
  setUp: (api) => api.generate("secrets", 8),
  measured: true,
  provokes: BROKEN,
}, async (app, api) => {
  const secrets = api.stores.get("secrets").objects;
  const [first] = secrets.keys();
  const found = (needles) => app.page.evaluate((given) => {
    const memory = new Uint8Array(globalThis.wasm.memory.buffer);
    return given.filter((needle) => {
      const bytes = new TextEncoder().encode(needle);
      for (let at = memory.indexOf(bytes[0]); at >= 0; at = memory.indexOf(bytes[0], at + 1)) {
        if (bytes.every((byte, n) => memory[at + n] === byte)) return true;
      }
      return false;
    });
  }, needles);
  // A list and a streaming list, whole objects and metadata, changes, and a line that is cut.
  for (const era of ["1.32", "1.36"]) {
    for (const metadataOnly of [false, true]) {
      await connected(app, api, { resource: "secrets", metadataOnly, era });
      api.update("secrets", first, { data: { more: btoa(`${PRIVATE} \u0001<&> again`) }, stringData: { more: `${PRIVATE} "<&>\n" again` } });
      api.cut();
      await caughtUp(app, api, "secrets");
      await app.call("disconnect");
    }
  }
  // Parts of the values that are long enough not to be covered by the allocator's own data.
  const values = [...secrets.values()].flatMap(({ data, stringData }) => [...Object.values(data), ...Object.values(stringData ?? {})]);
  const needles = [PRIVATE, ...values.filter(Boolean).map((value) => value.slice(0, 20))];
  assert.ok(needles.length > 9);
  assert.deepEqual(await found([first.split("/").at(-1)]), [first.split("/").at(-1)], "the search finds what is there");
  assert.deepEqual(await found(needles), []);
}));

const CRONTABS = "crontabs.stable.example.com";
test("too many objects are reported, and listed once they fit", onCluster({
  setUp: (api) => api.generate("crontabs", 100_001),
  clock: true,
  provokes: BROKEN,
}, async (app, api) => {
  const whole = () => api.asked.filter(({ path, url }) => /crontabs$/.test(path) && !/limit=1(&|$)/.test(url)).length;
  await app.call("connect", { resource: "crontabs", era: "1.32", metadataOnly: true });
  await app.id("live-trouble").filter({ hasText: /more than 100000.*one namespace, or a selector/ }).waitFor();
  const asked = whole();
  await app.page.clock.fastForward(31_000);
  await app.id("live-trouble").filter({ hasText: /There are 100001 crontabs/ }).waitFor();
  const { live, reflector } = await app.state();
  assert.match(live.trouble, /There are 100001/);
  assert.equal(reflector.watchErrors ?? 0, 0);
  await app.page.clock.fastForward(61_000);
  const { objects } = api.stores.get(CRONTABS);
  for (const key of [...objects.keys()].slice(9)) api.remove("crontabs", key);
  assert.ok(whole() <= asked + 1, "all of it was not asked for again and again");
  await inTime(app, caughtUp(app, api, CRONTABS));
  assert.equal((await app.state()).live.trouble, null);
}));

test("a seventh tab shows why it waits", onCluster({ ...some, clock: false }, async (app, api) => {
  await app.all();
  const tabs = [];
  for (let n = 0; n < 6; n += 1) {
    const tab = await app.context.newPage();
    await tab.goto(app.url);
    await tab.waitForFunction(() => window.deltascope !== undefined);
    await tab.evaluate(() => window.deltascope.ready);
    tabs.push(tab);
  }
  for (const tab of tabs) {
    await tab.evaluate(() => window.deltascope.connect({}));
    await tab.waitForFunction(() => window.deltascope.getState().live?.phase === "watching");
  }
  await app.call("connect", {});
  const { error } = await app.state();
  assert.match(error.message, /6 tabs \(of this browser.*Disconnect or close one/s);
  await tabs[0].evaluate(() => window.deltascope.disconnect());
  await connected(app, api);
}));

test("the page reports the indices that metadata have no values for", onCluster({
  setUp: (api) => api.generate("pods", 501),
}, async (app, api) => {
  for (const [options, said] of [
    [{ indices: ["namespace", "node", ".spec.nodeName"] }, /no node, \.spec\.nodeName.*more than 500/],
    [{ indices: ["node"], metadataOnly: true }, /no node: nothing to index\.$/],
    [{ indices: ["namespace"] }, undefined],
    [{ indices: ["node"], metadataOnly: false }, undefined],
  ]) {
    await app.call("connect", options);
    const { error, live } = await app.state();
    assert.ok(live);
    if (said) assert.match(error.message, said);
    else assert.equal(error, null);
    const { store } = await caughtUp(app, api);
    assert.deepEqual(Object.keys(store.indices), options.indices.filter((name) => !said || name === "namespace"));
  }
}));

test("an expired version is reported while the reflector lists again", onCluster({ ...some, clock: true }, async (app, api) => {
  await connected(app, api);
  const gone = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410, message: "too old" };
  api.raw(`${JSON.stringify({ type: "ERROR", object: gone })}\n`);
  await app.id("live-trouble").filter({ hasText: /410 Expired.*lists again/ }).waitFor();
  await inTime(app, caughtUp(app, api));
}));

test("a user who shares a live run learns what it contains", onCluster(some, async (app, api) => {
  await connected(app, api);
  await app.call("disconnect");
  await app.id("btn-share").click();
  await app.id("share-whole").filter({ hasText: /environment variables/ }).waitFor();
  await app.id("share-names").check();
  await app.id("share-whole").waitFor({ state: "detached" });
}));

test("a line of many megabytes is refused, and reported", onCluster({ ...some, clock: true }, async (app, api) => {
  await connected(app, api);
  api.huge(40_000_000);
  await app.id("live-trouble").filter({ hasText: /longer than/ }).waitFor();
  api.update("pods", "default/web-0");
  await inTime(app, caughtUp(app, api));
}));

test("a trace of a live run plays without the cluster", onCluster({ ...some, provokes: BROKEN }, async (app, api) => {
  await connected(app, api);
  api.cut();
  api.create("pods", { metadata: { name: "new" } });
  await caughtUp(app, api);
  const { store, output } = await app.eventually("the handler hears of it", ({ output: lines, live }) => (
    live.behind === 0 && lines.includes("OnAdd: new")
  ));
  const trace = await app.page.evaluate(() => window.deltascope.exportTrace());
  await api.down();
  await app.elsewhere({}, async (other) => {
    await other.call("openText", "cluster.jsonl", trace);
    const end = await other.toEnd();
    assert.equal(end.error, null);
    assert.deepEqual(end.store, store);
    assert.deepEqual(end.output, output);
  });
}));

for (const watchList of [true, false]) {
  const how = watchList ? "a streaming list" : "a list";
  test(`${how} of a server that restarted with lower versions`, onCluster({
    ...some,
    api: { watchList, tooLargeMs: 40 },
    clock: true,
    provokes: /ERR_|50\d|422/,
  }, async (app, api) => {
    await connected(app, api);
    const before = watches(api).length;
    await api.restart({ revision: 7 });
    api.create("pods", { metadata: { name: "new" } });
    // The previous watch may still be open.
    await inTime(app, app.eventually("it watches from the future", ({ live }) => (
      live.phase === "watching" && watches(api).length > before && api.watches.length === 1
    )));
    // The watch would stay silent. After an error the page asks for a version that does not exist either, and
    // reports that.
    const gone = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410, message: "too old" };
    api.raw(`${JSON.stringify({ type: "ERROR", object: gone })}\n`);
    await inTime(app, caughtUp(app, api));
  }));
}

test("other resources, selectors and forms", onCluster({
  setUp: (api) => {
    for (const resource of ["pods", "nodes", "deployments", "crontabs", "namespaces"]) api.generate(resource, 12);
  },
}, async (app, api) => {
  for (const resource of ["nodes", "deployments.apps", "crontabs.stable.example.com", "ns"]) {
    await app.call("connect", { resource });
    await caughtUp(app, api, resource === "ns" ? "namespaces" : resource);
  }
  await app.call("connect", { namespace: "shop" });
  await caughtUp(app, api, "pods", (key) => key.startsWith("shop/"));
  await app.call("connect", { labelSelector: "app in (web, cart)" });
  await caughtUp(app, api, "pods", (key) => /\/(web|cart)-/.test(key));
  await app.call("connect", { fieldSelector: "spec.nodeName=node-1", indices: ["namespace", "node"] });
  const node = (key) => api.stores.get("pods").objects.get(key).spec.nodeName === "node-1";
  await caughtUp(app, api, "pods", node);
  await app.call("connect", { metadataOnly: true });
  await caughtUp(app, api);
  assert.match(watches(api).at(-1).accept, /as=PartialObjectMetadata;/);
  assert.equal(api.watches.length, 1, "what is not wanted any more is left");
}));

test("a server without streaming lists is listed in pages", onCluster({
  api: { watchList: false, watchCache: false },
  setUp: (api) => api.generate("pods", 1_200),
  provokes: /422/,
}, async (app, api) => {
  await connected(app, api, { metadataOnly: true });
  assert.ok(lists(api).some(({ url }) => url.includes("continue=")), "the list came in pages");
}));
