// What `deltascope tap` costs: the time that it adds to a request, the requests that pass in a second, its memory under many
// watches, and how long an event waits where a recording goes on in another file.
//
//     cargo build --release --features cli && node tests/browser/bench-tap.mjs target/release/deltascope
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApi } from "./apiserver.mjs";

const WATCHES = 500;
const EVENTS_A_SECOND = 5_000;
/** Of one informer alone. */
const EVENTS_ALONE = 1_000;
const SECONDS_ALONE = 10;
const SECONDS = 30;
const REQUESTS = 2_000;
/** At once, for the requests in a second. */
const CLIENTS = 8;
const PASSING_SECONDS = 5;

const program = process.argv[2] ?? "target/release/deltascope";
const folder = mkdtempSync(join(tmpdir(), "bench-tap-"));
const api = await startApi();
api.generate("pods", 50);
let keys = [];

/** A tap; without a folder for its recordings it only counts. */
async function tap(options = [], env = {}) {
  const config = join(folder, "kubeconfig");
  const child = spawn(program, ["tap", "--proxy", api.url, "--kubeconfig-out", config, ...options], { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, LC_ALL: "C", ...env } });
  let said = "";
  child.stderr.on("data", (piece) => (said += piece));
  while (!said.includes("tap: http")) await once(child.stderr, "data");
  const { server } = JSON.parse(readFileSync(config, "utf8")).clusters[0].cluster;
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) / 1000;
  const cpu = () => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  const end = async () => {
    child.kill("SIGINT");
    await once(child, "exit");
  };
  return { server, memory, cpu, end };
}

function ask(url, agent) {
  return new Promise((answered, failed) => {
    const start = performance.now();
    get(url, { agent }, (response) => {
      response.resume();
      response.on("end", () => answered(performance.now() - start));
    }).on("error", failed);
  });
}

async function median(server) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = pod(server);
  const times = [];
  for (let made = 0; made < REQUESTS; made += 1) times.push(await ask(url, agent));
  agent.destroy();
  return times.slice(REQUESTS / 10).sort((a, b) => a - b)[Math.floor(REQUESTS * 0.45)];
}

const pod = (server) => {
  const [{ name, namespace }] = [...api.stores.get("pods").objects.values()].map((pod) => pod.metadata);
  return `${server}/api/v1/namespaces/${namespace}/pods/${name}`;
};

/** Requests a second, by several clients at once. */
async function passing(server) {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const url = pod(server);
  const end = performance.now() + PASSING_SECONDS * 1_000;
  let made = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    for (; performance.now() < end; made += 1) await ask(url, agent);
  }));
  agent.destroy();
  return Math.round(made / PASSING_SECONDS);
}

/** An informer: how long its events took, in ms, from the API server's write to the arrival; each is logged, too. */
async function waits(server, log) {
  const { metadata } = await (await fetch(`${server}/api/v1/pods?resourceVersion=0&limit=500`)).json();
  const agent = new Agent({ maxSockets: 1 });
  const took = [];
  const written = new Map();
  let rest = "";
  const request = await new Promise((opened, failed) => {
    const request = get(`${server}/api/v1/pods?watch=true&resourceVersion=${metadata.resourceVersion}`, { agent }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (text) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop();
        const logged = [];
        for (const line of lines) {
          const { type, object } = JSON.parse(line);
          const began = written.get(object.metadata.resourceVersion);
          if (began !== undefined) took.push(performance.now() - began);
          logged.push(JSON.stringify({ informer: { type, kind: "Pod", apiVersion: "v1", object: { metadata: object.metadata } } }));
        }
        if (log && logged.length > 0) appendFileSync(log, `${logged.join("\n")}\n`);
      });
      response.on("error", () => {});
      opened(request);
    }).on("error", failed);
  });
  await pause(1_000);
  for (let turn = 0; turn < SECONDS_ALONE * 20; turn += 1) {
    for (let more = 0; more < EVENTS_ALONE / 20; more += 1) {
      const { metadata } = api.update("pods", keys[(turn * 7 + more) % keys.length]);
      written.set(metadata.resourceVersion, performance.now());
    }
    await pause(50);
  }
  await pause(500);
  request.destroy();
  took.sort((a, b) => a - b);
  return { median: took[took.length >> 1], late: took[Math.floor(took.length * 0.999)], most: took.at(-1), events: took.length };
}

async function many(server) {
  let bytes = 0;
  let events = 0;
  const agent = new Agent({ maxSockets: Infinity });
  const open = await Promise.all(Array.from({ length: WATCHES }, () => new Promise((opened, failed) => {
    const url = `${server}/api/v1/pods?watch=true&resourceVersion=${api.revision}`;
    const request = get(url, { agent }, (response) => {
      response.on("data", (chunk) => {
        bytes += chunk.length;
        for (const byte of chunk) events += byte === 10;
      });
      response.on("error", () => {});
      opened(request);
    }).on("error", failed);
  })));
  return { seen: () => ({ bytes, events }), close: () => open.forEach((request) => request.destroy()) };
}

const pause = (ms) => new Promise((over) => setTimeout(over, ms));

const direct = await median(api.url);
let one = await tap();
const through = await median(one.server);
console.log(`latency: ${direct.toFixed(2)} ms directly, ${through.toFixed(2)} ms through the tap: ${(through - direct).toFixed(2)} ms more (medians of ${REQUESTS})`);
await one.end();

const log = join(folder, "controller.log");
console.log(`requests: ${await passing(api.url)}/s directly`);
for (const [name, options] of [["through the tap", []], ["with a log", ["--log", log]]]) {
  one = await tap(options);
  console.log(`requests: ${await passing(one.server)}/s ${name}`);
  await one.end();
}

const said = ({ median, late, most, events }) => `${median.toFixed(1)} ms, 99.9 % within ${late.toFixed(0)} ms, ${most.toFixed(0)} ms at most (${events} events)`;
for (const objects of [50, 5_000]) {
  if (objects > api.stores.get("pods").objects.size) api.generate("pods", objects - api.stores.get("pods").objects.size);
  keys = [...api.stores.get("pods").objects.keys()];
  console.log(`an event of ${objects} objects: ${said(await waits(api.url))} directly`);
  for (const [name, options] of [["through the tap", []], ["with a log", ["--log", log]], ["where files of 1 MB follow each other", ["--log", log, "--rotate", "1M"]]]) {
    const out = join(folder, `${objects}-${name.replaceAll(" ", "-")}`);
    one = await tap(["--out", out, ...options]);
    const took = await waits(one.server, log);
    const { rows } = await (await fetch(`${one.server}/deltascope/page.json`)).json();
    console.log(`an event of ${objects} objects: ${said(took)} ${name}, in file ${rows[0]?.part}`);
    await one.end();
  }
}

// Where there can be no temporary folder, nothing is recorded for the page.
const NOWHERE = { TMPDIR: join(folder, "none") };
for (const [name, options, env] of [["counting", [], NOWHERE], ["recording", ["--out", join(folder, "out")]], ["recording, looked at", ["--out", join(folder, "seen")]]]) {
  one = await tap(options, env);
  const watches = await many(one.server);
  api.rate(EVENTS_A_SECOND / WATCHES, { writes: 0 });
  const samples = [];
  const from = { ...watches.seen(), cpu: one.cpu() };
  const looks = [];
  for (let second = 0; second < SECONDS; second += 1) {
    await pause(1_000);
    // As a page does that shows the informers.
    if (name.endsWith("looked at")) looks.push(await ask(`${one.server}/deltascope/informers.json`));
    samples.push(one.memory());
  }
  const { bytes, events } = watches.seen();
  const cpu = (one.cpu() - from.cpu) / SECONDS;
  api.rate(0);
  console.log(`${name}: ${WATCHES} watches, ${Math.round((events - from.events) / SECONDS)} events/s, ${((bytes - from.bytes) / SECONDS / 1e6).toFixed(1)} MB/s; ` +
    `memory ${samples[4].toFixed(0)} MB after 5 s, ${samples.at(-1).toFixed(0)} MB after ${SECONDS} s; ${(cpu * 100).toFixed(0)} % of a core` +
    (looks.length ? `; a look takes ${looks.sort((a, b) => a - b)[SECONDS >> 1].toFixed(0)} ms, ${looks.at(-1).toFixed(0)} ms at most` : ""));
  watches.close();
  await one.end();
}
await api.close();
