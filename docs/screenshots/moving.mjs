// The moving picture of README.md: moments of a lesson, as `deltascope draw` draws them, one after the other.
//
//     cargo build --features cli
//     node docs/screenshots/moving.mjs target/debug/deltascope > docs/screenshots/moving.svg
import { execFileSync } from "node:child_process";

const [program = "target/debug/deltascope"] = process.argv.slice(2);
const LESSON = "tombstone";
const PANELS = "api,queue,indexer,processor";
const WIDTH = 900;
const SECONDS = 2.5;
// The watch breaks, b is deleted and c changed unseen; a list brings it, Pop by Pop it reaches the Indexer and the handler.
const MOMENTS = [
  "cut", "missed", "missed+1", "expired", "relist", "relist+2", "relist+4", "relist+7", "waits+5",
  "half-told", "half-told+3", "half-told+6", "half-told+18", "half-told+23", "told",
];
// What is shown where nothing may move.
const STILL = MOMENTS.indexOf("relist+7");

const HEAD = /^<svg [^>]*viewBox="0 0 \d+ (?<height>\d+)"[^>]*><title>(?<title>[^<]*)<\/title>.*?<style>(?<style>.*?)<\/style>/s;
const SHARED = /<g id="(?:light|dark)"\/>|<pattern .*?<\/pattern>/gs;

const drawn = MOMENTS.map((at) => {
  const options = ["--lesson", LESSON, "--at", at, "--panels", PANELS, "--width", WIDTH, "--lang", "en", "--theme", "auto"];
  const svg = execFileSync(program, ["draw", ...options], { encoding: "utf8" });
  const { groups, 0: head } = HEAD.exec(svg);
  const rest = svg.slice(head.length, svg.lastIndexOf("</svg>"));
  return { ...groups, height: Number(groups.height), shared: rest.match(SHARED), body: rest.replace(SHARED, "") };
});

/** The rules of all pictures, each once; those that theme them have the tokens of all. */
function styles() {
  const rules = new Map();
  for (const { style } of drawn) {
    for (const [, before, tokens, after] of style.matchAll(/([^{}]*\{(?:[^{}]*\{)?)([^{}]*)(\}+)/g)) {
      const found = rules.get(before) ?? { tokens: new Set(), after };
      for (const token of tokens.split(";").filter(Boolean)) found.tokens.add(token);
      rules.set(before, found);
    }
  }
  return [...rules].map(([before, { tokens, after }]) => `${before}${[...tokens].join(";")}${after}`).join("");
}

const height = Math.max(...drawn.map((picture) => picture.height));
const whole = SECONDS * drawn.length;
const moving = `.moment{visibility:hidden;animation:moment ${whole}s step-end infinite}.still{visibility:visible}`
  + `@keyframes moment{0%{visibility:visible}${(100 / drawn.length).toFixed(4)}%{visibility:hidden}}`
  + "@media (prefers-reduced-motion:reduce){.moment{animation:none}}";
const shared = [...new Set(drawn.flatMap((picture) => picture.shared))];
const frames = drawn.map(({ body }, index) => {
  const name = index === STILL ? "moment still" : "moment";
  return `<g class="${name}" style="animation-delay:${index * SECONDS - whole}s">${body}</g>`;
});

process.stdout.write([
  `<svg xmlns="http://www.w3.org/2000/svg" class="dsg" role="img" xml:space="preserve" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" fill="none">`,
  `<title>${drawn[0].title}</title><style>${styles()}${moving}</style>`,
  ...shared,
  `<rect width="${WIDTH}" height="${height}" rx="12" class="f0"/>`,
  ...frames,
  "</svg>",
  "",
].join("\n"));
