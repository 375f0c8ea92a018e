// For eyes, fingers and screens of all kinds: the reader's own colours, letters and targets large enough, little room.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, LAPTOP, PHONE, ROOMS, suite } from "../harness.mjs";

const { onPage } = suite();
const LANDSCAPE = { width: 844, height: 390 };
// 1280 × 1024 at 400 %.
const ENLARGED = { width: 320, height: 256 };

// What the page says by a colour or a ground: a lesson in which it occurs, the element, and its class or attribute.
const STATES = [
  ["indexer", ".room.live", "live"],
  ["indexer", ".code mark", "mark"],
  ["indexer", ".d.new", "new"],
  ["indexer", ".state.on", "on"],
  ["indexer", ".eras [aria-pressed=true]", "aria-pressed"],
  ["indexer", ".pop .segments [aria-pressed=true]", "aria-pressed"],
  ["indexer", ".wire.lit:not(.waiting)", "lit"],
  ["indexer", ".api .obj.lit", "lit"],
  ["indexer", ".items .obj.new", "new"],
  ["indexer", ".tag.new", "new"],
  ["indexer", ".requests li.lit", "lit"],
  ["indexer", ".output .lit", "lit"],
  ["indexer", ".tick.Added", "Added"],
  ["indexer", ".track .run", "run"],
  ["indexer", ".track .lk", "lk"],
  ["indexer", ".items .h0", "h0"],
  ["listwatch", ".wire.waiting:not(.lit)", "waiting"],
  ["tombstone", ".state.next", "next"],
  ["tombstone", ".lamp.on", "on"],
  ["tombstone", ".ring .run.Added", "Added"],
  ["bookmarks", ".track .wt", "wt"],
];
// How many pixels differ clearly where a state is to be seen: a lamp has some twenty.
const SEEN = 12;

for (const theme of ["light", "dark"]) {
  test(`with the reader's own colours every state can be seen: ${theme}`, onPage({ theme, forced: true, asFound: true }, async (app) => {
    // Bold letters alone are not enough.
    await app.page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("* { font-weight: 400 !important }");
      document.adoptedStyleSheets.push(sheet);
    });
    const hidden = [];
    let loaded;
    for (const [lesson, selector, name] of STATES) {
      if (lesson !== loaded) await app.call("load", lesson);
      loaded = lesson;
      await app.call("seek", 0);
      const found = await app.page.evaluate(async (selector) => {
        const { steps } = window.deltascope.getState();
        for (let at = 0; at < steps; at += 1) {
          await window.deltascope.step(1);
          if (document.querySelector(selector)) return true;
        }
        return false;
      }, selector);
      assert.ok(found, `${selector} occurs in ${lesson}`);
      const seen = await differing(app.page, selector, name);
      if (seen < SEEN) hidden.push(`${selector}: ${seen} pixels differ`);
    }
    assert.deepEqual(hidden, []);
  }));
}

/** How many pixels look clearly different once an element has lost its state. */
async function differing(page, selector, name) {
  const clip = await page.evaluate((selector) => {
    // The light of a motion is over soon, and no state: while it lasts it may cover one.
    for (const one of document.getAnimations()) {
      if (one.effect.getComputedTiming().endTime < Infinity) one.finish();
    }
    const element = document.querySelector(selector);
    element.scrollIntoView({ block: "nearest" });
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: Math.floor(x) - 6, y: Math.floor(y) - 6, width: Math.ceil(width) + 12, height: Math.ceil(height) + 12 };
  }, selector);
  const take = async () => (await page.screenshot({ clip })).toString("base64");
  const before = await take();
  await page.evaluate(
    ([selector, name]) => {
      const element = document.querySelector(selector);
      if (element.localName === name) {
        const plain = document.createElement("span");
        plain.className = "line";
        plain.append(...element.childNodes);
        // The program still owns the element: it stays, out of sight.
        element.hidden = true;
        element.after(plain);
      } else if (name.startsWith("aria-")) element.setAttribute(name, "false");
      else element.classList.remove(name);
    },
    [selector, name],
  );
  const after = await take();
  return page.evaluate(async (pictures) => {
    const [one, other] = await Promise.all(
      pictures.map(async (picture) => {
        const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
        pen.drawImage(bitmap, 0, 0);
        return pen.getImageData(0, 0, bitmap.width, bitmap.height).data;
      }),
    );
    let count = 0;
    for (let at = 0; at < one.length; at += 4) {
      if ([0, 1, 2].some((part) => Math.abs(one[at + part] - other[at + part]) > 64)) count += 1;
    }
    return count;
  }, [before, after]);
}

test("what can be clicked has 24 px, and no letter is below 11 px", onPage({ newcomer: true }, async (app) => {
  const small = new Set();
  let others = 0;
  for (const viewport of [DESKTOP, LAPTOP, PHONE]) {
    await app.resize(viewport);
    for (const lesson of ["tombstone", "sandbox", "deltafifo", "sharedinformerfactory"]) {
      await app.call("load", lesson);
      const { steps } = await app.state();
      await app.call("seek", Math.floor(steps / 2));
      // To the end of a step of several facts, where the others have links.
      await app.call("step", 1, "event");
      const links = await app.page.locator(".others button").evaluateAll((all) => {
        const floor = ({ parentElement: row }) => row.getBoundingClientRect().bottom;
        // Those that wrap are out of sight.
        return all.map((one) => [one.getBoundingClientRect(), floor(one)]).filter(([box, end]) => box.top < end).map(([box]) => box.height);
      });
      others += links.length;
      for (const high of links) if (high < 23.5) small.add(`${viewport.width}: another fact of the step is ${high} px high`);
      for (const room of ROOMS) {
        const tab = app.page.locator(`#tab-${room}`);
        if ((await tab.count()) > 0) await tab.click();
        else if (room !== ROOMS[0]) continue;
        const found = await app.page.evaluate(tooSmall);
        for (const one of found) small.add(`${viewport.width}: ${one}`);
      }
    }
  }
  assert.deepEqual([...small], []);
  assert.ok(others > 0);
}));

/** Controls that are too small and too close to others (WCAG 2.2, 2.5.8), and text that is too small. */
function tooSmall() {
  const LEAST = 24;
  const ROUNDED = 0.5;
  // The marks on the timeline are where their moments are: the buttons, the slider and the list of checks lead there, too.
  const ELSEWHERE = ".marker, .violation";
  const name = (element) => `${element.localName}.${element.className} ${element.dataset.testid ?? ""}`;
  const boxes = [...document.querySelectorAll("button, select, input, a[href]")]
    .filter((element) => !element.matches(ELSEWHERE))
    .map((element) => [element, (element.closest("label") ?? element).getBoundingClientRect()])
    // What is scrolled away or covered cannot be clicked now.
    .filter(([element, box]) => {
      const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      return hit && (element.contains(hit) || element.closest("label")?.contains(hit));
    });
  const isSmall = (box) => Math.min(box.width, box.height) < LEAST - ROUNDED;
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const found = [];
  for (const [element, box] of boxes.filter(([, box]) => isSmall(box))) {
    const [x, y] = middle(box);
    const near = boxes.find(([other, its]) => {
      if (other === element) return false;
      const [dx, dy] = [Math.max(its.left - x, 0, x - its.right), Math.max(its.top - y, 0, y - its.bottom)];
      const [itsX, itsY] = middle(its);
      return Math.hypot(dx, dy) < LEAST / 2 || (isSmall(its) && Math.hypot(itsX - x, itsY - y) < LEAST);
    });
    if (near) found.push(`${name(element)} is too close to ${name(near[0])}`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (size < 11) found.push(`${name(element)} has letters of ${size} px`);
  }
  return found;
}

/** The share of the window's height where nothing stands over the stage. */
const free = (app) =>
  app.page.evaluate(() => {
    let seen = 0;
    for (let y = 0; y < innerHeight; y += 1) {
      if (document.elementFromPoint(innerWidth / 2, y)?.closest(".stage")) seen += 1;
    }
    return seen / innerHeight;
  });

test("a room that a program lacks is not lit, and on a phone not there", onPage({ lesson: "deltafifo" }, async (app) => {
  const rooms = (selector) =>
    app.page.locator(selector).evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.id));
  const lacking = await rooms(".room.absent");
  assert.ok(lacking.length > 0);
  const looks = await app.page.locator(".room.absent").evaluateAll((all) =>
    all.map(getComputedStyle).map((style) => [style.borderTopStyle, style.backgroundColor, style.boxShadow].join()),
  );
  assert.deepEqual(new Set(looks), new Set(["dashed,rgba(0, 0, 0, 0),none"]));
  await app.resize(PHONE);
  // A lesson does not begin with one of them.
  for (const [lesson, room] of [["sharedinformer-indexer", "indexer"], ["listwatch", "api"], ["tombstone", "queue"]]) {
    await app.call("load", lesson);
    await app.call("seek", 0);
    assert.deepEqual(await rooms(".room"), [`room-${room}`], lesson);
  }
  await app.call("load", "deltafifo");
  for (const room of ROOMS) {
    await app.page.locator(`#tab-${room}`).click();
    assert.deepEqual(await rooms(".room"), [`room-${room}`]);
  }
}));

test("on a phone on its side the transport is one row", onPage({ viewport: LANDSCAPE, lesson: "tombstone" }, async (app) => {
  await app.call("seek", "half-told");
  for (const lang of ["en", "zh"]) {
    await app.language(lang);
    await app.page.evaluate(() => scrollTo(0, 0));
    const controls = await app.page.locator(".transport :is(button:not(.marker, .violation), select, input)").evaluateAll((all) =>
      all.filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().toJSON()),
    );
    const least = Math.min(...controls.map(({ bottom }) => bottom));
    assert.ok(controls.length >= 8 && controls.every(({ top }) => top < least), "all are beside each other");
    assert.ok(controls.every(({ bottom, right }) => bottom <= LANDSCAPE.height && right <= LANDSCAPE.width), "all are in sight");
    const share = await free(app);
    assert.ok(share > 0.6, `the stage has ${share} of the height`);
  }
}));

test("enlarged four times the stage comes first, and nothing is cut off", onPage({ viewport: ENLARGED, lesson: "tombstone" }, async (app) => {
  await app.call("seek", "half-told");
  for (const lang of ["en", "zh"]) {
    await app.language(lang);
    for (const room of ROOMS) {
      await app.page.locator(`#tab-${room}`).click();
      await app.page.evaluate(() => scrollTo(0, 0));
      const share = await free(app);
      assert.ok(share > 0.75, `${room}: the stage has ${share} of the height`);
      const cut = await app.page.evaluate(() => {
        const wide = document.scrollingElement.scrollWidth > innerWidth ? ["the page"] : [];
        const all = [...document.querySelectorAll(".room *, .masthead *, .transport *, .said *, .note")];
        const out = all.filter((one) => {
          // Older requests make room for newer ones.
          if (!one.checkVisibility() || one.closest("svg, .moments, .requests, .heard")) return false;
          const { left, right, width } = one.getBoundingClientRect();
          return width > 0 && (left < -1 || right > innerWidth + 1);
        });
        const shortened = [...document.querySelectorAll(".head span, .what, .clock span, .masthead :is(span, select, h1)")].filter(
          (one) => one.checkVisibility() && !one.closest(".heard") && one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1,
        );
        return [...wide, ...[...out, ...shortened].map((one) => one.outerHTML.slice(0, 90))];
      });
      assert.deepEqual(cut, [], `${room}, ${lang}`);
    }
  }
}));
