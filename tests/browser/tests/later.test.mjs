// What comes after the first picture of a released program: what is shown without it, what waits for it, and what is said if it does
// not come.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startApi } from "../apiserver.mjs";
import { DIST, IS_SPLIT, LATER, OWN, SELDOM, launch } from "../harness.mjs";
import { hosts, page as hostPage } from "../hosts.mjs";
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

/** The page with its first picture, and a switch that lets the rest come. With `holds` it neither comes nor fails until
    `release`. What the program cannot go on without comes in any case, and is in `forced`. */
async function withoutRest(t, { url = server.url, hash = "", firstVisit = false, shelf = "off", holds = false, rest = LATER } = {}) {
  const context = await browser.newContext({ locale: "en-US", reducedMotion: "reduce" });
  t.after(() => context.close());
  if (!firstVisit) {
    await context.addInitScript((shelf) => {
      localStorage.setItem("deltascope.seen", "1");
      localStorage.setItem("deltascope.shelf", shelf);
    }, shelf);
  }
  const net = { isUp: false, forced: [] };
  const released = new Promise((release) => (net.release = (isUp = true) => release((net.isUp = isUp))));
  await context.route(rest, async (route) => {
    if (route.request().resourceType() === "xhr") {
      net.forced.push(route.request().url());
      return route.continue();
    }
    if (holds) await released;
    return net.isUp ? route.continue() : route.abort();
  });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(url + hash);
  await page.waitForFunction(() => window.deltascope !== undefined);
  if (!holds) await page.evaluate(() => window.deltascope.drawn);
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

test("the first picture needs nothing that comes later, nor does what says that it does not come", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutRest(t, { firstVisit: true });
  const words = () => page.locator(".tale").innerText();
  const before = await words();
  await page.getByTestId("story-next").click();
  await said.waitFor();
  assert.equal(await words(), before);
  await page.keyboard.press("Escape");
  await said.waitFor({ state: "detached" });
  assert.deepEqual(net.forced, [], "make starts");
  assert.equal(await page.evaluate(() => deltascope.getUrl()), null, "no rest, no link");
  net.isUp = true;
  await page.getByTestId("story-next").click();
  await page.waitForFunction((before) => document.querySelector(".tale").innerText !== before, before);
  assert.deepEqual(errors, []);
});

test("the rest comes right after the first picture, also where data is saved, but not what else only the page has", { skip }, async (t) => {
  const context = await browser.newContext({ locale: "en-US" });
  t.after(() => context.close());
  await context.addInitScript(() => Object.defineProperty(navigator, "connection", { value: { saveData: true } }));
  const page = await context.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(server.url);
  await page.waitForFunction(() => window.deltascope !== undefined);
  await page.evaluate(() => window.deltascope.drawn);
  assert.ok(asked.some((url) => /-rest\./.test(url)));
  await page.getByTestId("btn-lessons").click();
  await page.locator(".shelf").waitFor();
  assert.equal(asked.findIndex((url) => OWN.test(url)), asked.length - 1, "only then");
});

test("what neither a lesson nor a room needs comes when a command needs it, and what is said after it waits", { skip }, async (t) => {
  const { page, net, errors } = await withoutRest(t, { rest: SELDOM, holds: true });
  const asked = [];
  page.on("request", (request) => SELDOM.test(request.url()) && asked.push(request.resourceType()));
  await page.evaluate(async () => {
    await deltascope.drawn;
    await deltascope.load("tombstone");
    await deltascope.step(5);
  });
  assert.deepEqual(asked, []);
  const said = page.evaluate(() => Promise.all([deltascope.compare("1.36"), deltascope.step(3), deltascope.compare("1.34")]));
  await page.getByTestId("opening").waitFor();
  assert.equal(await page.evaluate(() => deltascope.getState().step), 5);
  net.release();
  await said;
  const { step, comparison } = await page.evaluate(() => deltascope.getState());
  assert.deepEqual([step, comparison !== null, asked], [8, true, ["fetch"]]);
  assert.deepEqual(errors, []);
});

test("without what exports need they say so, and the run goes on", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutRest(t, { rest: SELDOM });
  await page.evaluate(() => deltascope.ready);
  const exported = await page.evaluate(() => [deltascope.getUrl(), deltascope.exportTrace(), deltascope.exportTranscript(), deltascope.exportSvg()]);
  assert.deepEqual(exported, [null, null, null, null]);
  const done = page.evaluate(async () => {
    await deltascope.play();
    await deltascope.compare("1.36");
    return deltascope.getState().step;
  });
  await said.waitFor();
  const before = await done;
  await page.waitForFunction((before) => deltascope.getState().step > before, before);
  assert.deepEqual([net.forced, errors], [[], []]);
});

const SELDOM_WITH_STYLES = new RegExp(`${SELDOM.source}|/seldom-\\w+\\.css`);
for (const [what, open, isOpen, rest] of [
  ["the shelf", "btn-lessons", ".shelf", OWN],
  ["the dialog of a cluster", "btn-cluster", "dialog.cluster[open]", SELDOM_WITH_STYLES],
  ["a tab of the drawer", "btn-share", "[data-testid=share-link]", SELDOM_WITH_STYLES],
]) {
  test(`what is fetched is said, and if it does not come; it is fetched again when it is asked for: ${what}`, { skip }, async (t) => {
    const { page, net, said, errors } = await withoutRest(t, { rest, holds: true });
    await page.getByTestId(open).click();
    await opening(page).filter({ hasText: "Loading a part" }).waitFor();
    net.release(false);
    await said.waitFor();
    assert.equal(await opening(page).count(), 0);
    assert.equal(await page.locator(isOpen).count(), 0);
    net.isUp = true;
    const drawer = page.locator(".drawer");
    if ((await drawer.count()) > 0) {
      // It has its place without what its tabs show.
      const places = await drawer.evaluate((one) => [getComputedStyle(one).gridRowEnd, one.closest(".grid").scrollHeight <= one.closest(".grid").clientHeight]);
      assert.deepEqual(places, ["-1", true]);
      // Its button would close it.
      await drawer.getByRole("tab", { selected: true }).click();
    } else {
      await page.getByTestId(open).click();
    }
    await page.locator(isOpen).waitFor();
    assert.deepEqual([net.forced, errors], [[], []]);
  });
}

test("nothing stops the page where somebody comes back to the lessons", { skip }, async (t) => {
  const { page, net, errors } = await withoutRest(t, { shelf: "", holds: true });
  await page.locator(".shelf, .masthead").first().waitFor();
  await opening(page).waitFor();
  net.release();
  await page.locator(".shelf [data-testid^=card-]").first().waitFor();
  assert.deepEqual([net.forced, errors], [[], []], "make starts");
});

test("a link is opened once the rest is there", { skip }, async (t) => {
  const { page, net, said } = await withoutRest(t, { hash: "#v1;lesson=tombstone" });
  await said.waitFor();
  assert.deepEqual(net.forced, [], "make starts");
  net.isUp = true;
  await page.reload();
  await page.waitForFunction(() => window.deltascope !== undefined);
  assert.equal(await page.evaluate(async () => {
    await deltascope.drawn;
    return deltascope.getState().lesson;
  }), "tombstone");
});

/** What a run of things said ends at, if all is there. */
async function whole(t, say) {
  const { page, net, errors } = await withoutRest(t, { holds: true });
  net.release();
  await page.evaluate(() => window.deltascope.drawn);
  await say(page);
  assert.deepEqual(errors, []);
  return page.evaluate(() => deltascope.getState());
}

const opening = (page) => page.getByTestId("opening");
// `getState` would have the program ask for the rest at once.
const place = (page) => page.getByTestId("scrubber").inputValue();

test("what is said while the rest is fetched waits, and is done once it is there", { skip }, async (t) => {
  const say = async (page) => {
    for (let times = 0; times < 3; times += 1) await page.keyboard.press("ArrowRight");
  };
  const wanted = await whole(t, say);
  const { page, net, errors } = await withoutRest(t, { holds: true });
  const before = await place(page);
  await say(page);
  await opening(page).waitFor();
  assert.equal(await place(page), before, "nothing happens before");
  assert.deepEqual(net.forced, [], "make starts");
  net.release();
  await opening(page).waitFor({ state: "detached" });
  await page.waitForFunction((step) => deltascope.getState().step === step, wanted.step);
  assert.deepEqual(await page.evaluate(() => deltascope.getState()), wanted);
  assert.deepEqual(errors, []);
});

test("calls of a script before the rest is there are done and answered in their order", { skip }, async (t) => {
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
  const { page, net, errors } = await withoutRest(t, { holds: true });
  const answered = say(page);
  net.release();
  assert.deepEqual(await answered, [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(await page.evaluate(() => deltascope.getState()), wanted);
  assert.deepEqual(errors, []);
});

test("what is said after connect before the rest is there is for the cluster's run", { skip }, async (t) => {
  const api = await startApi();
  api.generate("pods", 5);
  const front = await serve(DIST, { api: api.url });
  const { page, net, errors } = await withoutRest(t, { url: front.url, holds: true });
  t.after(async () => {
    await page.context().close();
    await front.close();
    await api.close();
  });
  const answered = page.evaluate(() => Promise.all([deltascope.connect(), deltascope.follow("default/web-0")]));
  net.release();
  await answered;
  assert.ok(await page.evaluate(() => deltascope.getState().live));
  // Its run knows the object once it is listed.
  await page.waitForFunction(() => deltascope.getState().following === "default/web-0");
  assert.deepEqual(errors, []);
});

test("Escape ends the wait, and what waited does not happen", { skip }, async (t) => {
  const { page, net, errors } = await withoutRest(t, { holds: true });
  const before = await place(page);
  for (const _ of [1, 2]) await page.keyboard.press("ArrowRight");
  await opening(page).waitFor();
  await page.keyboard.press("Escape");
  await opening(page).waitFor({ state: "detached" });
  assert.deepEqual(net.forced, [], "make starts");
  net.release();
  await page.evaluate(() => deltascope.drawn);
  assert.equal(await place(page), before);
  const steps = await page.evaluate(async () => {
    const { step } = deltascope.getState();
    await deltascope.step(1);
    return deltascope.getState().step - step;
  });
  assert.equal(steps, 1, "the page goes on");
  assert.deepEqual(errors, []);
});

test("if the rest does not come, nothing that waited happens, and one message says so", { skip }, async (t) => {
  const { page, net, said, errors } = await withoutRest(t, { holds: true });
  const before = await place(page);
  for (const _ of [1, 2]) await page.keyboard.press("ArrowRight");
  await opening(page).waitFor();
  net.release(false);
  await said.waitFor();
  assert.equal(await said.count(), 1);
  assert.equal(await place(page), before);
  assert.deepEqual([net.forced, errors], [[], []]);
});

test("an element with many objects is drawn once the rest is there", { skip }, onHost({ "index.html": hostPage("") }, async (host) => {
  const other = await host.page.context().newPage();
  const errors = [];
  other.on("pageerror", (error) => errors.push(error));
  await other.route(LATER, (route) => route.abort());
  await other.goto(`${host.url}index.html`);
  const initial = Array.from({ length: 100 }, (_, at) => ({ metadata: { namespace: "default", name: `web-${at}` } }));
  const scenario = JSON.stringify({ settings: { era: "1.36" }, initial });
  await other.evaluate((text) => (document.body.innerHTML = `<delta-scope load="eager" at="end"><script type="application/json">${text}</script></delta-scope>`), scenario);
  const again = other.locator("delta-scope").getByRole("button", { name: "Try again" });
  await again.waitFor();
  await other.unroute(LATER);
  await again.click();
  await other.locator("delta-scope [data-testid=density-objects]").waitFor();
  assert.deepEqual(errors, []);
}));

test("an element that is removed while it waits leaves nothing behind", { skip }, onHost({ "index.html": hostPage("") }, async (host) => {
  const other = await host.page.context().newPage();
  const errors = [];
  other.on("pageerror", (error) => errors.push(error));
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await other.route(LATER, async (route) => {
    if (route.request().resourceType() === "xhr") return route.continue();
    await released;
    return route.continue();
  });
  await other.goto(`${host.url}index.html`);
  const asked = other.waitForRequest(LATER);
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
  await asked;
  release();
  await other.evaluate(() => document.getElementById("b").drawn);
  await other.waitForFunction(() => document.getElementById("b").getState().step > 0);
  assert.deepEqual(errors, []);
}));

/** Which files of the program were asked for while the page waited. Those that it asks for otherwise do not come. */
async function waiting(t, path, { waits = () => "continue", rest = LATER } = {}) {
  const context = await browser.newContext({ locale: "en-US", reducedMotion: "reduce" });
  t.after(() => context.close());
  const waited = [];
  await context.route(rest, (route) => {
    if (route.request().resourceType() !== "xhr") return;
    waited.push(route.request().url());
    return route[waits()]();
  });
  const page = await context.newPage();
  await page.goto(path);
  return { page, waited };
}

test("the page's first picture does not wait for the rest of the program", { skip }, async (t) => {
  const { page, waited } = await waiting(t, server.url);
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
    const { page, waited } = await waiting(t, `${host.url}index.html`, { rest });
    await page.locator("delta-scope .stage .room").first().waitFor();
    assert.deepEqual(waited, [], "make starts");
  }));
}

test("an element that shows more than one before it has that fetched, and says if it does not come", { skip }, onHost({
  "index.html": hostPage('<delta-scope lesson="first-look" load="eager"></delta-scope>'),
}, async (host, t) => {
  // From the begin on: the first element fetches it, too, once its picture is there.
  const { page } = await waiting(t, "about:blank");
  const more = /-more\.wasm/;
  await page.context().route(more, (route) => route.abort());
  await page.goto(`${host.url}index.html`);
  await page.locator("delta-scope .stage .room").first().waitFor();
  const coming = page.waitForRequest(more);
  await page.evaluate(() => document.body.insertAdjacentHTML("beforeend", '<delta-scope id="more" lesson="sandbox" load="eager"></delta-scope>'));
  assert.equal((await coming).resourceType(), "fetch");
  const again = page.locator("#more").getByRole("button", { name: "Try again" });
  await again.waitFor();
  await page.context().unroute(more);
  await again.click();
  await page.locator("#more .stage .room").first().waitFor();
}));

// What a script asks for before `ready`.
const asks = (page) => page.evaluate(() => deltascope.getState().steps > 0).catch((error) => error.message);

test("what needs the rest before it is there waits for it, and for nothing else", { skip }, async (t) => {
  const { page, waited } = await waiting(t, server.url);
  await page.locator(".tale").waitFor();
  await page.waitForFunction(() => window.deltascope !== undefined);
  assert.equal(await asks(page), true);
  assert.deepEqual(waited.map((url) => url.match(LATER)?.[0].split("-").at(-1)), ["rest.wasm"]);
});

test("what needs the rest asks a second time when it does not come", { skip }, async (t) => {
  let failed = 0;
  const { page, waited } = await waiting(t, server.url, { waits: () => (failed++ ? "continue" : "abort") });
  await page.locator(".tale").waitFor();
  await page.waitForFunction(() => window.deltascope !== undefined);
  assert.equal(await asks(page), true);
  assert.equal(waited.length, 2);
});

test("what needs the rest when it does not come ends the program, which says so", { skip }, async (t) => {
  const { page, waited } = await waiting(t, server.url, { waits: () => "abort" });
  await page.locator(".tale").waitFor();
  await page.waitForFunction(() => window.deltascope !== undefined);
  await asks(page);
  const rescue = page.getByTestId("rescue");
  await rescue.waitFor();
  assert.match(await rescue.innerText(), /a part of it could not be loaded \(\S+-rest\.wasm\S*: .+\)/);
  assert.equal(waited.length, 2);
});
