// A story told elsewhere: by scripts, in an element, in a frame.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../harness.mjs";
import { STRICT, hosts, page } from "../hosts.mjs";

const { onPage } = suite();
const onHost = hosts();
const html = (body) => ({ "index.html": page(body) });
const STORY = '<delta-scope lesson="first-look" mode="story" speed="8" load="eager"></delta-scope>';
const QUIZ = STORY.replace("story", "quiz");

/** The story's events, in order, with the markers that were passed meanwhile. */
const events = (host) =>
  host.page.evaluate(() =>
    told.filter(({ name }) => ["scene", "answer", "goal", "marker"].includes(name)).map(({ name, detail }) => [name, detail.index ?? detail.id ?? detail.right ?? detail.text]));

test("scripts go through a story in an element, and hear of each thing once", onHost(html(STORY), { headers: STRICT }, async (host) => {
  await host.ready();
  assert.deepEqual((await host.state()).scene.index, 1);
  for (const index of [2, 3, 4]) {
    await host.call("next");
    const { scene, playing } = await host.state();
    assert.deepEqual([scene.index, playing], [index, false], "the promise waits for the play");
  }
  assert.equal((await host.state()).scene.question.answered, null);
  await host.call("answer", 0);
  const answered = (await host.state()).scene;
  assert.deepEqual([answered.index, answered.question.answered, answered.question.right], [4, 0, false]);
  await host.call("back");
  await host.call("next");
  await host.call("back");
  await host.call("answer", 2);
  await host.call("scene", 7);
  assert.deepEqual((await host.state()).goal.reached, false);
  for (const object of ["cut", "web-1"]) {
    const deleted = { op: "delete", object: { metadata: { namespace: "default", name: object } } };
    await host.call("inject", object === "cut" ? { op: "cut" } : deleted);
  }
  await host.look((element, root) => root.querySelector('[data-testid="btn-compact"]').click());
  await host.call("seek", 1_000_000);
  assert.equal((await host.state()).goal.reached, true);
  await host.call("step", -1);
  await host.call("step", 1);
  const [text] = (await host.told("goal")).map(({ detail }) => detail.text);
  const expected = [
    ["marker", "watching"], ["scene", 1], ["scene", 2], ["marker", "sent"], ["scene", 3], ["marker", "queued"], ["scene", 4], ["marker", "piled"],
    ["marker", "called"], ["answer", false],
    ["marker", "piled"], ["scene", 5], ["marker", "called"], ["marker", "piled"], ["scene", 4], ["marker", "called"], ["answer", true],
    ["marker", "yours"], ["scene", 7], ["goal", text],
  ];
  assert.deepEqual(await events(host), expected);
  assert.deepEqual((await host.told("answer"))[0].detail, { scene: 4, answered: 0, right: false });
  assert.deepEqual((await host.told("scene"))[0].detail, { index: 1, of: 7 });
  await host.call("reset");
  const { scene, step } = await host.state();
  assert.equal(scene.index, 1);
  await host.call("seek", "watching");
  assert.equal((await host.state()).step, step);
}));

test("in an element the keys still tell the story after an answer and a hint", onHost(html(STORY), async (host) => {
  await host.ready();
  const press = async (id) => {
    await host.page.getByTestId(id).first().focus();
    await host.page.keyboard.press("Enter");
  };
  const focused = () => host.look((element, root) => root.activeElement?.className);
  await host.call("scene", 4);
  await press("answer");
  assert.equal(await focused(), "tale");
  await host.page.getByTestId("verdict").waitFor();
  await host.page.keyboard.press("ArrowRight");
  await host.page.waitForFunction(() => document.querySelector("delta-scope").getState().scene.index === 5);
  await host.call("scene", 7);
  await press("hint");
  assert.equal(await focused(), "tale");
}));

test("a quiz goes from question to question, and attributes choose what is told", onHost(html(QUIZ), async (host) => {
  await host.ready();
  const scene = async () => (await host.state()).scene?.index ?? null;
  const shown = () => host.look((element, root) => root.querySelector('[data-testid="scene-number"]')?.textContent);
  assert.deepEqual([await scene(), await shown()], [4, "Question 1 of 2"]);
  await host.call("next");
  assert.deepEqual([await scene(), await shown()], [6, "Question 2 of 2"]);
  await host.call("answer", null);
  assert.equal((await host.state()).scene.question.answered, "shown");
  assert.equal((await host.told("answer"))[0].detail.right, null);
  await host.call("next");
  assert.equal(await scene(), 6);
  const set = (name, value) => host.page.evaluate(([key, to]) => document.querySelector("delta-scope").setAttribute(key, to), [name, value]);
  const becomes = (index) => host.until((wanted) => (document.querySelector("delta-scope").getState()?.scene?.index ?? null) === wanted, index);
  await set("scene", "2");
  await becomes(4);
  await set("mode", "story");
  await becomes(2);
  assert.equal(await shown(), "2 of 7");
  await set("mode", "watch");
  await becomes(null);
  await set("mode", "story");
  await becomes(2);
  // A framework sets the attribute through the property.
  await host.page.evaluate(() => { document.querySelector("delta-scope").scene = "5"; });
  await becomes(5);
  await host.call("reset");
  assert.equal(await scene(), 5, "where `scene` says");
}));

test("what cannot be told or answered is reported", onHost(html(STORY), { provokes: /x/ }, async (host) => {
  await host.ready();
  const wrong = (method, ...args) => host.call(method, ...args).then(() => "", ({ message }) => message);
  assert.match(await wrong("answer", 1), /nothing is asked here/);
  await host.call("scene", 4);
  assert.match(await wrong("answer", 3), /3 is no answer to this question\. Give the number of a choice, 0 to 2/);
  assert.match(await wrong("answer", "one"), /"one" is no answer/);
  assert.equal((await host.state()).scene.question.answered, null);
  await host.call("scene", 99);
  assert.equal((await host.state()).scene.index, 7, "the nearest");
  const scenario = { settings: { machinery: "shared" } };
  for (const [story, words] of [
    [undefined, /this lesson has no story\. Choose one that has \(first-look/],
    [{ theme: "queue", minutes: 1, eras: ["1.32"], scenes: [{ at: "start" }] }, /story cannot be read: entry 1 of scenes: a scene needs the field "say"/],
  ]) {
    assert.match(await wrong("load", { scenario, story }), words);
    assert.equal((await host.state()).scene.index, 7, "what was told stays");
  }
}));

const AROUND = `<iframe src="deltascope/embed.html#v1;lesson=first-look;mode=story;speed=8" title="a story" width="1000" height="600"></iframe>
<script type="module">
  const frame = document.querySelector("iframe").contentWindow;
  globalThis.heard = [];
  const waiting = new Map();
  addEventListener("message", ({ data }) => {
    if (data.type === "EVENT") heard.push([data.name, data.detail]);
    waiting.get(data.id)?.(data);
  });
  globalThis.ask = (type, ...args) => new Promise((resolve) => {
    const id = type + waiting.size;
    waiting.set(id, resolve);
    frame.postMessage({ ns: "deltascope", v: 1, id, type, args }, "*");
  });
  globalThis.shaken = (async () => {
    while (!(await Promise.race([ask("PING"), new Promise((resolve) => setTimeout(resolve, 50))])));
  })();
</script>`;

test("a frame takes the messages of a story, and sends its events", onHost(html(AROUND), async (host) => {
  await host.until(() => globalThis.shaken);
  await host.page.evaluate(() => shaken);
  const ask = (type, ...args) => host.page.evaluate(([name, given]) => ask(name, ...given), [type, args]);
  const at = async (type, ...args) => {
    const { ok, value, error } = await ask(type, ...args);
    assert.ok(ok, error);
    return [value.scene.index, value.scene.question?.answered ?? null];
  };
  assert.deepEqual(await at("scene", 3), [3, null]);
  assert.deepEqual(await at("next"), [4, null]);
  assert.deepEqual(await at("answer", 2), [4, 2]);
  // It is asked again.
  assert.deepEqual(await at("back"), [4, null]);
  const { ok, error } = await ask("answer", 7);
  assert.ok(!ok && /is no answer/.test(error), error);
  const heard = await host.page.evaluate(() => heard.filter(([name]) => /^ds-(?:scene|answer|goal)$/.test(name)));
  const of = (index) => ["ds-scene", { index, of: 7 }];
  assert.deepEqual(heard.slice(-3), [of(3), of(4), ["ds-answer", { scene: 4, answered: 2, right: true }]]);
  // Its link opens the same scene, in a frame as well.
  const { value: link } = await ask("getUrl");
  assert.match(link, /embed\.html#v1;lesson=first-look;.*scene=4;/);
  await host.page.goto(link);
  await host.ready();
  assert.equal((await host.state()).scene.index, 4);
}));

test("a link with what the reader did opens its scene in a frame", onHost(html(AROUND), { open: false }, async (host) => {
  await host.page.goto(`${host.url}deltascope/embed.html#v1;lesson=first-look;scene=7`);
  await host.ready();
  await host.call("inject", { op: "create", object: { metadata: { namespace: "default", name: "mine" } } });
  const link = await host.call("getUrl");
  assert.match(link, /scene=7;.*i=/);
  await host.page.goto("about:blank");
  await host.page.goto(link);
  await host.ready();
  const { scene, api } = await host.state();
  assert.equal(scene.index, 7);
  assert.ok("default/mine" in api.objects);
}));

test("scripts go through a story on the page, which emits the same events", onPage({ lesson: "first-look" }, async (app) => {
  await app.page.evaluate(() => {
    globalThis.told = [];
    for (const name of ["scene", "answer", "goal"]) addEventListener(`ds-${name}`, ({ detail }) => told.push([name, detail]));
  });
  await app.call("next");
  assert.equal((await app.state()).scene.index, 1, "it begins");
  await app.call("next");
  const { scene, playing } = await app.state();
  assert.deepEqual([scene.index, playing], [2, false]);
  await app.call("scene", 4);
  await app.call("answer", 2);
  assert.deepEqual(await app.page.evaluate(() => told), [
    ["scene", { index: 1, of: 7 }], ["scene", { index: 2, of: 7 }], ["scene", { index: 4, of: 7 }], ["answer", { scene: 4, answered: 2, right: true }],
  ]);
  await app.call("answer", "x");
  assert.match((await app.state()).error.message, /is no answer/);
}));
