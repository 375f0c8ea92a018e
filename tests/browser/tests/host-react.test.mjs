// The React component: a ref to it is the element, in each version that the package allows.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { PACKAGES, ROOT, hosts, page } from "../hosts.mjs";

const { build } = createRequire(join(PACKAGES, "vite/"))("esbuild");
const onHost = hosts();

const APP = `
import { createElement, createRef } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { DeltaScope } from "${join(ROOT, "embed/files/react.js")}";
const root = createRoot(document.getElementById("root"));
const show = (ref) => flushSync(() => root.render(ref && createElement(DeltaScope, { ref, lesson: "tombstone", load: "click" })));
const own = createRef();
const heard = [];
show(own);
heard.push(own.current === document.querySelector("delta-scope"));
const named = (element) => void heard.push(element && element.localName);
show(named);
heard.push(own.current);
show(null);
if (process.env.RETURNS) {
  show((element) => (heard.push(element && element.localName), () => heard.push("done")));
  show(null);
}
globalThis.heard = heard;
`;

const bundle = async (version, returns) => {
  const of = (name) => join(PACKAGES, name + version);
  const { outputFiles } = await build({
    stdin: { contents: APP, resolveDir: PACKAGES },
    bundle: true,
    write: false,
    format: "esm",
    logLevel: "silent",
    define: { "process.env.NODE_ENV": '"development"', "process.env.RETURNS": JSON.stringify(returns) },
    alias: { react: of("react"), "react-dom": of("react-dom") },
    external: ["./deltascope.js"],
  });
  return outputFiles[0].text.replaceAll('"./deltascope.js"', '"./deltascope/deltascope.js"');
};

for (const [version, suffix, returns, more] of [
  ["18", "-18", "", []],
  // A ref that has returned a function is not called with null.
  ["19", "", "yes", ["delta-scope", "done"]],
]) {
  const places = async () => ({
    "index.html": page('<div id="root"></div><script type="module" src="app.js"></script>'),
    "app.js": await bundle(suffix, returns),
  });
  test(
    `React ${version}: a ref is the element, and is let go of`,
    onHost(places, async (host) => {
      await host.until(() => globalThis.heard);
      assert.deepEqual(await host.page.evaluate(() => heard), [true, "delta-scope", null, null, ...more]);
    }),
  );
}
