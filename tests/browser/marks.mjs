// In a build that counts: which points of the program the pages of this process came to, until they asked for what is seldom needed. Each
// browser of a process writes them into a file of its own in the folder MARKS (starts.mjs).
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const COMES_MS = 400;
let browsers = 0;
const LEAVES = ["goto", "reload", "goBack", "goForward", "close"];

/** Notes the points of all pages that the browser opens from now on. */
export function noted(browser, { dist, folder, seldom }) {
  const counts = counting(dist);
  const all = new Uint8Array(counts.length);
  const path = join(folder, `${basename(process.argv[1])}-${process.pid}-${(browsers += 1)}`);

  async function note(frame) {
    // A page that has crashed, or is gone, says nothing.
    const came = await marks(frame, counts).catch(() => []);
    came.forEach((mark, index) => mark && (all[index] = 1));
    writeFileSync(path, all);
  }

  const { newContext } = browser;
  browser.newContext = async (options) => {
    const context = await newContext.call(browser, options);
    const noteAll = (page) => Promise.all(page.frames().map(note));
    context.on("page", (page) => {
      for (const leave of LEAVES) {
        const left = page[leave];
        page[leave] = async (...given) => {
          await noteAll(page);
          return left.apply(page, given);
        };
      }
    });
    // From then on what a document runs is not noted. What it runs meanwhile is: elsewhere the file does not come at once.
    await context.route(seldom, async (route) => {
      const frame = route.request().frame();
      await new Promise((goes) => setTimeout(goes, COMES_MS));
      await note(frame);
      await frame.evaluate(() => (globalThis.hasSeldom = true)).catch(() => {});
      await route.continue();
    });
    const { close } = context;
    context.close = async (...given) => {
      for (const page of context.pages()) await noteAll(page);
      return close.apply(context, given);
    };
    return context;
  };
}

/** The build that counts: its glue, where its marks begin, how many there are, and its functions with their points. */
export function counting(dist) {
  const { glue, at, functions } = JSON.parse(readFileSync(join(dist, "functions.json"), "utf8"));
  const length = functions.reduce((sum, [, , points]) => sum + points.length, 0);
  return { glue, at, length, functions };
}

/** Which points control came to in a frame that shows the program, unless that has asked for what is seldom needed. */
export function marks(frame, { glue, at, length }) {
  return frame.evaluate(
    async ([glue, at, length]) => {
      const script = performance.getEntriesByType("resource").find(({ name }) => name.endsWith(glue));
      if (!script || globalThis.hasSeldom) return [];
      const { memory } = await (await import(script.name)).default();
      return [...new Uint8Array(memory.buffer, at, length)];
    },
    [glue, at, length],
  );
}
