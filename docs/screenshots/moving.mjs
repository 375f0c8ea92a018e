// The moving pictures of README.md and of the site's front page: moments of a lesson, as `deltascope draw` draws them, one
// after the other. With a NAME of the list below:
//
//     cargo build --features cli
//     node docs/screenshots/moving.mjs target/debug/deltascope NAME > docs/screenshots/NAME.svg
import { execFileSync } from "node:child_process";

// What is shown where nothing may move is `still`.
const RELIST = {
  lesson: "tombstone", lang: "en", panels: "api,queue,indexer,processor", width: 900, still: "relist+7",
  // The watch breaks, b is deleted and c changed unseen; a list brings it, Pop by Pop it reaches the Indexer and the handler.
  moments: [
    "cut", "missed", "missed+1", "expired", "relist", "relist+2", "relist+4", "relist+7", "waits+5",
    "half-told", "half-told+3", "half-told+6", "half-told+18", "half-told+23", "told",
  ],
};
// A Pod is created and changed twice, and reaches the handler.
const FRONT = {
  lesson: "first-look", lang: "en", panels: "api,queue,indexer,processor", width: 720, still: "piled",
  moments: [
    "watching", "sent", "queued", "headline:DeltaAppended:2", "piled", "headline:KeyPopped", "headline:ItemStored",
    "headline:LinePrinted", "headline:LinePrinted:2", "called",
  ],
};
const PICTURES = { moving: RELIST, "front-en": FRONT, "front-zh": { ...FRONT, lang: "zh" } };

const [program = "target/debug/deltascope", name = "moving"] = process.argv.slice(2);
const { lesson: LESSON, lang: LANG, panels: PANELS, width: WIDTH, moments: MOMENTS } = PICTURES[name];
const STILL = MOMENTS.indexOf(PICTURES[name].still);
const SECONDS = 2.5;

const HEAD = /^<svg [^>]*viewBox="0 0 \d+ (?<height>\d+)"[^>]*><title>(?<title>[^<]*)<\/title>.*?<style>(?<style>.*?)<\/style>/s;
const SHARED = /<g id="(?:light|dark)"\/>|<pattern .*?<\/pattern>/gs;

const drawn = MOMENTS.map((at) => {
  const options = ["--lesson", LESSON, "--at", at, "--panels", PANELS, "--width", WIDTH, "--lang", LANG, "--theme", "auto"];
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

const heights = drawn.map((picture) => picture.height);
const height = Math.max(...heights);
// Under the strip of a lower picture.
const below = Math.min(...heights) - 24;
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
  `<rect y="${below}" width="${WIDTH}" height="${height - below}" rx="12" class="f1"/>`,
  ...frames,
  "</svg>",
  "",
].join("\n"));
