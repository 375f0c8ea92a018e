// The page in an iframe: its fragment, and the messages between it and the page around.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, posix } from "node:path";
import { startApi } from "../apiserver.mjs";
import { NO_KUBECTL, kubectlProxy } from "../fronts.mjs";
import { DIST } from "../harness.mjs";
import { STRICT, hosts, serveHost } from "../hosts.mjs";
import { TYPES } from "../server.mjs";

const onHost = hosts();

/** A page around a frame, which keeps all messages that it receives. */
const around = (src, attributes = "") => `<!doctype html><html lang="en"><title>around</title>
<iframe src="${src}" title="an informer" width="1000" height="600" ${attributes}></iframe>
<script src="around.js"></script>`;
const SCRIPT = `
const frame = document.querySelector("iframe");
globalThis.heard = [];
addEventListener("message", ({ data, origin, source }) => source === frame.contentWindow && heard.push({ ...data, origin }));
const post = (message) => frame.contentWindow.postMessage(message, "*");
const answer = (id) => new Promise((resolve) => {
  const listen = ({ data }) => {
    if (data.id !== id) return;
    removeEventListener("message", listen);
    resolve(data);
  };
  addEventListener("message", listen);
});
/** Repeats PING, because messages before the frame listens are lost. */
globalThis.shake = async () => {
  for (let id = 0; ; id += 1) {
    const pong = answer("ping" + id);
    post({ ns: "deltascope", v: 1, id: "ping" + id, type: "PING" });
    const found = await Promise.race([pong, new Promise((resolve) => setTimeout(resolve, 50))]);
    if (found) return found;
  }
};
let last = 0;
globalThis.ask = (type, ...args) => {
  const id = (last += 1);
  post({ ns: "deltascope", v: 1, id, type, args });
  return answer(id);
};
globalThis.say = (message) => post(message);
globalThis.raw = async (message) => {
  post(message);
  return answer(message.id ?? null);
};
`;
const framed = (hash, attributes) => ({ "index.html": around(`deltascope/embed.html${hash}`, attributes), "around.js": SCRIPT });
const shake = (host) => host.page.evaluate(() => shake());
const ask = (host, type, ...args) => host.page.evaluate(([name, given]) => ask(name, ...given), [type, args]);
const heard = (host, type) => host.page.evaluate((which) => heard.filter((one) => one.type === which), type);
const TOMBSTONE = "#v1;lesson=tombstone;era=1.36;at=relist";

test("the handshake, each command and each reply", onHost(framed(`${TOMBSTONE};panels=api,queue,indexer`), async (host) => {
  const pong = await shake(host);
  assert.equal(pong.type, "PONG");
  assert.match(pong.version, /^\d+\.\d+\.\d+/);
  const value = async (type, ...args) => {
    const reply = await ask(host, type, ...args);
    assert.deepEqual([reply.ns, reply.v, reply.type, reply.ok], ["deltascope", 1, "REPLY", true], JSON.stringify(reply));
    return reply.value;
  };
  const first = await value("step", 0);
  assert.deepEqual([first.lesson, first.era], ["tombstone", "1.36"]);
  assert.equal((await value("step", 2)).step, first.step + 2);
  assert.equal((await value("step", -1, "event")).step < first.step + 2, true);
  assert.equal((await value("seek", "told")).output.length, 6);
  assert.equal((await value("reset")).step, first.step, "where `at` says");
  assert.equal((await value("setEra", "1.32")).era, "1.32");
  assert.equal((await value("play")).playing, true);
  assert.equal((await value("pause")).playing, false);
  const pod = { metadata: { namespace: "default", name: "mine" } };
  assert.ok("default/mine" in (await value("inject", { op: "create", object: pod })).api.objects);
  assert.equal((await value("fork")).branches.length > 1, true);
  assert.match(await value("getUrl"), /\/docs\/guide\/deltascope\/embed\.html#v1;lesson=tombstone;.*i=/);
  assert.match(await value("exportSvg", { theme: "light" }), /^<svg /);
  assert.match(await value("exportTranscript"), /relist/);
  assert.match(await value("exportTrace"), /^\{"deltascope":1,/);
  assert.equal((await value("smallest", "fact=ObjectCreated")).branches.length > 2, true);
  assert.equal((await value("load", "deltafifo")).lesson, "deltafifo");
  await value("set", "lang", "zh");
  assert.match(await value("exportTranscript"), /[一-鿿]/);
  assert.equal((await value("getState")).lesson, "deltafifo");
}));

test("events are sent to the pages that have sent PING", onHost(framed(TOMBSTONE), async (host) => {
  await shake(host);
  await ask(host, "seek", "told");
  await ask(host, "step", -1);
  const events = await heard(host, "EVENT");
  const named = (name) => events.filter((event) => event.name === name);
  assert.ok(named("ds-step").some(({ detail }) => detail.steps >= detail.step && detail.time > 0));
  assert.deepEqual(named("ds-marker").at(-1).detail, { id: "told" });
  assert.ok(events.every(({ ns, v, origin }) => ns === "deltascope" && v === 1 && origin === new URL(host.url).origin));
}));

/** All methods of the element, but `dispose()`. */
const TYPES_ARE = /These are: PING, set, play, pause, step, seek, fork, smallest, setEra, inject, next, back, answer, reset, scene, load, getState, getUrl, exportSvg, exportTranscript, exportTrace\.$/;

test("a failed command is answered with what to do", onHost(framed(TOMBSTONE), async (host) => {
  await shake(host);
  for (const [message, words] of [
    [{ ns: "deltascope", v: 1, id: 1, type: "explode" }, TYPES_ARE],
    [{ ns: "deltascope", v: 2, id: 2, type: "play" }, /speaks version 1/],
    [{ ns: "deltascope", v: 1, id: 3 }, /"type" must be a text/],
    [{ ns: "deltascope", v: 1, id: 4, type: "step", args: 3 }, /must be an array/],
    [{ ns: "deltascope", v: 1, id: 5, type: "set", args: ["onclick", "x"] }, /There is no attribute "onclick"/],
    [{ ns: "deltascope", v: 1, id: 6, type: "set", args: ["src", "https://elsewhere.example/run.json"] }, /only files beside embed\.html/],
    [{ ns: "deltascope", v: 1, id: 7, type: "set", args: ["src", "k8s/api/v1/secrets.json"] }, /only files beside embed\.html/],
    [{ ns: "deltascope", v: 1, id: 8, type: "constructor" }, /There is no type/],
    [{ ns: "deltascope", v: 1, id: 13, type: "drawn" }, /There is no type/],
    [{ ns: "deltascope", v: 1, id: 11, type: "dispose" }, /There is no type/],
    [{ ns: "deltascope", v: 1, id: 12, type: "connectedCallback" }, /There is no type/],
    [{ ns: "deltascope", v: 1, id: 9, type: "set", args: ["src", "../secret.json"] }, /only files beside embed\.html/],
  ]) {
    const reply = await host.page.evaluate((what) => raw(what), message);
    assert.equal(reply.ok, false);
    assert.match(reply.error, words);
  }
  const before = (await heard(host, "REPLY")).length;
  for (const message of ["", "slide", null, 7, [], {}, { type: "play" }, { ns: "other", v: 1, id: 10, type: "play" }]) {
    await host.page.evaluate((what) => say(what), message);
  }
  const { value } = await ask(host, "step", 0);
  assert.equal(value.playing, false);
  assert.equal((await heard(host, "REPLY")).length, before + 1, "what is not for it is not answered");
}));

const SECRET = "what only the reader may see";
const RUN = `{"deltascope":1}\n{"scenario":{"initial":[{"metadata":{"namespace":"default","name":"mine"}}]}}\n`;
/** What an API might answer, in a form that the frame would open. */
const ANSWER = RUN.replace("mine", SECRET.replaceAll(" ", "-"));
/**
 * The package on a server that behaves like Go's mux: it redirects to the cleaned path, however that was written. Below `api` is
 * a cluster. `headers`: the headers of its responses.
 */
async function muxed(t, { api = "k8s", headers = {} } = {}) {
  const read = [];
  const files = { "run.jsonl": RUN, "runs/of mine.jsonl": RUN, "运行/一.jsonl": RUN };
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url.split("?")[0]);
    const clean = posix.normalize(path);
    if (clean !== path) {
      response.writeHead(301, { location: encodeURI(clean) });
      return response.end();
    }
    const name = path.slice(1);
    if (name.startsWith(`${api}/`)) {
      read.push(request.url);
      response.writeHead(200, { "content-type": "application/json", ...headers });
      return response.end(ANSWER);
    }
    const body = files[name] ?? (await readFile(`${DIST}/${name}`).catch(() => undefined));
    response.writeHead(body === undefined ? 404 : 200, { "content-type": TYPES[extname(name)] ?? "text/plain" });
    response.end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => new Promise((closed) => {
    server.close(closed);
    server.closeAllConnections();
  }));
  return { url: `http://127.0.0.1:${server.address().port}/`, read };
}

/** Ways to write the address of an API beside embed.html, as an attacker might. */
function spellings(url) {
  const { host } = new URL(url);
  const before = ["", "./", ".//", "/", "//", "///", "%2F", "%2f", ".%2F", "./%2F", "%5C", "\\", ".\\", "%2e/", "%2E%2F", "x/../", "x/%2e%2e/", "x/%2e%2e%2f", "x//../", ";/../", "%252F", "%09/", "%20/", "%00/", "\t", " ", "a\nb/../", `//${host}/`, `http://${host}//`, "http:", `http:${host}/../`];
  const paths = [
    "k8s/api/v1/nodes/n/proxy/logs/x.log",
    "k8s//api/v1/secrets.json",
    "k8s%2Fapi%2Fv1%2Fsecrets.json",
    "K8S/../k8s/logs/x.log",
    "%6b8s/api/v1/secrets.json?x.json",
  ];
  const others = [
    "foo/api/v1/secrets.json", "foo/APIS/apps/v1/x.json", "foo/%61pi/v1/x.json", "foo//api/v1/x.json", "k8s/.json", "k8s;a/../k8s/x.json",
    "data:application/json,{}.json", "javascript:x.json", "blob:null/x.json", "file:///etc/x.json", "https://elsewhere.example/run.json",
    "..%2fsecret.json", ".hidden.json", "runs/.git/x.json", "package", "package.json/", "run.jsonl%00", "run%2ejsonl/../k8s/x.json", "%", "%zz.json",
  ];
  return { apis: before.flatMap((start) => paths.map((path) => start + path)), others };
}

test("a page that embeds it cannot make it read a cluster's API, however the path is written", { timeout: 120_000 }, async (t) => {
  const mux = await muxed(t);
  const at = (src) => `${mux.url}embed.html#v1;lesson=tombstone${src === undefined ? "" : `;src=${encodeURIComponent(src)}`}`;
  await onHost({ "index.html": around(at()), "around.js": SCRIPT }, { provokes: /only files beside embed\.html|Not allowed to load/ }, async (host) => {
    await shake(host);
    const { apis, others } = spellings(mux.url);
    const all = [...apis, ...others];
    assert.ok(all.length >= 150, `${all.length} spellings`);
    const frame = () => host.page.frames()[1];
    for (const src of all) {
      const reply = await ask(host, "set", "src", src);
      assert.equal(reply.ok, false, src);
      assert.match(reply.error, /only files beside embed\.html/, src);
      await frame().evaluate((hash) => (location.hash = hash), new URL(at(src)).hash);
      await ask(host, "step", 0);
      assert.equal(await frame().evaluate(() => document.querySelector("delta-scope").getAttribute("src")), null, src);
    }
    // The element itself does not read it either if it gets the attribute in another way.
    for (const src of all) {
      await frame().evaluate((src) => document.querySelector("delta-scope").setAttribute("src", src), src);
      const error = await frame().evaluate(() => document.querySelector("delta-scope").ready.then(() => "it is shown", ({ message }) => message));
      assert.match(error, /only files beside embed\.html|is no address/, src);
    }
    assert.deepEqual(mux.read, []);
    for (const src of ["run.jsonl", "./run.jsonl", "runs/of mine.jsonl", "runs/of%20mine.jsonl", "运行/一.jsonl", `${mux.url}run.jsonl`]) {
      assert.equal((await ask(host, "set", "src", src)).ok, true, src);
      await frame().evaluate(() => document.querySelector("delta-scope").ready);
      assert.match((await ask(host, "exportTrace")).value, /"mine"/, src);
    }
  })(t);
});

test("an API under an unknown name is recognised by its headers, and by the page around", async (t) => {
  for (const [src, headers, isRead] of [["cluster/x.json", { "audit-id": "1" }, true], ["cluster/logs/x.log", {}, false]]) {
    const mux = await muxed(t, { api: "cluster", headers });
    await onHost({ "index.html": around(`${mux.url}embed.html#v1;lesson=tombstone`), "around.js": SCRIPT }, { provokes: /only files beside embed\.html/ }, async (host) => {
      await shake(host);
      await ask(host, "set", "src", src);
      const frame = host.page.frames()[1];
      const shown = await frame.evaluate(() => document.querySelector("delta-scope").ready.then(() => document.querySelector("delta-scope").exportTrace(), ({ message }) => message));
      assert.doesNotMatch(shown ?? "", /what-only/);
      assert.equal(mux.read.length > 0, isRead, src);
    })(t);
  }
});

test("nor can a page make it read the API behind kubectl proxy", { skip: NO_KUBECTL }, async (t) => {
  const api = await startApi();
  t.after(() => api.close());
  const front = await kubectlProxy(api.url, { dist: DIST, prefixes: true });
  t.after(() => front.close());
  await onHost({ "index.html": around(`${front.url}embed.html#v1;lesson=tombstone`), "around.js": SCRIPT }, { provokes: /only files beside embed\.html/ }, async (host) => {
    await shake(host);
    for (const src of spellings(front.url).apis) assert.equal((await ask(host, "set", "src", src)).ok, false, src);
    // kubectl requests this by itself.
    assert.deepEqual(api.asked.filter(({ path }) => path !== "/version"), []);
  })(t);
});

test("Reveal.js stops and starts it", onHost(framed("#v1;lesson=sandbox;at=start"), async (host) => {
  await shake(host);
  const playing = async () => (await ask(host, "getState")).value.playing;
  await ask(host, "step", 1);
  await host.page.evaluate(() => say("slide:start"));
  assert.equal(await playing(), false, "what did not play does not begin");
  await ask(host, "play");
  await host.page.evaluate(() => say("slide:stop"));
  assert.equal(await playing(), false);
  await host.page.evaluate(() => say("slide:start"));
  assert.equal(await playing(), true, "what played goes on");
  await ask(host, "set", "mode", "watch");
  await host.page.evaluate(() => say("slide:stop"));
  await ask(host, "pause");
  await host.page.evaluate(() => say("slide:start"));
  assert.equal(await playing(), true, "what is for watching plays");
}));

test("only the listed origins may send messages", async (t) => {
  // The same page on another port is another origin.
  const other = await serveHost({});
  t.after(() => other.close());
  const hash = (origins) => `#v1;lesson=tombstone;origin=${origins}`;
  const ours = (host) => new URL(host.url).origin;
  const frame = (host, origins) => host.page.evaluate((src) => (document.querySelector("iframe").src = src), `${other.url}embed.html${hash(origins)}`.replace("guide/embed", "guide/deltascope/embed"));
  await onHost(framed(hash("https://elsewhere.example")), async (host) => {
    await host.page.frameLocator("iframe").locator("delta-scope .frame").waitFor();
    // This origin is not listed, so it gets no answer, even once the run is shown.
    await host.page.evaluate(() => say({ ns: "deltascope", v: 1, id: "x", type: "PING" }));
    await host.page.frames()[1].waitForFunction(() => document.querySelector("delta-scope").getState());
    assert.deepEqual(await heard(host, "PONG"), []);
    await frame(host, `https://elsewhere.example,${ours(host)}`);
    assert.equal((await shake(host)).type, "PONG");
    assert.equal((await ask(host, "step", 1)).ok, true);
    assert.equal((await heard(host, "PONG"))[0].origin, new URL(other.url).origin, "across origins");
    assert.ok(host.warnings.some((text) => /not in origin=/.test(text)), host.warnings.join());
  })(t);
});

test("messages from other windows are ignored", onHost(framed(TOMBSTONE), async (host) => {
  await shake(host);
  await ask(host, "step", 1);
  const before = (await ask(host, "getState")).value;
  await host.page.evaluate(() => document.body.append(Object.assign(document.createElement("iframe"), { name: "stranger", src: "about:blank" })));
  await host.page.frame({ name: "stranger" }).evaluate(async () => {
    const frame = parent.frames[0];
    frame.postMessage({ ns: "deltascope", v: 1, id: "s", type: "step", args: [1] }, "*");
    frame.postMessage("slide:start", "*");
  });
  assert.deepEqual((await ask(host, "getState")).value, before);
}));

test("it reports its height if the page around asks", onHost(framed("#v1;lesson=tombstone;height=auto;panels=queue"), async (host) => {
  await host.until(() => heard.some((one) => one.type === "HEIGHT" && one.px > 300));
  await host.until(() => {
    const { px } = heard.findLast((one) => one.type === "HEIGHT");
    document.querySelector("iframe").height = px;
    return document.querySelector("iframe").clientHeight === px;
  });
  const frame = host.page.frames()[1];
  assert.equal(await frame.evaluate(() => document.documentElement.scrollHeight > innerHeight), false, "nothing is cut off");
}));

test("it fills its frame, and another fragment opens another run in it", onHost(framed(TOMBSTONE), async (host) => {
  const frame = host.page.frameLocator("iframe");
  await frame.locator("delta-scope .frame").waitFor();
  const size = await frame.locator("delta-scope .frame").boundingBox();
  assert.deepEqual([size.width, size.height], [1000, 600]);
  await shake(host);
  await host.page.evaluate(() => (document.querySelector("iframe").src = "deltascope/embed.html#v1;lesson=indexer;controls=none;later=1"));
  await host.page.frames()[1].waitForFunction(() => document.querySelector("delta-scope").getState()?.lesson === "indexer");
}));

test("under a strict policy", onHost(framed(TOMBSTONE), { headers: STRICT }, async (host) => {
  await shake(host);
  assert.equal((await ask(host, "step", 1)).ok, true);
  const frame = host.page.frames()[1];
  assert.deepEqual(await frame.evaluate(() => violations), []);
  const display = await frame.evaluate(() => getComputedStyle(document.querySelector("delta-scope").shadowRoot.querySelector(".grid")).display);
  assert.equal(display, "grid");
}));

// Every link that was ever documented opens, and shows the same.
const DOCUMENTED = [
  ["#v1;lesson=tombstone", { lesson: "tombstone" }],
  ["#v1;lesson=tombstone;era=1.36;at=relist", { lesson: "tombstone", era: "1.36", at: "relist" }],
  ["#v1;lesson=tombstone;era=1.36;at=relist;panels=api,queue,indexer", { lesson: "tombstone", era: "1.36", at: "relist" }],
  ["#v1;lesson=tombstone;at=relist+3", { lesson: "tombstone" }],
  ["#v1;lesson=tombstone;at=input:2", { lesson: "tombstone" }],
  ["#v1;lesson=tombstone;at=t:2100", { lesson: "tombstone" }],
  ["#v1;lesson=tombstone;at=end;mode=watch;controls=minimal;granularity=pop;speed=2", { lesson: "tombstone", output: 6 }],
  ["#v1;lesson=tombstone;at=start;until=cut;markers=pause;theme=dark;lang=zh;motion=none", { lesson: "tombstone", step: 0 }],
  ["#v1;lesson=sandbox;height=auto;load=eager;origin=https://docs.example", { lesson: "sandbox" }],
  ["#v1;lesson=tombstone;era=1.36;at=relist;sel=default/b", { lesson: "tombstone", at: "relist" }],
  ["#v1;lesson=first-look;mode=story", { lesson: "first-look", at: "watching" }],
  ["#v1;lesson=first-look;mode=quiz;scene=5", { lesson: "first-look", at: "unseen" }],
  ["#v1;lesson=first-look;scene=4", { lesson: "first-look", at: "piled" }],
  ["#v1%3Blesson%3Dtombstone%3Bat%3Drelist", { lesson: "tombstone", at: "relist" }],
  ["#v1;lesson=tombstone;quiz=1;at=relist", { lesson: "tombstone", at: "relist" }],
  ["", { lesson: "sandbox" }],
];

test("every documented link", onHost(framed(DOCUMENTED[0][0]), { open: false }, async (host) => {
  for (const [hash, expected] of DOCUMENTED) {
    await host.page.goto("about:blank");
    await host.page.goto(`${host.url}deltascope/embed.html${hash}`);
    await host.ready();
    const state = await host.state();
    assert.equal(state.error, null, `${hash}: ${state.error?.message}`);
    assert.equal(state.lesson, expected.lesson, hash);
    if (expected.era) assert.equal(state.era, expected.era, hash);
    if (expected.output) assert.equal(state.output.length, expected.output, hash);
    if (expected.step !== undefined) assert.equal(state.step, expected.step, hash);
    if (expected.at) {
      await host.call("seek", expected.at);
      assert.equal((await host.state()).step, state.step, hash);
    }
  }
}));

test("the page's own links open with what the visitor did", onHost(framed(TOMBSTONE), async (host) => {
  await shake(host);
  await ask(host, "inject", { op: "create", object: { metadata: { namespace: "default", name: "mine" } } });
  await ask(host, "step", 5);
  const { value: link } = await ask(host, "getUrl");
  const { value: state } = await ask(host, "getState");
  await host.page.goto(`${link};controls=full;theme=dark`);
  await host.ready();
  const { steps, ...opened } = await host.state();
  const { steps: _, ...expected } = state;
  // Branches of another visitor are not part of the link.
  assert.deepEqual({ ...opened, branches: [] }, { ...expected, branches: [] });
  assert.equal(await host.call("getUrl"), link, "and the link of the link is the link");
}));
