// The servers that the book puts between the page and a cluster: the page and the API are on one port, and
// everything streams.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApi } from "../apiserver.mjs";
import { NO_KUBECTL, NO_TRUNK, kubectlProxy, makeServe } from "../fronts.mjs";
import { serve } from "../server.mjs";

let dist;
before(async () => {
  dist = await mkdtemp(join(tmpdir(), "deltascope-page-"));
  await writeFile(join(dist, "index.html"), "<!doctype html><html><head></head><body>the page</body></html>");
  await writeFile(join(dist, "page.js"), "export {};");
});
after(() => rm(dist, { recursive: true, force: true }));

async function through(front, api) {
  try {
    const page = await fetch(front.url);
    assert.match(await page.text(), /the page/);
    const script = await fetch(new URL("page.js", front.url));
    assert.match(script.headers.get("content-type"), /javascript/);
    assert.equal((await (await fetch(`${front.api}version`)).json()).gitVersion, "v1.36.4");

    const pods = `${front.api}api/v1/pods`;
    const list = await (await fetch(pods)).json();
    assert.equal(list.items.length, 3);
    const stop = new AbortController();
    const asked = `${pods}?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
    const watch = await fetch(asked, { signal: stop.signal });
    const reader = watch.body.pipeThrough(new TextDecoderStream()).getReader();
    // Each line arrives before the next one is made: nothing is buffered, and nothing is lost.
    for (let n = 0; n < 5; n += 1) {
      const { metadata } = api.update("pods", "default/web-0");
      let line = "";
      while (!line.endsWith("\n")) line += (await reader.read()).value;
      assert.equal(JSON.parse(line).object.metadata.resourceVersion, metadata.resourceVersion);
    }
    assert.equal(api.watches.length, 1);
    stop.abort();
    await api.when("the watch that nobody reads is gone", () => api.watches.length === 0);

    // The client sees a broken connection as broken, not as a clean end.
    const cut = await fetch(asked);
    await api.when("it is open again", () => api.watches.length === 1);
    api.cut();
    await assert.rejects(cut.text());
    api.fail({ status: 429, retryAfter: 3, times: 1 });
    const busy = await fetch(pods);
    assert.equal(busy.status, 429);
    assert.equal(busy.headers.get("retry-after"), "3");
    await api.down();
    assert.equal((await fetch(pods)).status, 500);
  } finally {
    await front.close();
    await api.close();
  }
}

async function served() {
  const api = await startApi();
  api.generate("pods", 3);
  return api;
}

test("make serve PROXY=… streams", { skip: NO_TRUNK }, async () => {
  const api = await served();
  const front = await makeServe(api.url, { dist });
  assert.deepEqual(front.command.slice(0, 2), ["trunk", "serve"]);
  await through(front, api);
});

test("kubectl proxy --www=dist has the page under /static/", { skip: NO_KUBECTL }, async () => {
  const api = await served();
  await through(await kubectlProxy(api.url, { dist }), api);
});

test("kubectl proxy with prefixes has the API under /k8s/", { skip: NO_KUBECTL }, async () => {
  const api = await served();
  await through(await kubectlProxy(api.url, { dist, prefixes: true }), api);
});

test("the server of these tests does the same", async () => {
  const api = await served();
  const { url, close } = await serve(dist, { api: api.url });
  await through({ url, close, api: new URL("/k8s/", url).href }, api);
});
