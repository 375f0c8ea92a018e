// The element in Firefox, if it is installed. Everything else is tested in Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import { firefox, inFirefox } from "../firefox.mjs";
import { STRICT, page, serveHost } from "../hosts.mjs";

const ARROW_RIGHT = "\uE014";
const ELEMENT = '<delta-scope lesson="tombstone" at="relist" controls="full" load="eager"></delta-scope>';
const skip = firefox() ? false : "Firefox is not installed (apt install firefox-esr): the element is not tried there";

test("in Firefox it mounts, steps, and follows theme and width", { skip, timeout: 60_000 }, async () => {
  const server = await serveHost({ "index.html": page(ELEMENT) }, { headers: STRICT });
  try {
    await inFirefox(async (host) => {
      await host.goto(server.url);
      const first = await host.evaluate(async () => {
        await customElements.whenDefined("delta-scope");
        const element = document.querySelector("delta-scope");
        await element.ready;
        element.shadowRoot.querySelector(".ds").focus();
        return element.getState().step;
      });
      const step = () => host.evaluate(() => document.querySelector("delta-scope").getState().step);
      await host.press(ARROW_RIGHT, ARROW_RIGHT);
      assert.equal(await step(), first + 2);
      await host.evaluate(() => document.querySelector("delta-scope").step(-1));
      assert.equal(await step(), first + 1);

      const paper = (theme) => host.evaluate((name) => {
        const element = document.querySelector("delta-scope");
        element.setAttribute("theme", name);
        return getComputedStyle(element.shadowRoot.querySelector(".frame")).backgroundColor;
      }, theme);
      assert.notEqual(await paper("dark"), await paper("light"));

      // A layout that was changed incrementally must equal one that is computed anew.
      const [wide, ...others] = await host.evaluate(async () => {
        const element = document.querySelector("delta-scope");
        const box = element.shadowRoot.querySelector(".box");
        const places = () => [...box.querySelectorAll(".masthead, .masthead *, .room")].map((one) => {
          const { x, y, width, height } = one.getBoundingClientRect();
          return [x, y, width, height].map(Math.round).join();
        }).join(" ");
        const seen = [];
        for (const width of [1200, 700, 480, 1200]) {
          element.style.width = `${width}px`;
          for (let left = 5; left > 0; left -= 1) await new Promise(requestAnimationFrame);
          const found = places();
          box.style.display = "none";
          box.getBoundingClientRect();
          box.style.display = "";
          seen.push([width, found, places()]);
        }
        return seen;
      });
      for (const [width, found, anew] of [wide, ...others]) assert.equal(found, anew, `${width} px`);
      assert.equal(others.at(-1)[1], wide[1], "as wide as before it is as before");
      assert.deepEqual(host.problems, []);
    });
  } finally {
    await server.close();
  }
});

test("in Firefox a failed download is retried", { skip, timeout: 60_000 }, async () => {
  for (const file of [/deltascope-stage\.js/, /deltascope-later\.js/, /deltascope-[0-9a-f]+\.js/, /_bg\.wasm/]) {
    const server = await serveHost({ "index.html": page(ELEMENT) }, { fails: [file] });
    try {
      await inFirefox(async (host) => {
        await host.goto(server.url);
        const lesson = await host.evaluate(async () => {
          await customElements.whenDefined("delta-scope");
          const element = document.querySelector("delta-scope");
          await element.ready.catch(() => {});
          element.shadowRoot.querySelector("[role=alert] button").click();
          await element.ready;
          return element.getState().lesson;
        });
        assert.equal(lesson, "tombstone", `${file}`);
      });
    } finally {
      await server.close();
    }
  }
});
