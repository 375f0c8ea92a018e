import { launch } from "./harness.mjs";
import { page as html, serveHost } from "./hosts.mjs";
const out = process.argv[2];
const el = (a) => `<delta-scope lesson="first-look" load="eager" motion="none" ${a}></delta-scope>`;
const cases = [
  ["wide-en-light", 1440, 900, "light", "en", el('mode="story" scene="4"')],
  ["wide-zh-dark", 1280, 720, "dark", "zh", el('mode="quiz" scene="6"')],
  ["book-en", 780, 900, "light", "en", el('mode="story" scene="4" panels="queue,indexer"')],
  ["book3-zh", 780, 900, "dark", "zh", el('mode="story" scene="5" panels="queue,indexer,processor"')],
  ["book-all", 780, 900, "light", "en", el('mode="story" scene="4"')],
  ["phone-en", 390, 844, "light", "en", el('mode="story" scene="4"')],
  ["phone-zh", 390, 844, "dark", "zh", el('mode="story" scene="4" panels="queue"')],
  ["full", 1440, 900, "light", "en", el('mode="story" scene="7" controls="full"')],
];
const browser = await launch();
for (const [name, width, height, theme, lang, body] of cases) {
  const server = await serveHost({ "index.html": html(`<style>body{margin:16px;font:16px system-ui;background:${theme === "dark" ? "#111" : "#fff"}}</style>${body}`, { html: `lang="${lang}" data-theme="${theme}"` }) });
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.on("pageerror", (e) => console.log(name, e.message));
  await page.goto(server.url);
  await page.evaluate(async () => { await customElements.whenDefined("delta-scope"); await document.querySelector("delta-scope").ready; });
  await page.screenshot({ path: `${out}/${name}.png`, fullPage: true });
  if (name === "wide-en-light" || name === "phone-en" || name === "book-en") {
    await page.evaluate(() => { const e = document.querySelector("delta-scope"); e.setAttribute("speed", "8"); return e.answer(0); });
    await page.screenshot({ path: `${out}/${name}-answered.png`, fullPage: true });
  }
  await context.close();
  await server.close();
}
await browser.close();
