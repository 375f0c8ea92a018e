// The size of what a visitor downloads before the page can be used: node size.mjs DIST
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

// The goal is 300 KB without the lessons' texts. The whole machinery with its words in two languages exceeds it.
// Beyond that, a real cluster (its dialog, the connection, scrambling) takes another 120 KB, elements and drawn
// pictures 50, a FIFO and further scenario settings 12, copies of generic code in each crate 22, facts by owner
// and anchors as a type of their own 7, names, lists and keys for everyone 11, room for long queues and phones 10,
// headlines 2, four generations in one race 14, drops and staleness 10, motion along the drawn path 14, later changes 50, cutting a run down 6,
// stories with their lessons, scripts and notes 54, the shelf 30, the
// presenter, codes and the handout 15.
// The limit holds this size until words, lessons and the cluster are loaded separately. The folder of the checkout, which is in
// the names that the linker sorts by, changes the size by a KB or so.
const LIMIT_KB = 1022;
// The styles are in the page itself.
const COUNTED = new Set([".wasm", ".js", ".html", ".css"]);

const dist = process.argv[2];
if (!dist) {
  console.error("usage: node size.mjs DIST");
  process.exit(2);
}

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }).length;

// Files for elements on other pages lie beside the page, which does not load them.
const program = readdirSync(dist).find((name) => name.endsWith("_bg.wasm")) ?? "";
const page = new Set(["index.html", program, program.replace("_bg.wasm", ".js")]);

const sums = new Map();
for (const name of readdirSync(dist)) {
  const kind = extname(name);
  if (!COUNTED.has(kind) || !page.has(name)) continue;
  const bytes = readFileSync(join(dist, name));
  const sum = sums.get(kind) ?? { raw: 0, brotli: 0 };
  sum.raw += bytes.length;
  sum.brotli += brotli(bytes);
  sums.set(kind, sum);
}
if (!sums.has(".wasm")) {
  console.error(`${dist} holds no wasm: run make dist`);
  process.exit(1);
}

const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`.padStart(12);
console.log(`${"".padEnd(6)}${"raw".padStart(12)}${"brotli".padStart(12)}`);
let raw = 0;
let compressed = 0;
for (const [kind, sum] of [...sums].sort()) {
  console.log(kind.padEnd(6) + kb(sum.raw) + kb(sum.brotli));
  raw += sum.raw;
  compressed += sum.brotli;
}
console.log("sum".padEnd(6) + kb(raw) + kb(compressed));
if (compressed > LIMIT_KB * 1000) {
  console.error(`The page weighs more than ${LIMIT_KB} KB with brotli.`);
  process.exit(1);
}
