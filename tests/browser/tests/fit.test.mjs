// What a story says is in sight, whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFile, readdir } from "node:fs/promises";
import { LAPTOP, suite } from "../harness.mjs";

const { onPage } = suite();

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
