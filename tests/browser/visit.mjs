// What a visitor sees without asking for more: every lesson in every generation, its story with the answers, a goal that is tried, every
// panel, the drawer, the shelf. What nothing of this runs is fetched only when it is needed (starts.mjs).
import { DESKTOP, LAPTOP, PHONE, SMALLEST, open } from "./harness.mjs";

const GENERATIONS = ["1.32", "1.34", "1.35", "1.36"];
const SIZES = ["event", "pop", "lock", "micro"];
const WRITES = ["create", "update", "update", "cut", "delete"];
const MOVING_MS = 5000;
/** So many facts of a run are walked through. */
const MOST = 600;

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
    await controls(app);
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
        async ([id, era, sizes, writes, most]) => {
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
          // Every fact is said, and how the state is told.
          const { steps } = deltascope.getState();
          await deltascope.seek(0);
          for (let at = 0; at < Math.min(steps, most); at += 1) {
            await deltascope.step(1);
            deltascope.getState();
          }
          for (const marker of [0, 0.5, 1]) {
            await deltascope.seek(Math.floor(marker * steps));
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
        [id, era, SIZES, WRITES, MOST],
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
    await typed(app);
  }
}

/** What drives a run, and links to it. */
async function runs(app) {
  await app.page.evaluate(async () => {
    const { deltascope } = window;
    await deltascope.load("slow-handler");
    await deltascope.runUntil("fact=Popped");
    await deltascope.playUntil("fact=KeyPopped");
    await deltascope.pause();
    await deltascope.breakAt("key=default/web-0");
    await deltascope.follow("default/web-0");
    await deltascope.follow();
    await deltascope.fork();
    await deltascope.step(5);
    await deltascope.switchTo(0);
    await deltascope.inject({ op: "create", object: { metadata: { namespace: "default", name: "web-8" } } });
    await deltascope.reset();
    await deltascope.runUntil("fact=Nothing");
    await deltascope.seek("nowhere");
    await deltascope.step(40);
    const url = deltascope.getUrl();
    await deltascope.load("first-look");
    location.hash = url.slice(url.indexOf("#"));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  });
  await press(app, "[data-testid=error] button");
}

/** Every control of header and transport, and every value that it can have. */
async function controls(app) {
  for (const id of ["toggle-lang", "toggle-lang", "toggle-theme", "toggle-theme", "toggle-theme"]) await press(app, `[data-testid=${id}]`);
  for (const lesson of ["sandbox", "late-handler", "reflector"]) {
    await app.call("load", lesson);
    await app.call("seek", 60);
    for (const select of await app.page.locator("select:visible").all()) {
      const id = await select.getAttribute("data-testid");
      if (["select-lesson", "compare-with", "select-setting"].includes(id)) continue;
      for (const value of await select.locator("option").evaluateAll((all) => all.map(({ value }) => value))) {
        await select.selectOption(value, { timeout: 1000 }).catch(() => {});
        await app.page.evaluate(() => new Promise(requestAnimationFrame));
      }
    }
    await press(app, "[role=radiogroup] button, .eras button, .transport button, .chip.known, [data-testid=btn-add-handler], [data-testid=btn-compact], [data-testid=btn-remove-handler], [data-testid=btn-disarm]");
    await app.call("pause");
    await app.id("scrubber").click({ timeout: 1000 }).catch(() => {});
    await app.page.locator("[data-testid=strip]").hover({ timeout: 1000 }).catch(() => {});
    await form(app);
  }
  for (const size of [LAPTOP, { width: 900, height: 700 }, SMALLEST, { width: 844, height: 390 }, DESKTOP]) await app.resize(size);
}

/** An object is written in the form, after one that is refused. */
async function form(app) {
  await press(app, "[data-testid=btn-create]");
  const dialog = app.id("form-object");
  if ((await dialog.count()) === 0) return;
  const fields = dialog.locator("input:visible");
  for (const name of ["", "No name", "web-7"]) {
    await fields.first().fill(name, { timeout: 1000 }).catch(() => {});
    await app.page.keyboard.press("Enter");
    await app.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await app.page.keyboard.press("Escape");
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

/** What is typed into the drawer's fields. */
async function typed(app) {
  await press(app, "[data-testid=btn-tools]", "[data-testid=btn-drawer]");
  for (const tab of ["until", "branches", "checks", "table", "share", "why"]) {
    await press(app, `#drawer-tab-${tab}`);
    const field = app.page.locator("[data-testid=drawer] input[type=text]:visible, [data-testid=until-text]:visible").first();
    for (const text of ["fact=Popped", "fact=Pop", "key="]) {
      if ((await field.count()) === 0) break;
      await field.fill(text, { timeout: 1000 }).catch(() => {});
      await app.page.keyboard.press("Enter");
      await app.page.evaluate(() => new Promise(requestAnimationFrame));
    }
  }
  await press(app, "[data-testid=drawer-close]");
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
