// The page looks as it did: each picture in ../pictures is compared with the same scene now.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SCENES, difference, fonts, keep, names, shot, stored, take } from "../pictures.mjs";

test("every scene looks as on its picture", { timeout: 240_000 }, async (t) => {
  assert.deepEqual(names().sort(), SCENES.map(({ name }) => name).sort(), "make pictures");
  const wrong = [];
  const used = await take(SCENES, ({ name }, png) => {
    const { pixels, most, diff } = difference(stored(name), png);
    if (pixels > most) wrong.push(`${name}: ${pixels} pixels differ, ${most} may: ${keep(name, png, diff)}`);
  });
  if (used !== fonts()) return t.skip(`nothing is compared: the fonts are not those of fonts.conf (\`make setup-browser\` installs them): ${used} instead of ${fonts()}`);
  assert.deepEqual(wrong, [], "Look at these, and at *.diff.png beside them. If that is how it should be: make pictures");
});

test("a room that moved and a colour that is lost are noticed", async () => {
  const scenes = SCENES.filter(({ name }) => name === "waits-1.34" || name === "phone-queue");
  let seen = 0;
  await take(scenes, async (scene, png, page) => {
    for (const [what, css] of [
      ["moved by two pixels", ".room.queue { translate: 2px 0 }"],
      ["without the colour of its tokens", ".room.queue :is(.d, .entry) { --c: var(--ink-3) !important }"],
    ]) {
      // Not an element: the page's policy forbids inline styles.
      const style = await page.evaluateHandle((css) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(css);
        document.adoptedStyleSheets.push(sheet);
        return sheet;
      }, css);
      const { pixels, most } = difference(png, await shot(page));
      assert.ok(pixels > most, `${scene.name} ${what}: ${pixels} pixels differ, ${most} may`);
      await style.evaluate((one) => document.adoptedStyleSheets.splice(document.adoptedStyleSheets.indexOf(one), 1));
      seen += 1;
    }
    assert.equal(difference(png, await shot(page)).pixels, 0, "nothing else differs");
  });
  assert.equal(seen, 4);
});
