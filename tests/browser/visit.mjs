// What a visitor sees without asking for more: every lesson in every generation, its story with the answers, a goal that is tried, every
// panel, the drawer, the shelf. What nothing of this runs is fetched only when it is needed (starts.mjs).
import { DESKTOP, PHONE, open } from "./harness.mjs";

const GENERATIONS = ["1.32", "1.34", "1.35", "1.36"];
const SIZES = ["event", "pop", "lock", "micro"];
const WRITES = ["create", "update", "update", "cut", "delete"];
const MOVING_MS = 5000;

/** Sees all, and gives each page to `noted` before it closes. */
export async function visit(browser, url, noted) {
  for (const look of [
    { viewport: DESKTOP, motion: true },
    { viewport: DESKTOP, lang: "zh", theme: "dark" },
    { viewport: PHONE },
  ]) {
    const app = await open(browser, url, { ...look, newcomer: true });
    await (look.motion ? moves(app) : lessons(app, look.lang ? ["1.36"] : GENERATIONS));
    await panels(app);
    await runs(app);
    await keys(app);
    await shelf(app);
    await inClass(app);
    await noted(app);
    await app.context.close();
  }
  const app = await open(browser, url, { firstVisit: true, asFound: true });
  for (let scene = 0; scene < 12; scene += 1) {
    await app.page.keyboard.press("PageDown");
    await app.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await noted(app);
  await app.context.close();
}

async function lessons(app, generations) {
  for (const id of await app.lessons()) {
    for (const era of generations) {
      await app.page.evaluate(
        async ([id, era, sizes, writes]) => {
          const { deltascope } = window;
          await deltascope.load(id);
          await deltascope.setEra(era);
          const { scene } = deltascope.getState();
          for (let at = 1; at <= (scene?.count ?? 0); at += 1) {
            await deltascope.scene(at);
            const { question } = deltascope.getState().scene ?? {};
            if (!question) continue;
            const { kind, choices = [], items = [] } = question;
            const value = { choice: 0, number: 1, place: choices[0], order: items.map((_, index) => index) }[kind];
            await deltascope.answer(at % 3 === 0 ? null : (value ?? null));
          }
          const { steps } = deltascope.getState();
          for (const to of [0, steps / 2, steps]) {
            await deltascope.seek(Math.floor(to));
            for (const size of sizes) {
              await deltascope.step(3, size);
              await deltascope.step(-2, size);
            }
          }
          for (const op of writes) {
            await deltascope.inject({ op, object: { metadata: { namespace: "default", name: "web-9", labels: { app: "web" } } } });
            await deltascope.step(5, "event");
          }
        },
        [id, era, SIZES, WRITES],
      );
    }
  }
}

async function moves(app) {
  for (const id of ["first-look", "deltafifo"]) {
    await app.call("load", id);
    await app.call("seek", 0);
    await app.page.evaluate(() => window.deltascope.play());
    await app.page.waitForTimeout(MOVING_MS);
  }
  await app.call("load", "sandbox");
  await app.page.evaluate(() => window.deltascope.play());
  await app.page.waitForTimeout(MOVING_MS);
  await app.call("pause");
}

/** Presses what there is, if it is there. */
async function press(app, ...them) {
  for (const what of them) {
    for (const one of await app.page.locator(what).all()) {
      if (await one.isVisible()) await one.click({ timeout: 1000 }).catch(() => {});
    }
  }
}

async function panels(app) {
  for (const id of ["first-look", "deltafifo", "slow-handler", "sandbox"]) {
    await app.call("load", id);
    await app.call("seek", 200);
    await press(app, "[data-testid=btn-tools]", "[data-testid=btn-drawer]", ".tools button", "[role=tab]", "[data-anchor]");
    await press(app, "[data-testid=drawer] button:not([data-testid^=btn-])", "[data-testid=drawer-close]");
    await press(app, "[data-testid=btn-create]", "[data-testid=btn-edit]", "[data-testid=btn-delete]", "[data-testid=btn-pop]", "[data-testid=toggle-known]", "[data-testid=btn-cut]");
    await press(app, "[data-testid=btn-help]");
    await app.page.keyboard.press("Escape");
  }
}

/** What drives a run, and what it is exported as. */
async function runs(app) {
  await app.page.evaluate(async () => {
    const { deltascope } = window;
    await deltascope.load("slow-handler");
    await deltascope.runUntil("fact=Popped");
    await deltascope.playUntil("fact=KeyPopped");
    await deltascope.pause();
    await deltascope.follow("default/web-0");
    await deltascope.fork();
    await deltascope.switchTo(0);
    await deltascope.reset();
    await deltascope.step(40);
    deltascope.exportTrace();
    deltascope.exportTrace({ names: true, labels: true });
    deltascope.exportTranscript();
    deltascope.exportSvg();
    const url = deltascope.getUrl();
    await deltascope.load("first-look");
    location.hash = url.slice(url.indexOf("#"));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  });
}

async function inClass(app) {
  await app.call("load", "first-look");
  await app.page.keyboard.press("p");
  for (const key of ["PageDown", "PageDown", "PageDown", "PageUp", "b", "b", "q", "q", "Escape", "Escape"]) {
    await app.page.keyboard.press(key);
    await app.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await press(app, "[data-testid=story-handout]", "[data-testid=handout-close]");
}

const KEYS = "ArrowRight ArrowLeft Shift+ArrowRight Shift+ArrowLeft . , [ ] 5 0 Space Space Tab Tab ArrowDown Enter Escape Home End m m ? Escape".split(" ");

async function keys(app) {
  for (const id of ["sandbox", "first-look"]) {
    await app.call("load", id);
    for (const key of KEYS) {
      await app.page.keyboard.press(key);
      await app.page.evaluate(() => new Promise(requestAnimationFrame));
    }
  }
}

async function shelf(app) {
  await press(app, "[data-testid=btn-lessons]");
  await app.page.locator(".shelf").waitFor();
  await app.page.keyboard.press("/");
  await app.page.keyboard.type("delete");
  await app.page.waitForTimeout(300);
  await app.page.keyboard.press("Escape");
  await press(app, ".shelf [role=tab]", ".shelf button:not([data-testid])", ".shelf summary");
  await app.page.keyboard.press("Escape");
}
