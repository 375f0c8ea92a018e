// The parts of a released program that come later: what is opened without them, and what is said if they do not come.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startApi } from "../apiserver.mjs";
import { DIST, IS_SPLIT, PART, REST, launch } from "../harness.mjs";
import { hosts, page as hostPage } from "../hosts.mjs";
import { listOf } from "../many.mjs";
import { serve } from "../server.mjs";

const onHost = hosts();

const skip = IS_SPLIT ? false : "this build is not split";
let browser;
let server;
before(async () => {
  server = await serve(DIST);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** The page with its first picture, and a switch that lets the parts come. With `holds` they neither come nor fail until
    `release`. */
async function withoutParts(t, { url = server.url, hash = "", firstVisit = false, holds = false, part = PART } = {}) {
  const context = await browser.newContext({ locale: "en-US", reducedMotion: "reduce" });
  t.after(() => context.close());
  if (!firstVisit) {
    await context.addInitScript(() => {
      localStorage.setItem("deltascope.seen", "1");
      localStorage.setItem("deltascope.shelf", "off");
    });
  }
  const net = { isUp: false, asked: [] };
  const released = new Promise((release) => (net.release = (isUp = true) => release((net.isUp = isUp))));
  await context.route(part, async (route) => {
    net.asked.push(route.request().url());
    if (holds) await released;
    return net.isUp ? route.continue() : route.abort();
  });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(url + hash);
  await page.waitForFunction(() => window.deltascope !== undefined);
  if (!holds) await page.evaluate(() => window.deltascope.ready);
  const said = page.getByTestId("error").filter({ hasText: "could not be loaded" });
  return { page, net, said, errors };
}

test("on a first visit the start screen says how much of the program has come", async (t) => {
  for (const seen of [false, true]) {
    const context = await browser.newContext({ locale: "zh-CN", reducedMotion: "reduce" });
    t.after(() => context.close());
    await context.addInitScript((seen) => {
      if (seen) localStorage.setItem("deltascope.seen", "1");
      globalThis.figures = [];
      new MutationObserver((all) => globalThis.figures.push(...all.map(({ target }) => target.dataset.come))).observe(document, {
        attributeFilter: ["data-come"],
        subtree: true,
      });
    }, seen);
    const page = await context.newPage();
    await page.goto(server.url);
    await page.waitForFunction(() => window.deltascope !== undefined);
    const figures = await page.evaluate(() => globalThis.figures);
    assert.equal(figures.length > 0, !seen, `${figures}`);
    assert.ok(figures.every((figure) => /^\d+\.\d( \/ \d+\.\d)? MB$/.test(figure)), `${figures}`);
  }
});

test("the first picture and its steps need no part", { skip }, async (t) => {
  const { page, errors } = await withoutParts(t, { firstVisit: true });
  await page.locator(".tale").waitFor();
  const step = () => page.evaluate(async () => {
    await deltascope.step(1);
    return deltascope.getState().step;
  });
  assert.equal((await step()) + 1, await step());
  assert.equal(await page.evaluate(() => deltascope.getUrl()), null, "no part, no link");
  assert.deepEqual(errors, []);
});

for (const [what, open, isOpen] of [
  ["the shelf", "btn-lessons", ".shelf"],
  ["the dialog of a cluster", "btn-cluster", "dialog.cluster[open]"],
]) {
  test(`a part that does not come is said, and fetched again when it is asked for: ${what}`, { skip }, async (t) => {
    const { page, net, said, errors } = await withoutParts(t);
    await page.getByTestId(open).click();
    await said.waitFor();
    assert.equal(await page.locator(isOpen).count(), 0);
    net.isUp = true;
    await page.getByTestId(open).click();
    await page.locator(isOpen).waitFor();
    assert.deepEqual(errors, []);
  });
}

test("the sandbox is chosen without any part", { skip }, async (t) => {
  const { page, said, errors } = await withoutParts(t, { firstVisit: true });
  await page.locator(".tale").waitFor();
  await page.getByTestId("select-lesson").selectOption("sandbox");
  await page.waitForFunction(() => deltascope.getState().lesson === "sandbox");
  assert.equal(await said.count(), 0);
  assert.deepEqual(errors, []);
});

test("a lesson whose part does not come leaves the run as it is, until it is opened again", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutParts(t);
  const load = (id) => page.evaluate(async (id) => {
    await deltascope.load(id);
    return deltascope.getState().lesson;
  }, id);
  const before = await load("sandbox");
  assert.equal(before, "sandbox", "this one comes with the page");
  assert.equal(await load("tombstone"), before);
  await said.waitFor();
  net.isUp = true;
  assert.equal(await load("tombstone"), "tombstone");
  assert.equal(await said.count(), 0);
  assert.deepEqual(errors, []);
});

test("a command whose part does not come leaves the run as it is, until it is given again", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutParts(t);
  const inject = (name) => page.evaluate(async (name) => {
    await deltascope.inject({ op: "create", object: { metadata: { namespace: "default", name } } });
    return Object.keys(deltascope.getState().api.objects).includes(`default/${name}`);
  }, name);
  assert.equal(await inject("mine"), false);
  await said.waitFor();
  assert.equal(await page.evaluate(async () => {
    const { step } = deltascope.getState();
    await deltascope.step(1);
    return deltascope.getState().step - step;
  }), 1, "a step needs no part");
  net.isUp = true;
  assert.equal(await inject("mine"), true);
  assert.equal(await said.count(), 0);
  assert.deepEqual(errors, []);
});

test("a link is opened once its part is there", { skip }, async (t) => {
  const { page, net, said } = await withoutParts(t, { hash: "#v1;lesson=tombstone" });
  await said.waitFor();
  net.isUp = true;
  await page.reload();
  await page.waitForFunction(() => window.deltascope !== undefined);
  assert.equal(await page.evaluate(async () => {
    await deltascope.ready;
    return deltascope.getState().lesson;
  }), "tombstone");
});

/** What a run of things said ends at, if all parts are there. */
async function whole(t, say) {
  const { page, net, errors } = await withoutParts(t, { holds: true });
  net.release();
  await page.evaluate(() => window.deltascope.ready);
  await say(page);
  assert.deepEqual(errors, []);
  return page.evaluate(() => deltascope.getState());
}

const isOpen = (page, lesson) => page.waitForFunction((lesson) => deltascope.getState().lesson === lesson, lesson);
const openLink = (page, lesson) => page.evaluate((lesson) => void (location.hash = `#v1;lesson=${lesson}`), lesson);
const opening = (page) => page.getByTestId("opening");

for (const [what, then] of [
  ["cut the watch, step", async () => {}],
  ["cut the watch, step, open a lesson", async (page) => openLink(page, "tombstone")],
]) {
  test(`what is said while a part is fetched is done in its order: ${what}`, { skip }, async (t) => {
    const say = async (page) => {
      await page.getByTestId("btn-cut").click();
      await page.keyboard.press("ArrowRight");
      await then(page);
    };
    const wanted = await whole(t, async (page) => {
      await say(page);
      if (then.length > 0) await isOpen(page, "tombstone");
    });
    const { page, net, errors } = await withoutParts(t, { holds: true });
    const before = await page.evaluate(() => deltascope.getState());
    await say(page);
    await opening(page).waitFor();
    assert.deepEqual(await page.evaluate(() => deltascope.getState()), before, "nothing happens before");
    assert.notDeepEqual(wanted, before);
    net.release();
    await opening(page).waitFor({ state: "detached" });
    await page.waitForFunction((wanted) => deltascope.getState().step === wanted.step && deltascope.getState().lesson === wanted.lesson, wanted);
    assert.deepEqual(await page.evaluate(() => deltascope.getState()), wanted);
    assert.deepEqual(errors, []);
  });
}

test("calls of a script while a part is fetched are done and answered in their order", { skip }, async (t) => {
  const say = (page) => page.evaluate(async () => {
    const answered = [];
    const object = { metadata: { namespace: "default", name: "mine" } };
    await Promise.all([
      ["seek", "listed"],
      ["seek", 2],
      ["inject", { op: "create", object }],
      ["step", 10],
      ["follow", "default/mine"],
      ["step", -3],
    ].map(([name, ...given], place) => deltascope[name](...given).then(() => answered.push(place))));
    return answered;
  });
  const wanted = await whole(t, say);
  const { page, net, errors } = await withoutParts(t, { holds: true });
  const answered = say(page);
  await opening(page).waitFor();
  net.release();
  assert.deepEqual(await answered, [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(await page.evaluate(() => deltascope.getState()), wanted);
  assert.deepEqual(errors, []);
});

test("what is said after connect while a part is fetched is for the cluster's run", { skip }, async (t) => {
  const api = await startApi();
  api.generate("pods", 5);
  const front = await serve(DIST, { api: api.url });
  const { page, net, errors } = await withoutParts(t, { url: front.url, holds: true });
  t.after(async () => {
    await page.context().close();
    await front.close();
    await api.close();
  });
  const answered = page.evaluate(() => Promise.all([deltascope.connect(), deltascope.follow("default/web-0")]));
  await opening(page).waitFor();
  net.release();
  await answered;
  assert.ok(await page.evaluate(() => deltascope.getState().live));
  // Its run knows the object once it is listed.
  await page.waitForFunction(() => deltascope.getState().following === "default/web-0");
  assert.deepEqual(errors, []);
});

for (const [what, end] of [
  ["Escape", (page) => page.keyboard.press("Escape")],
  ["a run that needs no part", (page) => page.evaluate(() => deltascope.load("sandbox"))],
]) {
  test(`${what} ends the wait, and what waited does not happen`, { skip }, async (t) => {
    const { page, net, errors } = await withoutParts(t, { holds: true });
    const state = () => page.evaluate(() => deltascope.getState());
    await page.evaluate(() => deltascope.load("sandbox"));
    const before = await state();
    await page.getByTestId("btn-cut").click();
    const settled = page.evaluate(() => Promise.all([deltascope.fork(), deltascope.step(1)]));
    await opening(page).waitFor();
    await end(page);
    await settled;
    await opening(page).waitFor({ state: "detached" });
    assert.deepEqual(await state(), before);
    net.release();
    await page.evaluate(() => deltascope.ready);
    assert.deepEqual(await state(), before);
    await page.evaluate(() => deltascope.step(1));
    assert.equal((await state()).step, before.step + 1, "the page goes on");
    assert.deepEqual(errors, []);
  });
}

test("if the part does not come, nothing that waited happens, and one message says so", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutParts(t, { holds: true });
  const before = await page.evaluate(() => deltascope.getState().step);
  const settled = page.evaluate(() => Promise.all([deltascope.inject({ op: "cut" }), deltascope.step(3)]));
  await opening(page).waitFor();
  net.release(false);
  await settled;
  assert.equal(await said.count(), 1);
  assert.equal(await page.evaluate(() => deltascope.getState().step), before);
  assert.deepEqual(errors, []);
});

test("many objects are drawn once their part is there, however it came, and one button asks for it again", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutParts(t, { part: /-tools\./ });
  const load = () => page.evaluate((list) => deltascope.openText("list.json", list), listOf(100));
  await load();
  const again = page.getByTestId("again");
  await again.first().waitFor();
  assert.equal(await said.count(), 0, "the field itself says it");
  const asked = net.asked.length;
  assert.ok(asked <= 2, `${asked} fetches`);
  net.isUp = true;
  await again.first().click();
  await page.getByTestId("density-objects").waitFor();
  await again.first().waitFor({ state: "detached" });
  assert.equal(net.asked.length, asked + 1);
  assert.deepEqual(errors, []);
});

test("a call is answered once the cells are drawn", { skip }, async (t) => {
  const { page, net, errors } = await withoutParts(t, { part: /-tools\./, holds: true });
  const cells = page.evaluate(async (list) => {
    await deltascope.openText("list.json", list);
    return document.querySelectorAll("[data-testid=density-objects]").length;
  }, listOf(100));
  await page.waitForFunction(() => Object.keys(deltascope.getState().api.objects).length === 100);
  net.release();
  assert.equal(await cells, 1);
  assert.deepEqual(errors, []);
});

test("the tab that explains is filled once its part is there", { skip }, async (t) => {
  const { page, net, errors } = await withoutParts(t, { holds: true, part: /-runs\./ });
  await page.evaluate(() => deltascope.step(3));
  await page.getByTestId("btn-why").click();
  await page.getByTestId("select-thing").waitFor();
  assert.equal(await page.getByTestId("chain").count(), 0);
  net.release();
  await page.getByTestId("chain").waitFor();
  assert.deepEqual(errors, []);
});

test("an element that is removed while it waits leaves nothing behind", { skip }, onHost({ "index.html": hostPage("") }, async (host) => {
  const other = await host.page.context().newPage();
  const errors = [];
  other.on("pageerror", (error) => errors.push(error));
  let release;
  const released = new Promise((resolve) => (release = resolve));
  let held = 0;
  await other.route(/-runs\./, async (route) => {
    held += 1;
    await released;
    return route.continue();
  });
  await other.goto(`${host.url}index.html`);
  await other.evaluate(() => (document.body.innerHTML = ["a", "b"].map((id) => `<delta-scope id="${id}" lesson="sandbox" load="eager"></delta-scope>`).join("")));
  // The picture is there, and the methods wait.
  await other.waitForFunction(() => ["a", "b"].every((id) => document.getElementById(id).shadowRoot.querySelector("[data-testid=btn-step]")));
  await other.evaluate(() => {
    const one = document.getElementById("a");
    one.inject({ op: "cut" }).catch(() => {});
    for (const [name, value] of [["era", "1.23"], ["at", "listed"], ["theme", "dark"], ["speed", "200"]]) one.setAttribute(name, value);
    document.getElementById("b").setAttribute("at", "listed");
    one.dispose?.();
    one.remove();
  });
  assert.ok(held > 0);
  release();
  await other.evaluate(() => document.getElementById("b").ready);
  await other.waitForFunction(() => document.getElementById("b").getState().step > 0);
  assert.deepEqual(errors, []);
}));

/** Which files of the rest were asked for while the page waited. */
async function withoutRest(t, path, { waits = "continue", rest = REST } = {}) {
  const context = await browser.newContext({ locale: "en-US", reducedMotion: "reduce" });
  t.after(() => context.close());
  const waited = [];
  // Neither it nor the parts, which would bring it.
  await context.route(PART, (route) => (/-(?:mount|shared)\./.test(route.request().url()) ? route.continue() : undefined));
  await context.route(rest, (route) => {
    if (route.request().resourceType() !== "xhr") return;
    waited.push(route.request().url());
    return route[waits]();
  });
  const page = await context.newPage();
  await page.goto(path);
  return { page, waited };
}

test("the page's first picture does not wait for the rest of the program", { skip }, async (t) => {
  const { page, waited } = await withoutRest(t, server.url);
  await page.locator(".tale").waitFor();
  await page.waitForFunction(() => window.deltascope !== undefined);
  assert.deepEqual(waited, [], "make starts");
});

// What the page and elements like the sandbox need comes for these elements after their first picture.
for (const [what, element, rest] of [
  ["first", '<delta-scope lesson="first-look" load="eager"></delta-scope>', /-(?:page|more|rest)\.wasm/],
  ["larger", '<delta-scope lesson="sandbox" controls="full" load="eager"></delta-scope>', /-(?:page|rest)\.wasm/],
]) {
  test(`an element's ${what} picture does not wait for the rest of the program`, { skip }, onHost({ "index.html": hostPage(element) }, async (host, t) => {
    const { page, waited } = await withoutRest(t, `${host.url}index.html`, { rest });
    await page.locator("delta-scope .stage .room").first().waitFor();
    assert.deepEqual(waited, [], "make starts");
  }));
}

test("an element that shows more than one before it has that fetched, and says if it does not come", { skip }, onHost({
  "index.html": hostPage('<delta-scope lesson="first-look" load="eager"></delta-scope>'),
}, async (host, t) => {
  const { page } = await withoutRest(t, `${host.url}index.html`);
  await page.locator("delta-scope .stage .room").first().waitFor();
  const more = /-more\.wasm/;
  await page.context().route(more, (route) => route.abort());
  const coming = page.waitForRequest(more);
  await page.evaluate(() => document.body.insertAdjacentHTML("beforeend", '<delta-scope id="more" lesson="sandbox" load="eager"></delta-scope>'));
  assert.equal((await coming).resourceType(), "fetch");
  const again = page.locator("#more").getByRole("button", { name: "Try again" });
  await again.waitFor();
  await page.context().unroute(more);
  await again.click();
  await page.locator("#more .stage .room").first().waitFor();
}));

test("what needs the rest before it is there waits for it", { skip }, async (t) => {
  const { page, waited } = await withoutRest(t, server.url);
  await page.locator(".tale").waitFor();
  const step = () => page.evaluate(async () => {
    await deltascope.step(1);
    return deltascope.getState().step;
  });
  assert.equal((await step()) + 1, await step());
  assert.equal(waited.length, 1);
});

test("what needs the rest when it does not come ends the program, which says so", { skip }, async (t) => {
  const { page, waited } = await withoutRest(t, server.url, { waits: "abort" });
  await page.locator(".tale").waitFor();
  await page.keyboard.press("ArrowRight");
  const rescue = page.getByTestId("rescue");
  await rescue.waitFor();
  assert.match(await rescue.innerText(), /a part of it could not be loaded \(\S+-rest\.wasm\S*: .+\)/);
  assert.equal(waited.length, 1);
});
