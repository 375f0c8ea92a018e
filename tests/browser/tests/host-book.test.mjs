// The project's two books, built by mdBook: `make site`.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { launch } from "../harness.mjs";
import { serve } from "../server.mjs";

const DOCS = process.env.DOCS ?? fileURLToPath(new URL("../../../target/site/book", import.meta.url));
const THEMES = { light: "light", rust: "light", coal: "dark", navy: "dark", ayu: "dark" };

let browser;
let server;
before(async () => {
  assert.ok(existsSync(`${DOCS}/en/index.html`), `${DOCS} holds no book: run make site`);
  server = await serve(DOCS);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens a page of a book and collects its errors. */
async function reading(chapter, body, options = {}) {
  const { lang = "en", held, ...context } = options;
  const opened = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: "en-US",
    reducedMotion: "reduce",
    ...context,
  });
  const problems = [];
  try {
    const page = await opened.newPage();
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(server.url)) problems.push(`asked for ${request.url()}`);
    });
    if (held) {
      await page.route("**/deltascope.js", async (route) => {
        await held;
        await route.continue();
      });
    }
    await page.goto(`${server.url}${lang}/${chapter}`, { waitUntil: held ? "commit" : "load" });
    if (held) await page.locator("main h1").waitFor();
    await body(page);
    assert.deepEqual(problems, []);
  } finally {
    await opened.close();
  }
}

/** Scrolls to a run and waits until it is shown. */
async function first(page) {
  const run = page.locator("delta-scope").first();
  await run.scrollIntoViewIfNeeded();
  await run.evaluate((element) => element.drawn);
  return run;
}

const chapters = (lang) => readdirSync(`${DOCS}/${lang}`).filter((name) => {
  // The first chapter exists twice, and print.html contains all chapters.
  if (!name.endsWith(".html") || ["index.html", "print.html", "404.html", "toc.html"].includes(name)) return false;
  return readFileSync(`${DOCS}/${lang}/${name}`, "utf8").includes("<delta-scope");
});

for (const lang of ["en", "zh"]) {
  test(`every run of the book is shown in the book's language: ${lang}`, { timeout: 240_000 }, async () => {
    const names = chapters(lang);
    assert.ok(names.length >= 15, `${names.length} chapters with runs`);
    let runs = 0;
    for (const name of names) {
      await reading(name, async (page) => {
        const states = await page.evaluate(async () => {
          const states = [];
          for (const element of document.querySelectorAll("delta-scope")) {
            element.setAttribute("load", "eager");
            await element.drawn;
            const state = element.getState();
            const strip = element.shadowRoot.querySelector(".what, .race-said, .tale .words").textContent;
            states.push({ error: state.error, step: state.step, lesson: state.lesson, strip });
            // Not all runs of a page need to exist at once.
            element.dispose();
          }
          return states;
        });
        for (const state of states) {
          assert.equal(state.error, null, `${name}: ${JSON.stringify(state)}`);
          assert.equal(/[\u4e00-\u9fff]/.test(state.strip), lang === "zh", `${name}: ${state.strip}`);
        }
        runs += states.length;
      }, { lang });
    }
    assert.ok(runs >= 60, `${runs} runs`);
  });
}

test("an old link to a section leads to the chapter that has it now", async () => {
  const open = async (lang, section) => {
    await reading(`generations.html#${section}`, async (page) => {
      await page.waitForURL(`**/rare-cases.html#${encodeURIComponent(section)}`, { waitUntil: "load" });
      assert.ok(await page.locator(`[id="${section}"]`).isVisible());
    }, { lang });
  };
  await open("en", "back-off");
  await open("zh", "退避");
});

test("a run follows each of the book's five themes, switched live", async () => {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await reading("deltafifo.html", async (page) => {
    const run = await first(page);
    await page.evaluate(axe);
    const seen = new Set();
    for (const [theme, kind] of Object.entries(THEMES)) {
      // The list stays open until a click elsewhere.
      if (!(await page.locator(`#mdbook-theme-${theme}`).isVisible())) await page.locator("#mdbook-theme-toggle").click();
      await page.locator(`#mdbook-theme-${theme}`).click();
      await page.waitForFunction(
        ([element, wanted]) => element.shadowRoot.querySelector(".frame").dataset.theme === wanted,
        [await run.elementHandle(), kind],
      );
      const [paper, poster] = await run.evaluate((element) => [
        getComputedStyle(element.shadowRoot.querySelector(".frame")).backgroundColor,
        element.querySelector("picture[slot=poster] img").src,
      ]);
      const [red] = paper.match(/\d+/g).map(Number);
      assert.equal(red < 128 ? "dark" : "light", kind, `${theme}: ${paper}`);
      assert.ok(poster.endsWith(`#${kind}`), poster);
      seen.add(paper);
      const found = await run.evaluate((element) => axe.run(element, { runOnly: ["color-contrast", "aria-required-children", "button-name", "scrollable-region-focusable"] }));
      assert.deepEqual(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 120))]), [], theme);
      assert.ok(found.passes.length > 0, "axe looked at something");
    }
    assert.equal(seen.size, 2);
  });
});

test("keys control a run while it has the focus, else they turn pages", async () => {
  await reading("deltafifo.html", async (page) => {
    const run = await first(page);
    const step = () => run.evaluate((element) => element.getState().step);
    const at = page.url();
    await run.locator(".stage").click({ position: { x: 4, y: 4 } });
    await page.waitForFunction(() => document.activeElement.shadowRoot?.activeElement);
    const start = await step();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(([element, start]) => element.getState().step === start + 1, [await run.elementHandle(), start]);
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(([element, start]) => element.getState().step === start, [await run.elementHandle(), start]);
    // These keys open the book's search and its help.
    await page.keyboard.press("s");
    await page.keyboard.press("/");
    assert.equal(page.url(), at);
    assert.equal(await page.locator("#mdbook-searchbar").isVisible(), false);
    await page.keyboard.press("?");
    await run.locator("dialog.help").waitFor({ state: "visible" });
    assert.equal(await page.locator("#mdbook-help-popup").isVisible(), false);
    // A dialog reports that it is closed some time after it looks so; until then Esc is not the element's.
    const dialog = run.locator("dialog.help");
    await dialog.evaluate((one) => {
      globalThis.helpClosed = new Promise((told) => one.addEventListener("close", told, { once: true })).then(() => true);
    });
    await page.keyboard.press("Escape");
    assert.ok(await page.evaluate(() => helpClosed));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement === document.body);
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/realfifo\.html$/);
  });
});

test("a block tells a story in the book", async () => {
  for (const lang of ["en", "zh"]) {
    await reading("embedding.html", async (page) => {
      const run = page.locator("delta-scope[mode=story]");
      await run.scrollIntoViewIfNeeded();
      await run.evaluate((element) => element.drawn);
      const scene = () => run.evaluate((element) => element.getState().scene);
      const { index, say, question } = await scene();
      assert.deepEqual([index, question.answered, /[\u4e00-\u9fff]/.test(say)], [4, null, lang === "zh"]);
      const shown = await run.evaluate((element) => element.shadowRoot.querySelector(".tale .words").textContent);
      assert.equal(shown, say);
      await run.locator("[data-testid=story-next]").click();
      assert.equal((await scene()).index, 5);
    }, { lang });
  }
});

test("without scripts there are the picture and the transcript", async () => {
  await reading("deltafifo.html", async (page) => {
    const poster = page.locator("delta-scope picture[slot=poster] img").first();
    const { width, height } = await poster.boundingBox();
    assert.ok(width > 500 && height > 200, `${width} × ${height}`);
    const words = page.locator(".deltascope-transcript").first();
    assert.ok(await words.isVisible());
    assert.match(await words.textContent(), /DeltaFIFO\.Add/);
  }, { javaScriptEnabled: false });
});

test("on paper there are the current picture and the transcript", async () => {
  await reading("deltafifo.html", async (page) => {
    const run = await first(page);
    await run.evaluate((element) => element.seek("end"));
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const printed = run.locator(".on-paper svg");
    assert.ok((await printed.boundingBox()).height > 100);
    assert.match(await printed.textContent(), /fact 38/);
    assert.equal(await run.locator(".frame").isVisible(), false);
    const places = await page.evaluate(() => {
      const figure = document.querySelector("figure.deltascope");
      const parts = [figure.querySelector("delta-scope"), figure.querySelector("figcaption"), figure.parentElement.querySelector(".deltascope-transcript")];
      return parts.flatMap((part) => [part.getBoundingClientRect().top, part.getBoundingClientRect().bottom]);
    });
    assert.ok(places.every((place, n) => n === 0 || places[n - 1] <= place), `picture, caption, words: ${places}`);
  });
});

test("on paper a picture is light in every theme of the book", async () => {
  await reading("deltafifo.html", async (page) => {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.evaluate(() => (document.documentElement.className = "coal"));
    const posters = () => page.evaluate(() => [...document.querySelectorAll("picture[slot=poster] img")].map((one) => one.src.split("#")[1]));
    await page.waitForFunction(() => document.querySelector("picture[slot=poster] img").src.endsWith("#dark"));
    await page.evaluate(() => {
      for (const name of ["beforeprint", "afterprint"]) {
        addEventListener(name, () => {
          window.seen ??= [];
          window.seen.push(document.querySelector("picture[slot=poster] img").src.split("#")[1]);
        });
      }
    });
    await page.pdf({ printBackground: true });
    assert.deepEqual(await page.evaluate(() => window.seen), ["light", "dark"]);
    assert.ok((await posters()).every((theme) => theme === "dark"), `${await posters()}`);
  });
  // Without scripts the styles have to do it.
  await reading("deltafifo.html", async (page) => {
    const poster = page.locator("picture[slot=poster] img").first();
    const paper = async () => {
      const shot = (await poster.screenshot()).toString("base64");
      const looking = await browser.newPage();
      try {
        return await looking.evaluate(async (shot) => {
          const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${shot}`)).blob());
          const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
          canvas.drawImage(image, 0, 0);
          return canvas.getImageData(image.width / 2, 8, 1, 1).data[0];
        }, shot);
      } finally {
        await looking.close();
      }
    };
    assert.ok(await paper() < 128, "dark on a dark screen");
    await page.emulateMedia({ media: "print" });
    assert.ok(await paper() > 128, "light on paper");
  }, { javaScriptEnabled: false, colorScheme: "dark" });
});

test("the book's search does not find the transcripts of the runs", () => {
  const name = readdirSync(`${DOCS}/en`).find((name) => /^searchindex.*\.js$/.test(name));
  const index = readFileSync(`${DOCS}/en/${name}`, "utf8");
  assert.match(index, /A key is in line once/);
  assert.match(readFileSync(`${DOCS}/en/deltafifo.html`, "utf8"), /Nothing waits for it/);
  assert.doesNotMatch(index, /Nothing waits for it/);
});

/** The boxes of an element's figure: of its poster, and of what comes in its place. */
function boxes(element) {
  const { left, top } = element.getBoundingClientRect();
  const box = (of, x = left, y = top) => {
    const { x: at, y: down, width, height } = of.getBoundingClientRect();
    return { x: at - x, y: down - y, width, height, middle: down + height / 2 - y };
  };
  const image = element.querySelector("picture[slot=poster] img");
  return fetch(image.currentSrc).then((answer) => answer.text()).then((text) => {
    const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const held = document.createElement("div");
    held.style = "position: absolute; left: 0; top: 0";
    document.body.append(held);
    held.append(document.adoptNode(drawn));
    const origin = drawn.getBoundingClientRect();
    const inPoster = (of) => of && box(of, origin.x, origin.y);
    const poster = { frame: inPoster(drawn), rooms: {} };
    for (const part of drawn.querySelectorAll("[data-part]")) {
      const [words] = part.querySelectorAll("text");
      if (part.dataset.part === "strip") poster.strip = inPoster(words);
      else poster.rooms[part.dataset.part] = { box: inPoster(part.querySelector("rect[rx='12']")), head: inPoster(words) };
    }
    const letters = [...drawn.querySelectorAll("text, tspan")].map((one) => parseFloat(getComputedStyle(one).fontSize));
    held.remove();
    const root = element.shadowRoot;
    const alive = { frame: box(root.querySelector(".frame")), rooms: {} };
    for (const room of root.querySelectorAll(".room")) {
      if (room.offsetWidth) alive.rooms[room.id.replace("room-", "")] = { box: box(room), head: box(room.querySelector("h2")) };
    }
    // The first line of the text, without its leading.
    const range = document.createRange();
    range.selectNodeContents(root.querySelector(".what"));
    const [line] = range.getClientRects();
    alive.strip = box({ getBoundingClientRect: () => line });
    return { poster, alive, least: Math.min(...letters) };
  });
}

for (const width of [1280, 390]) {
  test(`a poster has the boxes of the element in its place: ${width} px`, { timeout: 120_000 }, async () => {
    const seen = [];
    for (const [chapter, lang, ...numbers] of [["generations.html", "en", 0, 2, 10], ["deltafifo.html", "zh", 2, 3], ["introduction.html", "en", 0, 1]]) {
      await reading(chapter, async (page) => {
        for (const number of numbers) {
          const element = page.locator("delta-scope").nth(number);
          await element.scrollIntoViewIfNeeded();
          await element.evaluate((one) => one.drawn);
          const { poster, alive, least } = await element.evaluate(boxes);
          const of = `${lang}/${chapter} #${number + 1}`;
          const near = (what, a, b, keys) => {
            for (const key of keys) assert.ok(Math.abs(a[key] - b[key]) <= 2, `${of}, ${what}: ${key} is ${a[key]} in the poster, ${b[key]} alive`);
          };
          near("frame", poster.frame, alive.frame, ["width", "height"]);
          assert.deepEqual(Object.keys(poster.rooms), Object.keys(alive.rooms), of);
          for (const [room, { box, head }] of Object.entries(poster.rooms)) {
            near(room, box, alive.rooms[room].box, ["x", "y", "width", "height"]);
            near(`heading of ${room}`, head, alive.rooms[room].head, ["x", "middle"]);
          }
          near("strip", poster.strip, alive.strip, ["x", "middle"]);
          assert.ok(least >= 11, `${of}: letters of ${least} px`);
          seen.push(Object.keys(poster.rooms).length);
        }
      }, { lang, viewport: { width, height: 900 } });
    }
    assert.deepEqual(seen, width === 390 ? [1, 1, 1, 1, 1, 1, 1] : [3, 2, 3, 3, 1, 4, 3]);
  });
}

test("on a phone a figure has room for its whole sentence, and its arrow touches no line that it does not lead to", async () => {
  const seen = { steps: 0, heads: 0 };
  for (const chapter of ["deltafifo.html", "known-objects.html", "listwatch.html", "rare-cases.html"]) {
    await reading(chapter, async (page) => {
      for (const element of await page.locator("delta-scope").all()) {
        await element.scrollIntoViewIfNeeded();
        const found = await element.evaluate(async (one) => {
          await one.drawn;
          const root = one.shadowRoot;
          const [say, cut, touched] = [root.querySelector(".say"), [], []];
          const box = (of) => of.getBoundingClientRect();
          const found = { steps: 0, heads: 0, cut, touched };
          const { steps, step } = one.getState();
          for (const at of [step, ...Array.from({ length: 12 }, (_, n) => Math.floor((Math.min(steps, 200) * n) / 12))]) {
            await one.seek(at);
            found.steps += 1;
            if (say.scrollHeight > say.clientHeight) cut.push(`${at}: ${say.scrollHeight - say.clientHeight} px`);
            for (const head of root.querySelectorAll("#motion .head")) {
              found.heads += 1;
              const tip = box(head);
              for (const words of root.querySelectorAll(".output .line:not(.lit) > span")) {
                const is = box(words);
                if (is.left < tip.right && tip.left < is.right && is.top < tip.bottom && tip.top < is.bottom) touched.push(`${at}: ${words.textContent}`);
              }
            }
          }
          one.dispose();
          return found;
        });
        assert.deepEqual([found.cut, found.touched], [[], []], chapter);
        for (const what of Object.keys(seen)) seen[what] += found[what];
      }
    }, { viewport: { width: 390, height: 844 } });
  }
  assert.ok(seen.steps > 200 && seen.heads > 20, JSON.stringify(seen));
});

test("the words of an arrow are beside it", async () => {
  await reading("lesson-index.html", async (page) => {
    const element = page.locator("delta-scope").nth(2);
    await element.scrollIntoViewIfNeeded();
    // The arrow is drawn once the rooms know what fits into them.
    await element.locator("#motion .way").waitFor({ state: "attached" });
    const away = await element.evaluate(async (one) => {
      await one.drawn;
      const words = one.shadowRoot.querySelector("#motion .way").getBoundingClientRect();
      const path = one.shadowRoot.querySelector("#motion .trail path:not(.head)");
      const onScreen = path.getScreenCTM();
      const points = Array.from({ length: 101 }, (_, part) => path.getPointAtLength((path.getTotalLength() * part) / 100).matrixTransform(onScreen));
      return Math.min(...points.map(({ x, y }) => Math.hypot(Math.max(words.left - x, x - words.right, 0), Math.max(words.top - y, y - words.bottom, 0))));
    });
    assert.ok(away < 12, `${away} px off`);
  });
});

for (const width of [1280, 390]) test(`the poster of a story shows the story: ${width} px`, async () => {
  await reading("embedding.html", async (page) => {
    const element = page.locator("delta-scope[mode=story]");
    await element.scrollIntoViewIfNeeded();
    await element.evaluate((one) => one.drawn);
    const { poster, alive } = await element.evaluate(async (one) => {
      const image = one.querySelector("picture[slot=poster] img");
      const drawn = new DOMParser().parseFromString(await (await fetch(image.currentSrc)).text(), "image/svg+xml").documentElement;
      drawn.style = "position: absolute; left: 0; top: 0";
      const at = (of, from) => {
        const [box, base] = [of.getBoundingClientRect(), from.getBoundingClientRect()];
        return [box.left - base.left, box.top - base.top, box.width, box.height].map(Math.round);
      };
      const root = one.shadowRoot;
      const frame = root.querySelector(".frame");
      document.body.append(drawn);
      const [room] = [...drawn.querySelectorAll("[data-part]")].filter((part) => part.dataset.part !== "tale");
      const tale = drawn.querySelector("[data-part=tale]");
      const shown = [...root.querySelectorAll(".room")].filter((one) => one.offsetWidth);
      const poster = { room: room.dataset.part, at: at(room.querySelector("rect[rx='12']"), drawn), tale: at(tale.querySelector("rect"), drawn), words: tale.textContent };
      const alive = { room: shown[0].id.replace("room-", ""), at: at(shown[0], frame), tale: at(root.querySelector(".tale"), frame), words: root.querySelector(".tale .words").textContent };
      drawn.remove();
      return { poster, alive };
    });
    assert.equal(poster.room, alive.room);
    const bare = (text) => text.replaceAll(/\s/g, "");
    assert.ok(bare(poster.words).includes(bare(alive.words).slice(0, 40)), poster.words);
    // The poster's letters are estimated, so that a line more or less may fit.
    for (const part of ["at", "tale"]) {
      const off = poster[part].map((length, n) => Math.abs(length - alive[part][n]));
      assert.ok(off.every((px) => px <= 26), `${part}: ${poster[part]} in the poster, ${alive[part]} alive`);
    }
  }, { viewport: { width, height: 900 } });
});

for (const width of [1280, 390]) test(`the layout does not shift when the element or its run is loaded: ${width} px`, async () => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await reading("deltafifo.html", async (page) => {
    const measure = () => page.evaluate(() => [...document.querySelectorAll("delta-scope")].map((one) => one.offsetHeight));
    const before = await measure();
    assert.ok(before.length > 3 && before.every((height) => height > 300), `${before}`);
    release();
    await page.evaluate(() => customElements.whenDefined("delta-scope"));
    assert.deepEqual(await measure(), before);
    for (const run of await page.locator("delta-scope").all()) {
      await run.scrollIntoViewIfNeeded();
      await run.evaluate((element) => element.drawn);
    }
    assert.deepEqual(await measure(), before);
    // Another run in the same place keeps the size.
    const run = page.locator("delta-scope").first();
    await run.evaluate(async (element) => {
      let least = element.offsetHeight;
      let isOver = false;
      const look = () => {
        least = Math.min(least, element.offsetHeight);
        if (!isOver) requestAnimationFrame(look);
      };
      look();
      await element.load("reflector");
      isOver = true;
      element.dataset.least = least;
    });
    assert.equal(Number(await run.getAttribute("data-least")), before[0]);
  }, { held, viewport: { width, height: 900 } });
});
