// The start of the page, and of elements on somebody else's page: the time from the script to the first picture, and the longest
// pieces of work on the page's thread meanwhile (script, styles and layout, not paint; ms of the thread), and the longest task (all of
// it, ms on the clock, where these are more than 50).
//
//     node bench-start.mjs [DIST…] [--turns N]
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { CATEGORIES, at, framesOf } from "./frames.mjs";
import { DESKTOP, DIST, launch } from "./harness.mjs";
import { page as hostPage, serveHost } from "./hosts.mjs";

const GOALS = { picture: 400, piece: 50 };
// How long after its first picture a page still builds what is not in view.
const SETTLES_MS = 1500;
const { values, positionals } = parseArgs({ allowPositionals: true, options: { turns: { type: "string", default: "7" } } });
const element = (attributes) => `<delta-scope load="eager" ${attributes}></delta-scope>`;
const pages = {
  "one.html": hostPage(element('lesson="first-look"')),
  "full.html": hostPage(element('lesson="sandbox" controls="full"')),
  "three.html": hostPage(["first-look", "tombstone", "sandbox"].map((lesson) => element(`lesson="${lesson}"`)).join("")),
};

const browser = await launch();
try {
  console.log(`\n${values.turns} starts each, in ms\n`);
  console.log(`${"".padEnd(16)}${["picture", "piece", "most", "task", "most"].map((word) => word.padStart(9)).join("")}`);
  for (const dist of positionals.length > 0 ? positionals : [DIST]) {
    const host = await serveHost({ "page/": dist, "deltascope/": dist, ...pages });
    for (const path of ["page/index.html", ...Object.keys(pages)]) await measure(host.url, path, dist);
    await host.close();
  }
} finally {
  await browser.close();
}
console.log(`\nload ${loadavg()[0].toFixed(1)}; goals: the first picture after ${GOALS.picture}, no piece longer than ${GOALS.piece}`);

async function measure(url, path, dist) {
  const [pictures, longest, tasks] = [[], [], []];
  for (let turn = 0; turn < Number(values.turns); turn += 1) {
    const context = await browser.newContext({ viewport: DESKTOP });
    const page = await context.newPage();
    await page.addInitScript(() => {
      globalThis.tasks = [0];
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask", buffered: true });
      const is = () => {
        const elements = [...document.querySelectorAll("delta-scope")];
        const loading = document.getElementById("loading");
        return elements.length > 0 ? elements.every((one) => one.shadowRoot?.querySelector(".stage .room")) : loading === null && document.querySelector(".room");
      };
      requestAnimationFrame(function frame() {
        if (is()) globalThis.pictured = performance.now();
        else requestAnimationFrame(frame);
      });
    });
    await browser.startTracing(page, { categories: CATEGORIES });
    await page.goto(url + path);
    const ms = await (await page.waitForFunction(() => globalThis.pictured)).jsonValue();
    const script = await page.evaluate(() => performance.getEntriesByType("resource").find(({ name }) => /\.js$/.test(name))?.responseEnd ?? 0);
    await page.waitForTimeout(SETTLES_MS);
    const { pieces } = framesOf(JSON.parse(await browser.stopTracing()).traceEvents);
    pictures.push(ms - script);
    longest.push(Math.max(0, ...pieces));
    tasks.push(Math.max(...await page.evaluate(() => globalThis.tasks)));
    await context.close();
  }
  const cells = [at(pictures, 0.5)[0], ...at(longest, 0.5, 1), ...at(tasks, 0.5, 1)];
  const isMet = cells[0] <= GOALS.picture && cells[1] <= GOALS.piece && cells[3] <= GOALS.piece;
  console.log(path.padEnd(16) + cells.map((ms) => ms.toFixed(1).padStart(9)).join("") + `  ${isMet ? "met" : "missed"}  ${dist}`);
}
