// What a visitor downloads until the first picture, on the page and for an element, and what comes later: node size.mjs DIST
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

// The books' tables state the sizes (element.md), and README and the limits that of the page; all are held to this many KB. The goals are
// 450 KB for the page, 350 for an element and 800 with every lesson and every room. What starts.txt cuts drifts as functions get other names: so much may pass
// before the list is written anew.
const DRIFT_KB = 25;
const ROOT = new URL("../../", import.meta.url);
const TABLES = ["docs/en/src/element.md", "docs/zh/src/element.md"];
const SAID = ["README.md", "docs/en/src/limits.md", "docs/zh/src/limits.md"];

const dist = process.argv[2];
if (!dist) {
  console.error("usage: node size.mjs DIST");
  process.exit(2);
}
const names = readdirSync(dist);
const program = names.find((name) => name.endsWith("_bg.wasm"));
if (!program) {
  console.error(`${dist} holds no wasm: run make dist`);
  process.exit(1);
}
const stem = program.replace("_bg.wasm", "");
const main = [program, `${stem}.js`];
// The program's other files: what only the first pictures of the page need, or only those of elements, or the page and some elements; what
// none does but lessons or rooms do, of that what only the page has, and what neither needs.
const other = Object.fromEntries(["page", "element", "more", "rest", "own", "seldom"].map((side) => [side, `${stem}-${side}.wasm`]));
if (!names.includes(other.rest)) {
  console.error(`${dist} holds a program in one piece: only a release is split`);
  process.exit(1);
}
// The page's styles and its start script.
const own = names.filter((name) => /^(page|start)-\w+\.(css|js)$/.test(name));
// The styles that come with the rest, and with what is seldom needed.
const [later, seldom] = ["later", "seldom"].map((when) => names.filter((name) => name.startsWith(`${when}-`) && name.endsWith(".css")));
const page = ["index.html", ...own, "old.js", "rescue.js", "alive.js", ...main, other.page, other.more];
// With every lesson and every room.
const lessons = [...page, ...later, other.element, other.rest, other.own];
const rows = [
  ["page", page],
  ["element", ["deltascope.js", "deltascope-stage.js", "alive.js", "names.js", "paced.js", ...main, other.element]],
  ["more", [other.more]],
  ["rest", [other.rest]],
  ["own", [other.own]],
  ["lessons", lessons],
  ["seldom", [other.seldom, ...seldom]],
  ["all", [...lessons, other.seldom, ...seldom]],
];

const params = (bytes) => ({
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
});
const known = new Map();
function sizes(file) {
  if (!known.has(file)) {
    const bytes = readFileSync(join(dist, file));
    const brotli = brotliCompressSync(bytes, { params: params(bytes) });
    known.set(file, [bytes, brotli, gzipSync(bytes, { level: 9 })].map(({ length }) => length));
  }
  return known.get(file);
}

const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`.padStart(12);
const wrong = [];
console.log(["".padEnd(9), ...["raw", "brotli", "gzip"].map((kind) => kind.padStart(12))].join(""));
for (const [name, files] of rows) {
  const sum = files.map(sizes).reduce((sum, size) => sum.map((bytes, kind) => bytes + size[kind]), [0, 0, 0]);
  console.log(name.padEnd(9) + sum.map(kb).join(""));
  for (const path of TABLES) {
    const row = read(path).match(new RegExp(`^\\| ${name} \\| (\\d+) \\| (\\d+) \\|`, "m"));
    const isTrue = row && [row[1], row[2]].every((said, kind) => Math.abs(said - sum[kind + 1] / 1000) <= DRIFT_KB);
    if (!isTrue) wrong.push(`${path}: the row ${name} should say ${sum.slice(1).map((bytes) => Math.round(bytes / 1000)).join(" | ")}`);
  }
}
// What is said elsewhere is what the tables say.
const [, first] = read(TABLES[0]).match(/^\| page \| (\d+) \|/m) ?? [];
const [, element] = read(TABLES[0]).match(/^\| element \| (\d+) \|/m) ?? [];
const [, taught] = read(TABLES[0]).match(/^\| lessons \| (\d+) \|/m) ?? [];
const whole = read(TABLES[0]).match(/^\| all \| (\d+) \|/m)?.[1].replace(/(?=\d{3}$)/, ",");
for (const path of SAID) for (const said of [first, element, taught, whole]) if (!read(path).includes(`${said} KB`)) wrong.push(`${path}: ${said} KB are missing`);
for (const message of wrong) console.error(message);
if (wrong.length > 0) console.error("If much of the page has changed, first let `make starts` find out anew what its first pictures need.");
process.exit(Number(wrong.length > 0));

function read(path) {
  return readFileSync(new URL(path, ROOT), "utf8");
}
