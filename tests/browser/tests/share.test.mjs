// Links and files: another visitor sees what one visitor shares.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LAPTOP, PHONE, suite } from "../harness.mjs";

const { onPage } = suite();

let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), "deltascope-share-"))));
after(() => rm(folder, { recursive: true, force: true }));

const pod = (name) => ({ metadata: { namespace: "default", name, labels: { app: "mine" } } });

/** Without the computed length of an endless run, which differs between pages, and without whose changes are in it: where it is
    opened, nobody has changed it yet. */
const shown = ({ steps, branches, ...state }) => ({ ...state, branches: branches.map(({ made, ...branch }) => branch) });

/** Acts on the sandbox, in another generation, and stops between two markers. */
const play = async (app) => {
  await app.call("setEra", "1.36");
  await app.call("inject", { op: "create", object: pod("shared") });
  await app.call("step", 40);
  await app.call("inject", { op: "cut" });
  await app.call("step", 25);
  await app.call("inject", { op: "delete", object: pod("shared") });
  await app.call("step", -9);
  return shown(await app.state());
};
const url = (app) => app.call("getUrl");

test("a link opens in a fresh profile at the same moment with the same picture", onPage({ lesson: "sandbox" }, async (app) => {
  const state = await play(app);
  const link = await url(app);
  assert.match(link, /#v1;lesson=sandbox;era=1\.36;at=t:\d+\+\d+;i=[\w-]+$/);
  assert.ok(link.length < 1000, `${link.length}: ${link}`);
  for (const options of [{}, { lang: "zh", theme: "dark" }, { viewport: PHONE }]) {
    await app.elsewhere({ ...options, link }, async (other) => {
      assert.deepEqual(shown(await other.state()), state);
      assert.equal(await url(other), link, "and the link of the link is the link");
      await other.call("step", 30);
    });
  }
  await app.call("step", 30);
}));

test("links to moments of two lessons open one after the other in a tab", onPage({}, async (app) => {
  const links = [];
  for (const lesson of ["deltafifo", "sharedinformer-simulate"]) {
    await app.call("load", lesson);
    await app.call("step", 1);
    links.push([await url(app), shown(await app.state())]);
    await app.toEnd();
    links.push([await url(app), shown(await app.state())]);
    await app.call("seek", 0);
    links.push([await url(app), shown(await app.state())]);
  }
  for (const [link, state] of links) {
    // As a user who pastes another link into the same tab.
    await app.page.goto(link);
    const opened = await app.eventually(link, (s) => s.lesson === state.lesson && s.step === state.step);
    assert.deepEqual(shown(opened), state);
  }
}));

test("a page that was opened by a link opens it again when it is loaded anew", onPage({ lesson: "sandbox" }, async (app) => {
  const state = await play(app);
  const link = await url(app);
  await app.elsewhere({ link }, async (other) => {
    await other.call("load", "deltafifo");
    await other.reload();
    assert.deepEqual(shown(await other.state()), state);
  });
}));

const HOSTILE = {
  "a later version": ["#v2;lesson=sandbox;x=1", /newer page/],
  "no version": ["#lesson=sandbox;at=listed", /v1/],
  "an unknown lesson": ["#v1;lesson=nothing", /"nothing"/],
  "an unknown generation": ["#v1;lesson=sandbox;era=9", /era/],
  "an unknown marker": ["#v1;lesson=sandbox;at=nowhere", /nowhere.*kept-delete/],
  "a bare number": ["#v1;lesson=sandbox;at=500", /"500"/],
  "a moment that never comes": ["#v1;lesson=reflector;at=input:999", /input:999/],
  "inputs that were cut off": ["#v1;lesson=sandbox;i=jZLNTsMwEIRfxXI", /damaged/],
  "inputs that are none": ["#v1;lesson=sandbox;i=????", /damaged/],
  "markup": ["#v1;lesson=<img src=x onerror=alert(1)>", /There is no lesson/],
  "half an escape": ["#v1;lesson=%E4%B8", /damaged/],
};

test("a bad link gives a message, and the page stays as it is", onPage({ lesson: "deltafifo" }, async (app) => {
  await app.call("seek", 3);
  const before = await app.state();
  for (const [what, [fragment, words]] of Object.entries(HOSTILE)) {
    await app.page.evaluate((hash) => (location.hash = hash), fragment);
    const state = await app.eventually(`an error for ${what}`, (s) => s.error && words.test(s.error.message));
    assert.ok(await app.id("error").isVisible(), what);
    assert.deepEqual({ ...state, error: null }, before, what);
  }
  await app.call("step", 1);
  assert.equal((await app.state()).step, 4, "it can still be stepped");
}));

test("a page opened by a bad link shows a message, and the run that it shows without a link", onPage({}, async (app) => {
  const plain = await app.state();
  for (const what of ["a later version", "inputs that were cut off", "markup"]) {
    const [fragment, words] = HOSTILE[what];
    await app.elsewhere({ link: app.url + fragment }, async (other) => {
      const opened = await other.state();
      assert.match(opened.error.message, words);
      assert.ok(await other.id("error").isVisible(), what);
      assert.deepEqual({ ...opened, error: null }, plain, what);
    });
  }
}));

test("the tab copies the link, and shows it where there is no clipboard", onPage({ viewport: LAPTOP }, async (app) => {
  await app.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(app.url).origin });
  await play(app);
  await app.id("btn-share").click();
  assert.equal(await app.id("share-link").inputValue(), await url(app));
  await app.id("btn-copy-link").click();
  await app.page.waitForFunction(() => /Copied/.test(document.querySelector("[data-testid=share-status]").textContent));
  assert.equal(await app.page.evaluate(() => navigator.clipboard.readText()), await url(app));
  await app.call("step", 1);
  assert.equal(await app.id("share-link").inputValue(), await url(app), "it follows");
  await app.page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await app.id("btn-copy-link").click();
  await app.page.waitForFunction(() => /Ctrl/.test(document.querySelector("[data-testid=share-status]").textContent));
  const selected = await app.page.evaluate(() => {
    const field = document.querySelector("[data-testid=share-link]");
    return field.value.slice(field.selectionStart, field.selectionEnd);
  });
  assert.equal(selected, await url(app));
}));

test("a trace goes out as a file and comes back as the same run", onPage({ lesson: "sandbox" }, async (app) => {
  const state = await play(app);
  await app.id("btn-share").click();
  const downloading = app.page.waitForEvent("download");
  await app.id("btn-trace").click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), "deltascope-sandbox.jsonl");
  const path = join(folder, "run.jsonl");
  await download.saveAs(path);
  const text = await readFile(path, "utf8");
  assert.equal(text, await app.call("exportTrace"));
  assert.match(text, /^\{"deltascope":1,/);
  assert.equal(text.trim().split("\n").filter((line) => JSON.parse(line).op).length, 3);
  await app.elsewhere({ lesson: "deltafifo" }, async (other) => {
    await other.drop(path);
    const opened = await other.eventually("it is open", (s) => s.lesson === "sandbox");
    assert.deepEqual(shown(opened), state);
    assert.equal(await url(other), await url(app), "it can be shared as a link again");
  });
  await app.elsewhere({ lesson: "deltafifo" }, async (other) => {
    await other.id("btn-share").click();
    const chooser = other.page.waitForEvent("filechooser");
    await other.id("btn-import").click();
    await (await chooser).setFiles([path]);
    const opened = await other.eventually("it is open", (s) => s.lesson === "sandbox");
    assert.deepEqual(shown(opened), state);
  });
  // A spoiled line: the part before it plays, and the error names the line.
  const lines = text.split("\n");
  lines[3] = lines[3].slice(0, 20);
  await writeFile(path, lines.join("\n"));
  await app.elsewhere({ lesson: "deltafifo" }, async (other) => {
    await other.call("openText", "run.jsonl", lines.join("\n"));
    const opened = await other.state();
    assert.equal(opened.lesson, "sandbox");
    assert.equal(opened.error.line, 4);
  });
}));

test("a bad trace gives a message, and the page goes on", onPage({ lesson: "deltafifo" }, async (app) => {
  const head = '{"deltascope":1}\n';
  const scenario = (value) => `${head}${JSON.stringify({ scenario: value })}\n`;
  const crowd = { machinery: "shared", resyncMs: 1, handlers: Array(200).fill({ onUpdate: ["{name}"] }) };
  const initial = [{ metadata: { name: "a" } }];
  for (const [what, text, words, opens] of [
    ["a later version", '{"deltascope":2}\n', /newer page/, false],
    ["only a header", head, /scenario/, false],
    ["no end of brackets", `${head}${"[".repeat(100_000)}`, /recursion/, false],
    ["a number without end", scenario({ traffic: 1e300 }), /traffic/, false],
    ["more handlers than there is room for", scenario({ settings: { handlers: Array(201).fill({}) } }), /201 handlers/, false],
    ["an input in a million years", `${scenario({ traffic: 1 })}{"at":1000000000000,"op":"cut"}\n`, /first 0 of 1/, true],
    ["a crowd", `${scenario({ settings: crowd, initial })}{"at":1000000000000,"op":"cut"}\n`, /first 0 of 1/, true],
    ["failures without end", scenario({ settings: { ...crowd, handlers: [{ queues: true }], work: { failures: 4e9 } }, initial, at: 1 }), /"at"/, false],
  ]) {
    await app.call("load", "deltafifo");
    await app.call("openText", "bad.jsonl", text);
    const state = await app.state();
    assert.match(state.error?.message ?? "", words, what);
    assert.ok(await app.id("error").isVisible(), what);
    assert.equal(state.lesson, opens ? "file:bad.jsonl" : "deltafifo", what);
    await app.call("step", 1);
    assert.ok((await app.state()).step > 0, what);
  }
}));

test("a recording from a file goes out as a trace, and says that no link carries it", onPage({}, async (app) => {
  const body = (name, rv, type) =>
    JSON.stringify({ type, object: { kind: "Pod", apiVersion: "v1", metadata: { name, namespace: "a", resourceVersion: rv } } });
  await app.call("openText", "mine.json", `${body("x", "5", "ADDED")}\n${body("x", "6", "DELETED")}\n`);
  await app.call("step", 12);
  const state = await app.state();
  assert.equal(await url(app), null);
  await app.id("btn-share").click();
  assert.match(await app.id("share-no-link").innerText(), /Download the trace/);
  const trace = await app.call("exportTrace");
  await app.elsewhere({}, async (other) => {
    await other.call("openText", "again.jsonl", trace);
    assert.deepEqual({ ...(await other.state()), lesson: state.lesson }, state, "all but its name");
  });
}));

test("a transcript describes the run in words, in both languages", onPage({ lesson: "reflector" }, async (app) => {
  const told = () => app.call("exportTranscript");
  const { steps } = await app.state();
  const text = await told();
  assert.ok(text.split("\n").length > steps, "a line for each fact");
  assert.match(text, /I deleted the Pod\. Why was OnDelete never called\?/);
  assert.match(text, /nettool/);
  await app.language("zh");
  assert.match(await told(), /Pod 已经删了/);
}));

test("a link that comes while the page is still drawn is opened, and not the one before it", onPage({}, async (app) => {
  const page = await app.context.newPage();
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector(".stage")) return;
      observer.disconnect();
      history.replaceState(null, "", "#v1;lesson=indexer");
      dispatchEvent(new HashChangeEvent("hashchange"));
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(`${app.url}#v1;lesson=tombstone`);
  await page.waitForFunction(() => window.deltascope !== undefined);
  await page.evaluate(() => window.deltascope.drawn);
  await page.waitForFunction(() => window.deltascope.getState().lesson === "indexer");
  await page.evaluate(() => window.deltascope.step(1));
  assert.equal(await page.evaluate(() => window.deltascope.getState().lesson), "indexer");
}));
