// The examples in examples/embed, as their READMEs describe them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DIST } from "../harness.mjs";
import { PACKAGES, ROOT, STRICT, hosts } from "../hosts.mjs";

const run = promisify(execFile);
const onHost = hosts();
const example = (name) => join(ROOT, "examples/embed", name);
let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), "deltascope-examples-"))));
after(() => rm(folder, { recursive: true, force: true }));

/** Steps, and checks that it is styled. */
const works = async (host, selector) => {
  await host.ready(selector);
  const { step } = await host.state(selector);
  await host.of(selector, "step", step > 0 ? -1 : 1);
  assert.notEqual((await host.state(selector)).step, step);
  const display = await host.look((_, root) => getComputedStyle(root.querySelector(".grid")).display, selector);
  assert.match(display, /flex|grid/);
};

test("a page with an element", onHost({ "": example("html") }, { headers: STRICT }, async (host) => {
  await works(host, "#relist");
  await host.page.locator("#own").scrollIntoViewIfNeeded();
  await works(host, "#own");
  assert.deepEqual((await host.state("#own")).output, ["OnAdd: a", "OnAdd: b"].slice(0, (await host.state("#own")).output.length));
  await host.page.getByRole("button", { name: "Kubernetes 1.36" }).click();
  await host.until(() => document.querySelector("#relist").getState().era === "1.36");
  await host.page.locator("#said", { hasText: "told" }).waitFor();
  assert.deepEqual(await host.violations(), []);
}));

test("a page with a frame", onHost({ "": example("iframe") }, { headers: STRICT }, async (host) => {
  const frame = host.page.frameLocator("#relist");
  await frame.locator("delta-scope .frame").waitFor();
  await host.until(() => document.querySelector("iframe").style.height.endsWith("px"));
  await host.page.frames()[1].waitForFunction(() => document.querySelector("delta-scope").getState());
  await host.page.getByRole("button", { name: "A step on" }).click();
  await host.page.locator("#said", { hasText: /\d+ of \d+/ }).waitFor();
  assert.deepEqual(await host.violations(), []);
}));

/** Builds a site with Vite, with the package from npm's tarball and the site's other dependencies. */
async function built(site) {
  const { stdout } = await run("npm", ["pack", "--json", "--offline", "--pack-destination", site, DIST]);
  const modules = join(site, "node_modules");
  await mkdir(modules);
  await run("tar", ["-xzf", join(site, JSON.parse(stdout)[0].filename), "-C", modules]);
  await rename(join(modules, "package"), join(modules, "deltascope"));
  for (const name of await readdir(PACKAGES)) if (!name.startsWith(".")) await symlink(join(PACKAGES, name), join(modules, name));
  const told = await run(process.execPath, [join(PACKAGES, "vite/bin/vite.js"), "build"], { cwd: site });
  assert.doesNotMatch(told.stderr, /warn/i);
  const [assets, files] = await Promise.all([join(site, "dist/assets"), join(modules, "deltascope")].map((folder) => readdir(folder)));
  const [packed, shipped] = [files, assets].map((names) => names.filter((name) => name.endsWith(".wasm")).length);
  assert.equal(shipped, packed, assets.join());
  return { "": join(site, "dist") };
}

test("React and MDX, built with Vite from the packed package, under a sub-path and a strict policy", { timeout: 180_000 }, async (t) => {
  const site = join(folder, "vite");
  await cp(example("vite"), site, { recursive: true });
  await onHost(await built(site), { headers: STRICT }, async (host) => {
    await host.page.locator("#relist").waitFor();
    await works(host, "#relist");
    await host.page.locator("#own").scrollIntoViewIfNeeded();
    await host.ready("#own");
    assert.deepEqual((await host.state("#own")).output, ["OnAdd: a"]);
    await host.page.getByRole("button", { name: "Kubernetes 1.32" }).click();
    await host.until(() => document.querySelector("#relist").getState().era === "1.36");
    await host.of("#relist", "seek", "told");
    await host.page.locator("output", { hasText: "told" }).waitFor();
    assert.equal(host.server.asked.filter((path) => /_bg-[^/]*\.wasm$/.test(path)).length, 1);
    assert.deepEqual(await host.violations(), []);
  })(t);
});

const VUE = `
import { createApp, h, ref } from "vue";
import { DeltaScope } from "deltascope/vue";
const era = ref("1.32");
const said = ref("");
const scenario = ref({ initial: [{ metadata: { name: "a" } }], settings: { machinery: "shared", handlers: [{ onAdd: ["OnAdd: {name}"] }] } });
Object.assign(globalThis, { era, scenario });
createApp({ render: () => [
  h(DeltaScope, { id: "relist", lesson: "tombstone", era: era.value, panels: ["api", "queue"], load: "eager", onMarker: ({ detail }) => (said.value = detail.id) },
    () => h("p", { slot: "poster" }, "A picture")),
  h("output", said.value),
  h(DeltaScope, { id: "own", scenario: scenario.value, at: "end", load: "eager", class: "mine" }),
] }).mount("#root");`;

test("Vue, built with Vite", { timeout: 180_000 }, async (t) => {
  const site = join(folder, "vue");
  await mkdir(site);
  await writeFile(join(site, "index.html"), '<!doctype html><html lang="en"><title>Vue</title><div id="root"></div><script type="module" src="./main.js"></script></html>');
  await writeFile(join(site, "main.js"), VUE);
  await writeFile(join(site, "vite.config.js"), 'export default { base: "./" };');
  await onHost(await built(site), { headers: STRICT }, async (host) => {
    await works(host, "#relist");
    await host.page.evaluate(() => (era.value = "1.36"));
    await host.until(() => document.querySelector("#relist").getState().era === "1.36");
    await host.of("#relist", "seek", "told");
    await host.page.locator("output", { hasText: "told" }).waitFor();
    await host.ready("#own.mine");
    assert.deepEqual((await host.state("#own")).output, ["OnAdd: a"]);
    await host.page.evaluate(() => (scenario.value = { ...scenario.value, initial: [{ metadata: { name: "b" } }] }));
    await host.until(() => Object.keys(document.querySelector("#own").getState()?.api.objects ?? {}).includes("b"));
    assert.deepEqual(await host.violations(), []);
  })(t);
});

const hugo = await run("hugo", ["version"]).then(() => true, () => false);
test("Hugo's shortcode", { skip: !hugo && "no hugo: apt-get install hugo" }, async (t) => {
  const site = join(folder, "hugo");
  await cp(example("hugo"), site, { recursive: true });
  await run("hugo", ["--source", site, "--destination", join(site, "public"), "--quiet"]);
  const text = await readFile(join(site, "public/relist/index.html"), "utf8");
  assert.equal(text.match(/<script type="?module"?/g).length, 1, "once a page");
  assert.match(text, /<delta-scope[^>]* lesson="tombstone"/);
  await onHost({ "": join(site, "public") }, { headers: STRICT, path: "relist/" }, async (host) => {
    await works(host, "delta-scope:first-of-type");
    await host.page.evaluate(() => (document.querySelectorAll("delta-scope")[1].id = "own"));
    await host.page.locator("#own").scrollIntoViewIfNeeded();
    await host.ready("#own");
    assert.deepEqual((await host.state("#own")).output, ["OnAdd: a"]);
    assert.deepEqual(await host.violations(), []);
  })(t);
});

const deck = { "": example("reveal"), "node_modules/": PACKAGES };
const slide = (host) => host.page.evaluate(() => Reveal.getIndices().h);

test("a deck of Reveal.js: keys, slides and places", onHost(deck, { motion: true }, async (host) => {
  await host.until(() => globalThis.Reveal?.isReady());
  await host.ready("#relist");
  // Keys belong to the element while it has the focus.
  const before = (await host.state("#relist")).step;
  await host.page.locator("#relist .ds").click({ position: { x: 5, y: 5 } });
  await host.page.locator("#relist .ds").focus();
  await host.page.keyboard.press("ArrowRight");
  await host.until((from) => document.querySelector("#relist").getState().step > from, before);
  await host.page.keyboard.press("ArrowLeft");
  assert.equal(await slide(host), 0);
  await host.page.keyboard.press("Escape");
  assert.equal(await host.page.evaluate(() => Reveal.isOverview()), false, "Esc is the element's, too");
  // A run pauses with its slide, and resumes with it.
  await host.of("#relist", "seek", "start");
  await host.of("#relist", "play");
  await host.page.evaluate(() => document.activeElement.blur());
  await host.page.keyboard.press("ArrowRight");
  assert.equal(await slide(host), 1);
  await host.until(() => !document.querySelector("#relist").getState().playing);
  await host.page.keyboard.press("ArrowLeft");
  await host.until(() => document.querySelector("#relist").getState().playing);
  await host.of("#relist", "pause");
}));

test("motions begin and end at the right places, however Reveal.js scales its slides", onHost(deck, { viewport: { width: 1500, height: 1100 } }, async (host) => {
  await host.until(() => globalThis.Reveal?.isReady());
  await host.ready("#relist");
  assert.notEqual(await host.page.evaluate(() => Reveal.getScale()), 1);
  // With reduced motion an arrow connects the old place to the new one.
  await host.of("#relist", "seek", "start");
  let seen = 0;
  for (let step = 0; step < 40; step += 1) {
    await host.of("#relist", "step", 1);
    const gap = await host.look((_, root) => {
      const layer = root.querySelector("#motion");
      const path = layer.querySelector("path:not(.head)");
      const grid = root.querySelector(".grid").getBoundingClientRect();
      if (!path) return null;
      const matrix = path.getScreenCTM();
      const points = [0, path.getTotalLength()].map((at) => path.getPointAtLength(at).matrixTransform(matrix));
      const rects = [...root.querySelectorAll("[data-anchor]")].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect());
      const away = ({ x, y }, r) => Math.hypot(Math.max(r.left - x, 0, x - r.right), Math.max(r.top - y, 0, y - r.bottom));
      const inside = points.every(({ x, y }) => x >= grid.left && x <= grid.right && y >= grid.top && y <= grid.bottom);
      return { inside, away: Math.max(...points.map((point) => Math.min(...rects.map((rect) => away(point, rect))))) };
    }, "#relist");
    if (!gap) continue;
    seen += 1;
    assert.ok(gap.inside && gap.away < 12, JSON.stringify({ step, gap }));
  }
  assert.ok(seen > 2, `${seen} arrows`);
}));

test("a frame in a deck: keys stay inside, Esc leaves", onHost(deck, async (host) => {
  await host.until(() => globalThis.Reveal?.isReady());
  await host.page.evaluate(() => Reveal.slide(2));
  const inside = host.page.frames()[1];
  await inside.waitForFunction(() => document.querySelector("delta-scope")?.getState());
  const state = () => inside.evaluate(() => document.querySelector("delta-scope").getState());
  const { step } = await state();
  await inside.locator("delta-scope .ds").focus();
  await host.page.keyboard.press("ArrowRight");
  await inside.waitForFunction((from) => document.querySelector("delta-scope").getState().step > from, step);
  assert.equal(await slide(host), 2);
  await host.page.keyboard.press("Space");
  await inside.waitForFunction(() => document.querySelector("delta-scope").getState().playing);
  await host.page.keyboard.press("Escape");
  await host.until(() => document.hasFocus() && document.activeElement?.tagName !== "IFRAME");
  await host.page.keyboard.press("ArrowRight");
  assert.equal(await slide(host), 3);
  await inside.waitForFunction(() => !document.querySelector("delta-scope").getState().playing);
  await host.page.keyboard.press("ArrowLeft");
  await inside.waitForFunction(() => document.querySelector("delta-scope").getState().playing);
}));
