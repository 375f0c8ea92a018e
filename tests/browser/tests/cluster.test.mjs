// Connecting to a cluster, played by a test API server: found in each way that the book describes, or reported as
// missing; and which resources can be watched.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";
import { NO_KUBECTL, NO_TRUNK, kubectlProxy, makeServe } from "../fronts.mjs";
import { caughtUp, watches } from "../live.mjs";

const { onCluster, onPage } = suite();

// The browser's console reports an error where the page finds no API.
const NOT_THERE = /version/;
const WAYS = {
  "make serve PROXY=…": { skip: NO_TRUNK, through: makeServe },
  "kubectl proxy --www=dist": { skip: NO_KUBECTL, through: kubectlProxy, provokes: NOT_THERE },
  "kubectl proxy with prefixes": { skip: NO_KUBECTL, through: (api, more) => kubectlProxy(api, { ...more, prefixes: true }) },
};

for (const [way, { skip, ...options }] of Object.entries(WAYS)) {
  test(`a cluster is watched: ${way}`, { skip }, onCluster({
    setUp: (api) => api.generate("pods", 5),
    ...options,
  }, async (app, api) => {
    const asked = app.requests.filter((address) => address.includes("version"));
    assert.deepEqual(asked, [], "a page that is only read asks nobody anything");
    await app.id("btn-cluster").click();
    const found = await app.id("cluster-found").innerText();
    assert.match(found, /v1\.36\.4/);
    assert.ok(found.includes(new URL(app.reads).pathname), found);
    await app.id("cluster-start").click();
    await caughtUp(app, api);
    api.create("pods", { metadata: { name: "new" } });
    api.update("pods", "default/web-0");
    await caughtUp(app, api);
    await app.id("live-badge").click();
    await app.id("btn-disconnect").click();
    await api.when("the watch is left", () => api.watches.length === 0);
  }));
}

/** The message where there is no API, in two languages, and the command to type. */
async function missing(app, english, chinese, command) {
  const shown = app.id("cluster-missing");
  await shown.filter({ hasText: english }).waitFor();
  if (command) await shown.getByText(command, { exact: true }).waitFor();
  await app.page.keyboard.press("Escape");
  await app.language("zh");
  await app.id("btn-cluster").click();
  await shown.filter({ hasText: chinese }).waitFor();
}

test("without an API the page says how to start one", onPage({ provokes: NOT_THERE }, async (app) => {
  await app.id("btn-cluster").click();
  await missing(app, "no Kubernetes API is there", "那里没有 Kubernetes API");
  const all = await app.id("cluster").innerText();
  for (const command of [
    "kubectl proxy --www=dist",
    "make serve PROXY=http://127.0.0.1:8001",
    "trunk serve --proxy-backend=http://127.0.0.1:8001 --proxy-rewrite=/k8s/ --proxy-no-system-proxy",
    "deltascope serve --proxy http://127.0.0.1:8001",
  ]) {
    assert.ok(all.includes(command), command);
  }
}));

test("with nothing behind the proxy it says what to start", onCluster({ provokes: /version|500/ }, async (app, api) => {
  await api.down();
  await app.id("btn-cluster").click();
  await missing(app, "nothing answers there", "那边没有应答", "kubectl proxy --port=8001");
  // Then there is an API server.
  await api.up();
  await app.id("cluster-look").click();
  await app.id("cluster-found").waitFor();
}));

test("credentials that are refused have a message of their own", onCluster({ provokes: /version|401/ }, async (app, api) => {
  api.fail({ status: 401 });
  await app.id("btn-cluster").click();
  await missing(app, "does not take the credentials", "不接受", "kubectl get namespaces");
}));

test("a server that is gone has a message of its own", onCluster({ provokes: /version|ERR_/ }, async (app, api, { front }) => {
  await app.all();
  await front.close();
  await app.id("btn-cluster").click();
  await missing(app, "is gone", "已经不在了");
}));

test("a host name that kubectl proxy refuses has a message of its own", { skip: NO_KUBECTL }, onCluster({
  through: async (api, more) => {
    const front = await kubectlProxy(api, more);
    // Browsers resolve every name under localhost to this machine.
    const elsewhere = (url) => url.replace("127.0.0.1", "page.localhost");
    return { ...front, url: elsewhere(front.url), api: elsewhere(front.api) };
  },
  provokes: /version|403/,
}, async (app) => {
  await app.id("btn-cluster").click();
  await missing(app, "only to localhost", "localhost");
}));

for (const aggregated of [true, false]) {
  const how = aggregated ? "at once" : "one by one";
  test(`the page offers the resources that can be watched, found ${how}`, onCluster({
    api: { aggregated },
    setUp: (api) => {
      for (const [resource, count] of [["namespaces", 5], ["pods", 600], ["nodes", 3], ["crontabs", 7]]) api.generate(resource, count);
      api.group("metrics.k8s.io", "stale");
    },
    provokes: /metrics|503/,
  }, async (app, api) => {
    await app.id("btn-cluster").click();
    const offered = app.id("cluster-offer").locator("label");
    const names = async () => (await offered.evaluateAll((all) => all.map(({ dataset }) => dataset.testid.slice("resource-".length)))).sort();
    await app.id("resource-crontabs.stable.example.com").waitFor();
    const all = ["configmaps", "crontabs.stable.example.com", "deployments.apps", "events", "leases.coordination.k8s.io", "namespaces",
      "nodes", "pods", "replicasets.apps", "secrets"];
    assert.deepEqual(await names(), all, "what cannot be watched is left out, and each resource is there once");
    await app.id("cluster").getByText("metrics.k8s.io").waitFor();
    await app.id("cluster-group").selectOption("apps");
    assert.deepEqual(await names(), ["deployments.apps", "replicasets.apps"]);
    await app.id("cluster-group").selectOption("");
    const start = app.id("cluster-start");

    // Many objects are watched as metadata by default.
    await app.id("resource-pods").click();
    await app.id("cluster-count").filter({ hasText: "600" }).waitFor();
    assert.ok(await app.id("cluster-metadata").isChecked());
    await start.click();
    await caughtUp(app, api);
    assert.match(watches(api).at(-1).accept, /as=PartialObjectMetadata;/);

    await app.id("live-badge").click();
    await app.id("cluster-search").fill("ct");
    await app.id("cluster-search").press("Enter");
    // In the same tab, as long as there is one.
    const instead = app.id("cluster-instead");
    await instead.filter({ hasText: "crontabs.stable.example.com" }).click();
    await caughtUp(app, api, "crontabs.stable.example.com");
    assert.match(watches(api).at(-1).path, /^\/apis\/stable\.example\.com\/v1\/crontabs$/);

    // Whole objects of one namespace, by a label and by a field.
    await app.id("live-badge").click();
    await app.id("cluster-search").fill("");
    await app.id("resource-pods").click();
    const namespaces = app.page.locator("#cluster-namespaces option");
    await namespaces.first().waitFor({ state: "attached" });
    assert.equal(await namespaces.count(), 5);
    await app.id("cluster-namespace").fill("shop");
    await app.id("cluster-labels").fill("app!=web");
    await app.id("cluster-fields").fill("status.phase=Running");
    await app.id("cluster-metadata").setChecked(false);
    await app.id("cluster-indices").fill("app, .spec.nodeName");
    await instead.click();
    const chosen = (key) => key.startsWith("shop/") && !key.startsWith("shop/web-");
    const { store } = await caughtUp(app, api, "pods", chosen);
    const values = Object.values(store.indices).map((index) => Object.keys(index).sort().join());
    assert.ok(values.includes("cache,cart,cron,worker"), `${values}`);
    assert.ok(values.includes("node-1,node-2,node-3,node-4"), `${values}`);
    assert.equal(api.watches.length, 1);
  }));
}

test("a forbidden resource is reported before the page watches it", onCluster({
  setUp: (api) => api.fail({ status: 403, path: "/secrets" }),
  provokes: /403/,
}, async (app) => {
  await app.id("btn-cluster").click();
  await app.id("resource-secrets").click();
  await app.id("cluster-count").filter({ hasText: "kubectl auth can-i list secrets" }).waitFor();
}));
