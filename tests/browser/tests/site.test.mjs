// The site: the front page, the page and both books, linked to each other under a sub-path.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LAPTOP, PHONE, launch } from "../harness.mjs";
import { serve } from "../server.mjs";

const SITE = process.env.SITE ?? fileURLToPath(new URL("../../../target/site", import.meta.url));
const LANGS = ["en", "zh"];

let browser;
let server;
before(async () => {
  assert.ok(existsSync(`${SITE}/index.html`), `${SITE} holds no site: run make site`);
  server = await serve(SITE, { prefix: "/some/where/" });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens the front page as somebody who has never been here, and collects errors and requests that lead elsewhere. */
async function visit(options, body) {
  const context = await browser.newContext({ viewport: LAPTOP, reducedMotion: "reduce", ...options });
  const problems = [];
  context.on("page", (page) => {
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  });
  context.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(server.url)) problems.push(`asked for ${request.url()}`);
  });
  context.on("response", (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  try {
    const page = await context.newPage();
    await page.goto(server.url);
    await body(page, context);
    assert.deepEqual(problems, []);
  } finally {
    await context.close();
  }
}

async function ready(page) {
  await page.waitForFunction(() => window.deltascope !== undefined);
  await page.evaluate(() => window.deltascope.ready);
  return page.evaluate(() => window.deltascope.getState());
}

for (const [lang, locale] of [["en", "en-US"], ["zh", "zh-CN"]]) {
  test(`from the front page to the first look, its chapter, and back at the same moment: ${lang}`, async () => {
    await visit({ locale }, async (page, context) => {
      await page.locator(".told .first:visible").click();
      const first = await ready(page);
      assert.equal(first.lesson, "first-look");
      assert.equal(first.error, null);
      // The last scene has the way to the chapter, and so has the lesson's note.
      assert.equal(await page.getByTestId("to-chapter").count(), 0);
      while (await page.getByTestId("story-next").isVisible()) await page.getByTestId("story-next").click();
      const [book] = await Promise.all([context.waitForEvent("page"), page.getByTestId("to-chapter").click()]);
      await book.waitForLoadState();
      const { pathname, hash } = new URL(book.url());
      assert.equal(pathname, `/some/where/book/${lang}/introduction.html`);
      assert.ok(await book.locator(`[id="${decodeURIComponent(hash.slice(1))}"]`).isVisible(), hash);
      await page.keyboard.press("m");
      await page.locator(".note").getByTestId("to-chapter").waitFor();

      // To the lesson, and to the moment of a picture.
      const lesson = book.locator('.deltascope-lesson a[href*="first-look"]');
      assert.match(await lesson.getAttribute("href"), /#v1;lesson=first-look;scene=1$/);
      const picture = book.locator("delta-scope").first();
      await picture.scrollIntoViewIfNeeded();
      const shown = await picture.evaluate(async (element) => {
        await element.ready;
        return element.getState();
      });
      await book.locator(".deltascope-open").first().click();
      const opened = await ready(book);
      assert.equal(new URL(book.url()).pathname, "/some/where/page/");
      assert.equal(opened.error, null);
      assert.deepEqual([opened.step, opened.queue, opened.store], [shown.step, shown.queue, shown.store]);
    });
  });
}

test("all addresses of the front page are relative, and lead to something", async () => {
  await visit({ locale: "en-US" }, async (page) => {
    const found = await page.evaluate(() => [...document.querySelectorAll("[href], [src]")].map((one) => one.getAttribute("href") ?? one.getAttribute("src")));
    assert.ok(found.length > 10);
    for (const address of new Set(found)) {
      if (address.startsWith("data:")) continue;
      assert.doesNotMatch(address, /^\/|:/, "no sub-path but this one would do");
      const answer = await page.request.get(new URL(address, server.url).href);
      assert.equal(answer.status(), 200, address);
    }
  });
});

test("every picture of the books leads to its moment, and every lesson of a chapter to the page", () => {
  for (const lang of LANGS) {
    const names = readdirSync(`${SITE}/book/${lang}`).filter((name) => name.endsWith(".html") && !["print.html", "index.html"].includes(name));
    const told = new Set();
    for (const name of names) {
      const html = readFileSync(`${SITE}/book/${lang}/${name}`, "utf8");
      const of = (pattern) => [...html.matchAll(pattern)];
      const pictures = of(/<figure class="deltascope">/g).length;
      const links = of(/class="deltascope-open" href="\.\.\/\.\.\/page\/#v1;[^"]+"/g).length;
      assert.equal(links, pictures, `${lang}/${name}`);
      for (const [, id] of of(/class="deltascope-lesson">[^<]*<a href="\.\.\/\.\.\/page\/#v1;lesson=([\w-]+)/g)) told.add(id);
    }
    assert.ok(told.size >= 14, `${lang}: ${[...told]}`);
  }
});

test("the front page speaks both languages, remembers the choice, and passes a link on", async () => {
  await visit({ locale: "en-US" }, async (page, context) => {
    const heading = page.locator("h1:visible");
    assert.match(await heading.textContent(), /Kubernetes informer brings/);
    await page.getByRole("button", { name: "中文" }).click();
    assert.match(await heading.textContent(), /Kubernetes informer 怎样/);
    await page.goto(`${server.url}page/`);
    await ready(page);
    assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-Hans");
    const link = "#v1;lesson=deltafifo;at=pop";
    const other = await context.newPage();
    await other.goto(server.url + link);
    await other.waitForURL(`${server.url}page/**`);
    assert.equal((await ready(other)).lesson, "deltafifo");
  });
});

test("the front page is for everyone: contrast, names, keyboard, a phone, no script", async () => {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const [locale, colorScheme, viewport] of [["en-US", "light", LAPTOP], ["zh-CN", "dark", PHONE]]) {
    await visit({ locale, colorScheme, viewport }, async (page) => {
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run());
      assert.deepEqual(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 120))]), []);
      assert.ok(found.passes.length > 10);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
    });
  }
  await visit({ javaScriptEnabled: false }, async (page) => {
    assert.equal(await page.locator("h1:visible").count(), 2);
    assert.equal(await page.locator("button:visible").count(), 0);
  });
});
