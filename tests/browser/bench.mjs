// The table of the benchmarks: measures the workloads in Chromium, and puts the results beside Go's and the native
// ones.
//
//     node bench.mjs native.json engine/ [page/]
//
// engine/ holds the workloads compiled as a user of the library compiles them, page/ the same as the
// page is compiled; both are what `wasm-bindgen --target web` writes. CHROMIUM names another browser.
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { serve } from "./server.mjs";
import { launch } from "./harness.mjs";

const [native, engine, page] = process.argv.slice(2);
if (engine === undefined) {
  console.error("usage: node bench.mjs native.json engine/ [page/]; make bench builds them");
  process.exit(2);
}

// The goals of the table: this much faster than Go natively, as fast in wasm, half the bytes.
const FASTER = 3;
const LEAN = 0.5;
// Values of this few bytes need not be halved.
const FEW_BYTES = 24;
// Bytes per cached pod in Go, without an index and with three.
const GO_MEMORY = [76, 219];
// How much the cost of an event may differ between few and many objects.
const FLAT = 0.2;
// Runs in the browser. The first ones are slower, because wasm is still being optimised.
const WARM_UP = 2;
const RUNS = 9;
const PATIENCE_MS = 300_000;
// Shown for values that were not measured.
const NONE = "–";

const measured = JSON.parse(readFileSync(native, "utf8"));
const browser = await launch();
let version;
let wasm;
let small;
try {
  version = browser.version();
  wasm = await inBrowser(engine);
  small = page && (await inBrowser(page));
} finally {
  await browser.close();
}
print();

/** Runs all rows in a page of their own. Returns name → { median, min } in ns per operation. */
async function inBrowser(folder) {
  const server = await serve(folder);
  const tab = await browser.newPage();
  tab.setDefaultTimeout(PATIENCE_MS);
  try {
    // Any page of the server's origin will do.
    await tab.goto(`${server.url}nothing.html`);
    const names = await tab.evaluate(async () => {
      const module = await import("./deltascope_bench.js");
      await module.default();
      globalThis.bench = new module.Bench();
      return Array.from({ length: bench.count() }, (_, row) => bench.name(row));
    });
    const found = new Map();
    for (const [row, name] of names.entries()) {
      const times = await tab.evaluate(
        ({ row, warmUp, runs }) => {
          const times = [];
          for (let run = 0; run < warmUp + runs; run++) {
            bench.prepare(row);
            const start = performance.now();
            bench.run();
            times.push(((performance.now() - start) * 1e6) / bench.operations(row));
          }
          return times.slice(warmUp).sort((a, b) => a - b);
        },
        { row, warmUp: WARM_UP, runs: RUNS },
      );
      found.set(name, { median: times[times.length >> 1], min: times[0] });
    }
    return found;
  } finally {
    await tab.close();
    await server.close();
  }
}

function print() {
  const misses = [];
  // A row without a goal is only for comparison.
  const mark = (met, row, what) => {
    if (row.endsWith("cloned")) return "";
    if (!met) misses.push(`${row}: ${what}`);
    return met ? "✓" : "✗";
  };
  const number = (value) => (value >= 10 ? value.toFixed(0) : value.toFixed(1));
  const pair = (ns) => `${number(ns.median)} (${number(ns.min)})`;
  const head = ["ns for an operation: median (min)", "Go", "native", "Go/native", "", "wasm", "Go/wasm", ""];
  if (small) head.push("as the page is built");
  head.push("Go B", "B", "");
  const lines = [head];
  for (const { name, go, median, min, bytes } of measured.rows) {
    const browser = wasm.get(name);
    const native = { median, min };
    if (!go) {
      // There is nothing to compare it with.
      const line = [name, NONE, pair(native), NONE, "", browser ? pair(browser) : NONE, NONE, ""];
      if (small) line.push(browser ? pair(small.get(name)) : NONE);
      line.push(NONE, number(bytes), "");
      lines.push(line);
      continue;
    }
    // A goal is met if the medians meet it: minimums only show what an idle machine can do.
    const fast = go.median / median;
    const web = browser && go.median / browser.median;
    const most = go.bytes <= FEW_BYTES ? go.bytes : go.bytes * LEAN;
    const line = [
      name,
      pair(go),
      pair(native),
      fast.toFixed(1),
      mark(fast >= FASTER, name, `native ${fast.toFixed(2)} × as fast as Go, not ${FASTER} ×`),
      browser ? pair(browser) : NONE,
      browser ? web.toFixed(1) : NONE,
      !browser ? "" : mark(web >= 1, name, `wasm ${web.toFixed(2)} × as fast as Go, not 1 ×`),
    ];
    if (small) line.push(browser ? pair(small.get(name)) : NONE);
    const lean = mark(bytes <= most + 0.5, name, `${number(bytes)} B, not ${number(most)} B`);
    line.push(String(go.bytes), number(bytes), lean);
    lines.push(line);
  }
  console.log(table(lines));
  console.log("The informer runs with threads natively; in Chromium on one thread, under a time that stands still.\n");

  const memory = [["bytes per cached pod", "Go", "here", ""]];
  for (const [i, name] of ["no index", "3 indices"].entries()) {
    const bytes = measured.memory[i];
    const good = mark(bytes <= GO_MEMORY[i], `memory, ${name}`, `${number(bytes)} B, not ${GO_MEMORY[i]} B`);
    memory.push([name, String(GO_MEMORY[i]), number(bytes), good]);
  }
  console.log(table(memory));

  const [{ ns: fewest }] = measured.events;
  const events = [["an event, by objects in the store (native)", "ns", "of the first", ""]];
  for (const { objects, ns } of measured.events) {
    const part = ns / fewest;
    const good = mark(part <= 1 + FLAT, `${objects} objects`, `an event costs ${part.toFixed(2)} × that of the first`);
    events.push([objects.toLocaleString("en"), number(ns), part.toFixed(2), good]);
  }
  console.log(table(events));

  console.log(`${cpus().length} × ${cpus()[0].model.trim()}; Chromium ${version}.`);
  console.log(misses.length === 0 ? "All goals are met." : `Goals missed:\n  ${misses.join("\n  ")}`);
}

function table(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => [...line[column]].length)));
  const text = (line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join("  ");
  return `${lines.map((line) => text(line).trimEnd()).join("\n")}\n`;
}
