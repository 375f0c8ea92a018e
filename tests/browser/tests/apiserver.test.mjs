// Compares the test API server with recorded responses of a real one, byte for byte. Then tests its faults.
import assert from "node:assert/strict";
import { test } from "node:test";
import { get } from "node:http";
import { readFileSync, readdirSync } from "node:fs";
import { fieldSelector, labelSelector, startApi } from "../apiserver.mjs";
import { KINDS } from "../kinds.mjs";

const FOLDER = new URL("../../transcripts/", import.meta.url);
const body = (name) => readFileSync(new URL(`${name}.body`, FOLDER), "utf8");
const recorded = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8"));
const lines = (name) => body(name).split("\n").filter(Boolean).map((line) => JSON.parse(line));
const changes = (name) => lines(name).filter(({ type }) => /ADDED|MODIFIED|DELETED/.test(type));
const query = (name) => new URL(recorded(name).request.line.split(" ")[1], "http://localhost").searchParams;

/** Repeats a recorded request; `url` replaces the recorded URL. */
function ask(api, name, { url, onHead } = {}) {
  const { request } = recorded(name);
  const path = url ?? request.line.split(" ")[1];
  // As the recorder did: browsers get indented JSON.
  const headers = { ...request.headers, "User-Agent": "Mozilla/5.0", Host: `127.0.0.1:${api.port}` };
  return new Promise((answered, failed) => {
    get(`${api.url}${path}`, { headers }, (response) => {
      onHead?.();
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => (text += piece));
      response.on("end", () => answered({ status: response.statusCode, headers: response.headers, text, end: "complete" }));
      response.on("error", () => answered({ status: response.statusCode, headers: response.headers, text, end: "broken" }));
    }).on("error", failed);
  });
}

function same(api, name, answer) {
  const { response } = recorded(name);
  const header = (wanted) => response.headers.find(([key]) => key.toLowerCase() === wanted)?.[1];
  assert.equal(answer.status, response.status, name);
  assert.equal(answer.headers["content-type"], header("content-type"), name);
  assert.equal(answer.headers["retry-after"], header("retry-after"), name);
  // Only the server's address must differ.
  const text = answer.text.replaceAll(api.url.slice("http://".length), "127.0.0.1:16443");
  const wanted = body(name);
  let at = 0;
  while (at < wanted.length && text[at] === wanted[at]) at += 1;
  const here = (whole) => whole.slice(Math.max(0, at - 60), at + 60);
  assert.ok(text === wanted, `${name} differs at ${at}: …${here(text)}… where a real server has …${here(wanted)}…`);
  assert.equal(answer.end === "complete", response.end === "complete", name);
}

/** Creates the objects of a recorded list (or watch). */
const put = (api, ...names) => {
  for (const name of names) {
    const text = body(name);
    const list = text.trimStart().startsWith("{\"type\"") ? changes(name).map(({ object }) => object) : JSON.parse(text).items;
    for (const object of list) api.replay(name === "list-namespaces" ? "namespaces" : "pods", { object });
  }
};
const version = (name) => Number(JSON.parse(body(name)).metadata.resourceVersion);
/** Replays the changes of a recorded watch. The first change of an object that existed before needs its earlier
    state. */
const happen = (api, events, before) => {
  const known = new Set(api.stores.get("pods").objects.keys());
  for (const { type, object } of before ? events : []) {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    if (type !== "ADDED" && !known.has(key)) {
      api.replay("pods", { object: { ...object, metadata: { ...object.metadata, resourceVersion: `${before}` } } });
    }
    known.add(key);
  }
  for (const event of events) api.replay("pods", event);
};
const OLD_KINDS = { kinds: ["configmaps", "namespaces", "pods", "deployments"] };

/** By transcript: the setup before the request. Most lists contain all objects. */
const SINGLE = {
  "discovery-aggregated-api": { options: OLD_KINDS, setUp: noMetrics },
  "discovery-aggregated-apis": { options: OLD_KINDS, setUp: noMetrics },
  "discovery-api-v1": { options: { kinds: ["configmaps", "namespaces", "pods"] }, setUp: noMetrics },
  "discovery-api": {},
  "discovery-apis": { options: OLD_KINDS, setUp: noMetrics },
  version: {},
  "error-400-label": {},
  "error-400-limit": {},
  "error-400-rv": {},
  "error-401": { setUp: (api) => api.fail({ status: 401 }) },
  "error-403-namespace": { setUp: (api) => api.fail({ status: 403, path: "/locked/" }) },
  "error-404-group": {},
  "error-404-pod": {},
  "error-404-resource": {},
  "error-422-match": {},
  "error-429": { setUp: (api) => api.fail({ status: 429, retryAfter: 1 }) },
  "error-500-server-down": { setUp: (api) => api.fail({ status: 500 }) },
  "get-pod": { setUp: (api) => put(api, "list-3") },
  "list-25-limit-rv0": {},
  "list-25-page-1": { setUp: (api) => put(api, "list-25-page-1", "list-25-page-2", "list-25-page-3") },
  "list-3": {},
  "list-3-compact": {},
  "list-3-rv0": {},
  "list-410-exact": { setUp: (api) => { api.revision = 41_666; api.compact(); } },
  "list-accept-browser": {},
  "list-accept-not-acceptable": {},
  "list-all-namespaces-rv0": {},
  "list-continue-expired": { setUp: (api) => { api.revision = 41_666; api.compact(); } },
  "list-continue-invalid": {},
  "list-continue-with-rv": {},
  "list-empty": {},
  "list-exact": {},
  "list-field-selector": { setUp: (api) => put(api, "list-3") },
  "list-label-selector": { setUp: (api) => put(api, "list-3") },
  "list-metadata-list": { setUp: (api) => put(api, "list-3") },
  "list-metadata": {},
  "list-namespaces": {},
  "list-notolderthan": {},
  "list-rv-future": { options: { revision: 41_574, tooLargeMs: 40 } },
  "list-rv-future-exact": { options: { revision: 41_577, tooLargeMs: 40 } },
  "watch-410": { setUp: (api) => { api.revision = 41_666; api.compact(); } },
  "watch-410-rv1": { setUp: (api) => { api.revision = 41_666; api.compact(); } },
  "watch-410-no-cache": { options: { watchCache: false }, setUp: (api) => { api.revision = 41_700; api.compact(); } },
  "watch-rvmatch-exact": {},
  "watchlist-no-match": {},
  "watchlist-not-supported": { options: { watchList: false } },
  "watchlist-rv-future": { options: { revision: 41_580, tooLargeMs: 40 } },
};

/** Transcripts that this server does not replay, and why. */
const LEFT_OUT = [
  /^cors-/, // kubectl proxy's; this server answers OPTIONS with 405 like any other
  /^write-/, // without defaults and validation
  /-table$/, // nobody here asks for tables
  /^static-/, // kubectl proxy's
  /^host-rejected$/,
  /^error-403-proxy-exec$/,
  /^root$/, // a list of paths
  /^error-storage-stalled$/, // the text of one failure; `fail({ body })` sends any
  /^list-gzip$/, // how it is compressed is no promise
  /-list$/, // what a watch of the same name starts from
];

function noMetrics(api) {
  api.group("metrics.k8s.io", "gone");
}

/** Runs an API server during a function. */
const withApi = async (options, act) => {
  const api = await startApi(options);
  try {
    await act(api);
  } finally {
    await api.close();
  }
};

test("single requests get a real server's responses", async () => {
  for (const [name, { options, setUp }] of Object.entries(SINGLE)) {
    await withApi(options, async (api) => {
      const items = /^list-/.test(name) && recorded(name).response.status === 200;
      if (setUp) setUp(api);
      else if (items) put(api, name);
      if (items) api.revision = version(name);
      same(api, name, await ask(api, name));
    });
  }
});

test("all pages are of one revision, even when it is compacted", () => withApi({}, async (api) => {
  put(api, "list-25-page-1", "list-25-page-2", "list-25-page-3");
  api.revision = version("list-25-page-1");
  same(api, "list-25-page-1", await ask(api, "list-25-page-1"));
  api.create("pods", { metadata: { name: "page-99", namespace: "paged" } });
  api.remove("pods", "paged/page-15");
  same(api, "list-25-page-2", await ask(api, "list-25-page-2"));
  same(api, "list-25-page-3", await ask(api, "list-25-page-3"));
}));

test("an expired continue token continues with the current objects", () => withApi({}, async (api) => {
  put(api, "list-expired-page-1");
  const first = JSON.parse(body("list-expired-page-1"));
  for (const name of ["old-6", "old-7"]) {
    api.replay("pods", { object: { metadata: { name, namespace: "default", resourceVersion: "41651" } } });
  }
  put(api, "list-continue-inconsistent");
  api.revision = Number(first.metadata.resourceVersion);
  const { metadata } = JSON.parse((await ask(api, "list-expired-page-1")).text);
  assert.equal(metadata.continue, first.metadata.continue);
  api.remove("pods", "default/old-7");
  api.revision = 41_666;
  api.compact();
  same(api, "list-continue-expired", await ask(api, "list-continue-expired"));
  same(api, "list-continue-inconsistent", await ask(api, "list-continue-inconsistent"));
}));

/** Repeats recorded watches, makes changes, and compares what each watch received. */
async function watched(api, names, act) {
  const answers = names.map((name) => {
    const asked = query(name);
    const { request } = recorded(name);
    // The test ends the watch.
    asked.delete("timeoutSeconds");
    return ask(api, name, { url: `${request.path}?${asked}` });
  });
  await api.when("the watches are open", () => api.watches.length === names.length);
  await act();
  api.end();
  for (const [at, answer] of (await Promise.all(answers)).entries()) same(api, names[at], answer);
}

test("watches of the same revisions differ by path, form and selector", () =>
  withApi({ revision: 41_474 }, (api) =>
    watched(
      api,
      ["", "-legacy-path", "-metadata", "-selector", "-phase-selector"].map((form) => `watch-pod-lifecycle${form}`),
      () => {
        happen(api, changes("watch-pod-lifecycle"));
        api.bookmark();
      },
    )));

test("a watch starts with the current objects, and a streaming list marks their end", () => withApi({}, async (api) => {
  const events = changes("watchlist");
  for (const event of events.slice(0, 3)) api.replay("pods", event);
  api.revision = 41_549;
  await watched(api, ["watchlist", "watchlist-rv0", "watch-rv0", "watch-rv-unset"], () => {
    happen(api, events.slice(3, 5));
    api.bookmark();
    happen(api, events.slice(5));
    api.bookmark();
  });
}));

test("a watch resumes where it was", () => withApi({ revision: 41_000 }, async (api) => {
  happen(api, changes("watch-resume"), 41_600);
  await watched(api, ["watch-resume"], () => {});
}));

test("a streaming list without bookmarks, or from an old version, is as recorded", async () => {
  for (const [name, revision] of [["watchlist-no-bookmarks", 41_553], ["watchlist-old-rv", 41_666]]) {
    await withApi({}, async (api) => {
      for (const event of changes(name)) api.replay("pods", event);
      api.revision = revision;
      api.compact();
      await watched(api, [name], () => {});
    });
  }
});

test("changes of large objects, and bookmarks during writes to other resources", async () => {
  for (const [name, revision] of [["watch-large-object", 41_553], ["watch-bookmarks", 41_572]]) {
    await withApi({ revision: 41_000 }, async (api) => {
      happen(api, [], revision);
      for (const event of lines(name)) {
        if (event.type !== "MODIFIED" || api.stores.get("pods").objects.has(`default/${event.object.metadata.name}`)) continue;
        if (lines(name).some((e) => e.type === "ADDED" && e.object.metadata.name === event.object.metadata.name)) continue;
        api.replay("pods", { object: { ...event.object, metadata: { ...event.object.metadata, resourceVersion: "41001" } } });
      }
      api.revision = revision;
      await watched(api, [name], () => {
        for (const event of lines(name)) {
          if (event.type === "BOOKMARK") {
            api.revision = Number(event.object.metadata.resourceVersion);
            api.bookmark();
          } else api.replay("pods", event);
        }
      });
    });
  }
});

test("a watch from a future version is silent, and ends at its timeout", () => withApi({ revision: 41_574 }, async (api) => {
  const { request } = recorded("watch-rv-future");
  const asked = query("watch-rv-future");
  asked.set("timeoutSeconds", "1");
  const answer = ask(api, "watch-rv-future", { url: `${request.path}?${asked}` });
  await api.when("it is open", () => api.watches.length === 1);
  api.create("pods");
  same(api, "watch-rv-future", await answer);
}));

test("connections break where the test says", async () => {
  for (const [name, end] of [
    ["watch-cut", (api) => api.cut(779)],
    ["watch-server-killed", (api) => api.drop()],
    ["watch-proxy-terminated", (api) => api.drop()],
    ["watch-server-terminated", (api) => api.end()],
  ]) {
    await withApi({ revision: 41_000 }, async (api) => {
      const whole = body(name).split("\n").slice(0, -1).map((line) => JSON.parse(line));
      const since = Number(query(name).get("resourceVersion"));
      for (const { object } of whole) {
        api.replay("pods", { object: { ...object, metadata: { ...object.metadata, resourceVersion: "41001" } } });
      }
      api.revision = since;
      const answer = ask(api, name);
      await api.when("it is open", () => api.watches.length === 1);
      for (const event of whole) api.replay("pods", event);
      end(api);
      const { status, text, end: how } = await answer;
      const { response } = recorded(name);
      assert.equal(status, 200);
      assert.equal(how === "complete", response.end === "complete", name);
      // Of the line that was cut, only the length must match.
      assert.equal(Buffer.byteLength(text), Buffer.byteLength(body(name)), name);
      assert.equal(text.slice(0, text.lastIndexOf("\n")), body(name).slice(0, body(name).lastIndexOf("\n")), name);
    });
  }
});

test("every transcript is replayed here or listed as left out", () => {
  const source = readFileSync(new URL(import.meta.url), "utf8");
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  const built = ["", "-legacy-path", "-metadata", "-selector", "-phase-selector"].map((form) => `watch-pod-lifecycle${form}`);
  const missing = names.filter((name) =>
    !(name in SINGLE) && !built.includes(name) && !source.includes(`"${name}"`) && !LEFT_OUT.some((left) => left.test(name)));
  assert.deepEqual(missing, []);
});

test("each fault happens on command", () => withApi({ control: 0 }, async (api) => {
  const command = (name, ...args) => fetch(`${api.controlUrl}/${name}`, { method: "POST", body: JSON.stringify(args) });
  const pods = `${api.url}/api/v1/pods`;
  const status = async (url = pods, init) => (await fetch(url, init)).status;
  assert.deepEqual(await (await command("generate", "pods", 3)).json(), 3);
  await command("fail", { status: 503, times: 2, on: "list" });
  assert.deepEqual([await status(), await status(`${api.url}/version`), await status(), await status()], [503, 200, 503, 200]);
  await command("fail", { status: 0 });
  await assert.rejects(status());
  await command("heal");

  await command("group", "metrics.k8s.io", "stale");
  assert.equal(await status(`${api.url}/apis/metrics.k8s.io/v1beta1`), 503);
  const accept = "application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList";
  const aggregated = await fetch(`${api.url}/apis`, { headers: { accept } });
  const metrics = (await aggregated.json()).items.find(({ metadata }) => metadata.name === "metrics.k8s.io");
  assert.deepEqual(metrics.versions, [{ version: "v1beta1", freshness: "Stale" }]);

  // Half-open: neither a response nor an end, and nothing is lost afterwards.
  const from = api.revision;
  const watch = await fetch(`${pods}?watch=true&resourceVersion=${from}`);
  const reader = watch.body.pipeThrough(new TextDecoderStream()).getReader();
  api.stall();
  api.update("pods", "default/web-0");
  const list = status();
  await api.when("the list waits", () => api.asked.at(-1).url === "/api/v1/pods");
  assert.equal(api.watches[0].sent, 0);
  api.resume();
  assert.equal(JSON.parse((await reader.read()).value).object.metadata.resourceVersion, `${from + 1}`);
  assert.equal(await list, 200);

  api.pieces(1);
  api.update("pods", "default/web-0");
  let reads = 0;
  for (let text = ""; !text.endsWith("\n"); reads += 1) text += (await reader.read()).value;
  assert.ok(reads > 20, `a line of one-byte chunks came in ${reads}`);
  api.pieces(0);
  api.huge(3_000_000);
  let read = 0;
  while (read < 3_000_000) read += (await reader.read()).value.length;

  await api.restart({ revision: 7 });
  await assert.rejects(async () => { while (!(await reader.read()).done); });
  assert.equal((await (await fetch(pods)).json()).metadata.resourceVersion, "10");
  const anew = await (await fetch(`${pods}?watch=true&resourceVersion=9&timeoutSeconds=1`)).text();
  assert.match(anew, /^\{"type":"ERROR".*too old resource version: 9 \(10\)/, "and nothing of what was before");
  await api.down();
  await assert.rejects(status());
  await api.up();
  assert.equal(await status(), 200);
}));

test("what a controller writes is there, and watches hear of it", () => withApi({}, async (api) => {
  const leases = `${api.url}/apis/coordination.k8s.io/v1/namespaces/default/leases`;
  const watch = await fetch(`${leases}?watch=true&resourceVersion=${api.revision}`);
  const reader = watch.body.pipeThrough(new TextDecoderStream()).getReader();
  const write = async (method, url, body, type = "application/json") => {
    const answer = await fetch(url, { method, body: JSON.stringify(body), headers: { "content-type": type } });
    return [answer.status, await answer.json()];
  };
  const lease = { metadata: { name: "leader" }, spec: { holderIdentity: "one" } };
  const [created, one] = await write("POST", leases, lease);
  assert.deepEqual([created, one.kind, one.metadata.namespace, one.spec.holderIdentity], [201, "Lease", "default", "one"]);
  assert.equal((await write("POST", leases, lease))[1].reason, "AlreadyExists");
  const next = { ...one, spec: { holderIdentity: "two" } };
  const [, two] = await write("PUT", `${leases}/leader`, next);
  assert.equal(two.spec.holderIdentity, "two");
  assert.ok(Number(two.metadata.resourceVersion) > Number(one.metadata.resourceVersion));
  // Of two that have read one version the second one loses.
  assert.equal((await write("PUT", `${leases}/leader`, next))[1].reason, "Conflict");
  const patch = { metadata: { labels: { a: "b" } } };
  const [, three] = await write("PATCH", `${leases}/leader`, patch, "application/merge-patch+json");
  assert.deepEqual([three.metadata.labels, three.spec], [{ a: "b" }, { holderIdentity: "two" }]);
  assert.equal((await write("PUT", `${leases}/leader`, next, "application/vnd.kubernetes.protobuf"))[0], 415);
  assert.equal((await write("DELETE", `${leases}/leader`, {}))[0], 200);
  assert.equal((await write("DELETE", `${leases}/leader`, {}))[1].reason, "NotFound");
  assert.equal((await fetch(`${leases}/leader`)).status, 404);
  const applied = { metadata: { name: "leader" } };
  const apply = () => write("PATCH", `${leases}/leader`, applied, "application/apply-patch+yaml");
  assert.deepEqual([(await apply())[0], (await apply())[0]], [201, 200]);
  let text = "";
  while (text.split("\n").length < 7) text += (await reader.read()).value;
  const heard = text.trim().split("\n").map((line) => JSON.parse(line).type);
  assert.deepEqual(heard, ["ADDED", "MODIFIED", "MODIFIED", "DELETED", "ADDED", "MODIFIED"]);
  await reader.cancel();
}));

test("selectors choose as a real server does", () => {
  const labels = { app: "web", tier: "" };
  const cases = {
    "app": true, "!app": false, "!none": true, "app=web": true, "app==web,tier=": true, "app!=web": false, "none!=web": true,
    "app in (web, cart)": true, "app notin (web)": false, "app in (cart),tier": false, "": true,
  };
  for (const [text, chosen] of Object.entries(cases)) assert.equal(labelSelector(text)(labels), chosen, text);
  for (const text of ["a=b=c", "in (", "a in b", "a b"]) assert.throws(() => labelSelector(text), /unable to parse requirement/, text);
  const pod = { metadata: { name: "a" }, spec: { nodeName: "n1" }, status: { phase: "Running" } };
  const pods = KINDS.find(({ plural }) => plural === "pods");
  const fields = { "spec.nodeName=n1": true, "metadata.name!=a": false, "status.phase==Running,spec.nodeName=n2": false };
  for (const [text, chosen] of Object.entries(fields)) assert.equal(fieldSelector(pods, text)(pod), chosen, text);
  assert.throws(() => fieldSelector(pods, "spec.priority=1"), /field label not supported: spec.priority/);
});
