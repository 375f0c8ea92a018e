// A real cluster, as a test API server plays it: found, or plainly not; each way that the README shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";
import { NO_KUBECTL, NO_TRUNK, kubectlProxy, makeServe } from "../fronts.mjs";

const { onCluster, onPage } = suite();

// Looking for an API where there is none is an error to a browser's console.
const NOT_THERE = /version/;
const WAYS = {
  "make serve PROXY=…": { skip: NO_TRUNK, through: makeServe },
  "kubectl proxy --www=dist": { skip: NO_KUBECTL, through: kubectlProxy, provokes: NOT_THERE },
  "kubectl proxy with prefixes": { skip: NO_KUBECTL, through: (api, more) => kubectlProxy(api, { ...more, prefixes: true }) },
};

for (const [way, { skip, ...options }] of Object.entries(WAYS)) {
  test(`the API is found: ${way}`, { skip }, onCluster(options, async (app) => {
    const asked = app.requests.filter((address) => address.includes("version"));
    assert.deepEqual(asked, [], "a page that is only read asks nobody anything");
    await app.id("btn-cluster").click();
    const found = await app.id("cluster-found").innerText();
    assert.match(found, /v1\.36\.4/);
    assert.ok(found.includes(new URL(app.reads).pathname), found);
  }));
}

/** What stands there when there is no API, in two languages, and the command to be typed. */
async function missing(app, english, chinese, command) {
  const shown = app.id("cluster-missing");
  await shown.filter({ hasText: english }).waitFor();
  if (command) await shown.getByText(command, { exact: true }).waitFor();
  await app.page.keyboard.press("Escape");
  await app.language("zh");
  await app.id("btn-cluster").click();
  await shown.filter({ hasText: chinese }).waitFor();
}

test("without an API the page says how to have one", onPage({ provokes: NOT_THERE }, async (app) => {
  await app.id("btn-cluster").click();
  await missing(app, "no Kubernetes API is there", "那里没有 Kubernetes API");
  const all = await app.id("cluster").innerText();
  for (const command of [
    "kubectl proxy --www=dist",
    "make serve PROXY=http://127.0.0.1:8001",
    "trunk serve --proxy-backend=http://127.0.0.1:8001/ --proxy-rewrite=/k8s/",
  ]) {
    assert.ok(all.includes(command), command);
  }
}));

test("with nothing behind the proxy it says what to start", onCluster({ provokes: /version|500/ }, async (app, api) => {
  await api.down();
  await app.id("btn-cluster").click();
  await missing(app, "nobody answers there", "那边没有应答", "kubectl proxy --port=8001");
  // Then it is there.
  await api.up();
  await app.id("cluster-look").click();
  await app.id("cluster-found").waitFor();
}));

test("credentials that are not taken are told from that", onCluster({ provokes: /version|401/ }, async (app, api) => {
  api.fail({ status: 401 });
  await app.id("btn-cluster").click();
  await missing(app, "does not take the credentials", "不接受", "kubectl get namespaces");
}));

test("a server that is gone is", onCluster({ provokes: /version|ERR_/ }, async (app, api, { front }) => {
  await front.close();
  await app.id("btn-cluster").click();
  await missing(app, "is gone", "已经不在了");
}));

test("a name that kubectl proxy does not answer to is", { skip: NO_KUBECTL }, onCluster({
  through: async (api, more) => {
    const front = await kubectlProxy(api, more);
    // Every name under localhost is this machine to a browser.
    const elsewhere = (url) => url.replace("127.0.0.1", "page.localhost");
    return { ...front, url: elsewhere(front.url), api: elsewhere(front.api) };
  },
  provokes: /version|403/,
}, async (app) => {
  await app.id("btn-cluster").click();
  await missing(app, "only to localhost", "localhost");
}));
