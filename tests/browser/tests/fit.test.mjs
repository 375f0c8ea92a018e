// What a story says, and what an element's rooms show, is in sight, whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFile, readdir } from "node:fs/promises";
import { LAPTOP, suite } from "../harness.mjs";
import { hosts, page } from "../hosts.mjs";

const { onPage } = suite();
const onHost = hosts();

/** The texts of the rooms of an element, or of the page, that are cut, or that lie on another one. What is scrolled out of sight, or wraps out of
    it as a whole, is not. */
const unfit = () => {
  const root = document.querySelector("delta-scope")?.shadowRoot ?? document;
  // Things slide to their places.
  for (const one of root.getAnimations({ subtree: true })) if (one.effect.getComputedTiming().endTime < Infinity) one.finish();
  const WRAPS = ".requests, .workline .set, .telling > .queue .count";
  const found = [];
  for (const room of root.querySelectorAll(".room")) {
    if (!room.checkVisibility({ visibilityProperty: true })) continue;
    const seen = [];
    const texts = document.createTreeWalker(room, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const of = node.parentElement;
      const shown = node.data.trim() && of.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      const around = [];
      for (let one = of; one !== room.parentElement; one = one.parentElement) around.push(one);
      if (!shown || around.some((one) => getComputedStyle(one).clipPath !== "none")) continue;
      const say = (what) => found.push(`${room.classList[1]}: "${node.data.trim()}" ${what}`);
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) {
        if (box.width === 0) continue;
        let [left, right, top, bottom, scrolls] = [box.left, box.right, box.top, box.bottom, false];
        for (const one of around) {
          const { overflowX, overflowY } = getComputedStyle(one);
          if (overflowX === "visible" && overflowY === "visible") continue;
          const edge = one.getBoundingClientRect();
          scrolls ||= overflowY === "auto" && (box.top < edge.top - 1 || box.bottom > edge.bottom + 1);
          [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
          [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
        }
        const out = right - left < 1 || bottom - top < 2;
        if (out && !scrolls && !of.closest(WRAPS)) say("is out of sight");
        if (out) continue;
        if (box.width - (right - left) > 1.5) say("is cut at a side");
        if (box.height - (bottom - top) > 2 && !scrolls) say("is cut above or below");
        // What stays while the rest scrolls is on a ground of its own.
        const stays = of.closest(".code > :first-child, .split .sub, .drops");
        const over = stays ? undefined : seen.find((one) => {
          const wide = Math.min(right, one.right) - Math.max(left, one.left);
          const high = Math.min(bottom, one.bottom) - Math.max(top, one.top);
          return wide > 1 && high > 3 && !one.of.contains(of) && !of.contains(one.of);
        });
        if (over) say(`lies on "${over.of.textContent.trim()}"`);
        if (!stays) seen.push({ left, right, top, bottom, of });
      }
    }
  }
  return found;
};

for (const width of [700, 850, 1000, 1200]) {
  test(`no text of a room is cut or lies on another in an element of ${width} px`, onHost({ "index.html": page('<div id="place"></div>') }, { viewport: { width: width + 40, height: 900 } }, async (host) => {
    for (const attributes of [{}, { controls: "full" }, { mode: "story" }, { lang: "zh" }]) {
      // Three deltas of a key, and four; and what a list found missing.
      for (const lesson of ["dedup", "tombstone"]) {
        await host.page.evaluate(([width, attributes]) => {
          const element = document.createElement("delta-scope");
          for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
          element.style.width = `${width}px`;
          document.querySelector("#place").replaceChildren(element);
        }, [width, { load: "eager", lesson, ...attributes }]);
        await host.ready();
        for (let before = -1, step = 0, steps = 0; step !== before; steps += 1) {
          before = step;
          step = await host.page.evaluate(async () => {
            const element = document.querySelector("delta-scope");
            await element.step(3);
            for (let n = 0; n < 2; n += 1) await new Promise(requestAnimationFrame);
            return element.getState().step;
          });
          assert.deepEqual(await host.page.evaluate(unfit), [], `${JSON.stringify(attributes)} ${lesson} at fact ${step}`);
          assert.ok(step !== before || steps > 20, `${steps} steps`);
        }
      }
    }
  }));
}

for (const [width, height] of [[900, 800], [950, 900], [1100, 1000]]) {
  test(`no text of a room is cut or lies on another on a page of ${width} by ${height} px`, onPage({ viewport: { width, height } }, async (app) => {
    for (const lang of ["en", "zh"]) {
      await app.language(lang);
      for (const lesson of ["dedup", "tombstone"]) {
        await app.call("load", lesson);
        for (let scene = 1, scenes = 1; scene <= scenes; scene += 1) {
          await app.call("scene", scene);
          scenes = (await app.state()).scene.of;
          assert.deepEqual(await app.page.evaluate(unfit), [], `${lang} ${lesson} in scene ${scene}`);
        }
        await app.call("load", lesson);
        for (let before = -1, step = 0; step !== before; ) {
          before = step;
          step = await app.page.evaluate(async () => {
            await deltascope.step(3);
            for (let n = 0; n < 2; n += 1) await new Promise(requestAnimationFrame);
            return deltascope.getState().step;
          });
          assert.deepEqual(await app.page.evaluate(unfit), [], `${lang} ${lesson} at fact ${step}`);
        }
      }
    }
  }));
}

/** Each text that is told: on the page, and in front of a class, whose letters are larger. */
for (const [where, presents] of [["on a laptop", false], ["in front of a class", true]]) {
  test(`nothing of a scene, a question, its answer or a hint is out of sight ${where}, in either language`, onPage({ link: "#v1;lesson=first-look;scene=1", viewport: LAPTOP }, async (app) => {
    const folder = new URL("../../../src/replay/lessons/", import.meta.url);
    const files = (await readdir(folder)).filter((name) => name.endsWith(".json"));
    const lessons = await Promise.all(files.map(async (name) => ({ id: name.slice(0, -5), ...JSON.parse(await readFile(new URL(name, folder), "utf8")) })));
    const hidden = [];
    const look = async (what) => {
      const found = await app.page.evaluate(async () => {
        const frame = () => new Promise(requestAnimationFrame);
        const over = {};
        for (const lang of ["en", "zh"]) {
          // The presenter has no button for it.
          if (!document.documentElement.lang.startsWith(lang)) document.querySelector("[data-testid=toggle-lang]").click();
          while (!document.documentElement.lang.startsWith(lang)) await frame();
          await frame();
          const sides = [...document.querySelectorAll(".tale-say, .tale-ask")].filter((one) => one.checkVisibility());
          over[lang] = sides.map((one) => one.scrollHeight - one.clientHeight);
        }
        return over;
      });
      for (const [lang, over] of Object.entries(found)) if (over.some((px) => px > 0)) hidden.push(`${what}, ${lang}: ${over}`);
    };
    /** The wrong answers that say most, in each language. */
    const longest = (ask) => {
      const beliefs = ask.choices?.map((one) => one.belief) ?? ask.beliefs?.map((one) => one.say) ?? [];
      const most = (lang) => beliefs.reduce((best, one, at) => ((one?.[lang].length ?? 0) > (beliefs[best]?.[lang].length ?? 0) ? at : best), 0);
      const of = { choice: (at) => at, number: (at) => ask.beliefs[at].is, place: (at) => ask.beliefs[at].room, order: () => ask.items.map((_, item) => item) }[ask.kind];
      return [...new Set([most("en"), most("zh")])].map(of);
    };
    // The screen that is no longer filled ends the presenter, at some time after the lesson that is left.
    await app.page.evaluate(() => {
      Element.prototype.requestFullscreen = () => Promise.reject(new TypeError("not here"));
    });
    let asked = 0;
    for (const { id, story } of lessons.filter((one) => one.story)) {
      await app.call("load", id);
      const go = (scene) => app.call("scene", scene);
      await go(1);
      // Another lesson may end the presenter.
      const is = await app.page.evaluate(async () => {
        for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
        return document.documentElement.classList.contains("presenting");
      });
      if (presents !== is) await app.page.keyboard.press("p");
      await app.page.waitForFunction((on) => document.documentElement.classList.contains("presenting") === on, presents);
      for (const [at, { ask }] of story.scenes.entries()) {
        await go(at + 1);
        await look(`${id} ${at + 1}`);
        for (const answer of ask ? longest(ask) : []) {
          asked += 1;
          await go(at + 1);
          // The promise is kept when the play is over, which is what `arrived` hurries.
          await app.page.evaluate((answer) => void window.deltascope.answer(answer), answer);
          await app.eventually("the answer plays, or is decided", (state) => state.playing || state.scene.question.right !== null);
          await app.arrived();
          await app.id("verdict").waitFor();
          await look(`${id} ${at + 1}, answered`);
        }
      }
      await go(story.scenes.length);
      for (const hint of story.goal.hints.keys()) {
        await app.id("hint").click();
        await app.page.waitForFunction((n) => document.querySelectorAll(".hints p").length === n, hint + 1);
        await look(`${id}, hint ${hint + 1}`);
      }
    }
    assert.ok(asked >= 20, `${asked}`);
    assert.deepEqual(hidden, []);
  }));
}
