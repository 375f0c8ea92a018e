// The package for npm: its content and its types.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DIST } from "../harness.mjs";
import { PACKAGES, ROOT } from "../hosts.mjs";

const run = promisify(execFile);
let folder;
let files;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "deltascope-package-"));
  const { stdout } = await run("npm", ["pack", "--json", "--offline", "--pack-destination", folder, DIST]);
  const [packed] = JSON.parse(stdout);
  files = packed.files.map(({ path }) => path).sort();
  await mkdir(join(folder, "node_modules"));
  await run("tar", ["-xzf", join(folder, packed.filename), "-C", folder]);
  await cp(join(folder, "package"), join(folder, "node_modules/deltascope"), { recursive: true });
  for (const name of await readdir(PACKAGES)) {
    if (!name.startsWith(".")) await symlink(join(PACKAGES, name), join(folder, "node_modules", name));
  }
});
after(() => rm(folder, { recursive: true, force: true }));

test("it contains what is needed, and nothing else", async () => {
  const glue = files.find((name) => /^deltascope-[0-9a-f]+\.js$/.test(name));
  const wasm = glue.replace(".js", "_bg.wasm");
  const text = await readFile(join(folder, "package", glue), "utf8");
  // Bundlers follow these URLs; smaller files they would put into the code, which a strict policy forbids.
  const wasms = new Set([...text.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g)].map(([, name]) => name.replace("./", "")));
  assert.ok(wasms.has(wasm));
  for (const name of wasms) assert.ok((await stat(join(folder, "package", name))).size > 4096, name);
  assert.deepEqual(
    files,
    [
      "LICENSE", "README.md", "alive.js", "deltascope-later.js", "deltascope-stage.js", "deltascope.css", "deltascope.d.ts", "deltascope.js", "embed.html", "frame.css", "frame.js",
      "names.js", "paced.js",
      "package.json", "react.d.ts", "react.js", "reveal.d.ts", "reveal.js", "vue.d.ts", "vue.js", glue, ...wasms,
    ].sort(),
  );
  const manifest = JSON.parse(await readFile(join(folder, "package/package.json"), "utf8"));
  for (const target of Object.values(manifest.exports)) {
    // Of an export's conditions the first counts, also for TypeScript.
    if (typeof target === "object") assert.deepEqual(Object.keys(target), ["types", "default"]);
    for (const path of typeof target === "string" ? [target] : Object.values(target)) {
      assert.ok(files.includes(path.replace("./", "")), path);
    }
  }
  const cargo = await readFile(join(ROOT, "Cargo.toml"), "utf8");
  assert.equal(manifest.version, /^version = "(.*)"$/m.exec(cargo)[1]);
});

const OPTIONS = {
  strict: true, noEmit: true, target: "es2022", module: "esnext", moduleResolution: "bundler", jsx: "react-jsx",
  lib: ["es2023", "dom", "dom.iterable"], types: [], skipLibCheck: false, exactOptionalPropertyTypes: false,
};

test("a program that uses all of its types passes strict checks", { timeout: 120_000 }, async () => {
  for (const sample of ["sample.ts", "sample.tsx", "sample.vue.ts"]) await cp(join(ROOT, "tests/browser/hosts", sample), join(folder, sample));
  // Vue's own types need not pass with all of our compiler options.
  for (const [name, include, more] of [["all", ["sample.ts", "sample.tsx"], {}], ["vue", ["sample.vue.ts"], { skipLibCheck: true }]]) {
    const config = join(folder, `tsconfig.${name}.json`);
    await writeFile(config, JSON.stringify({ compilerOptions: { ...OPTIONS, ...more }, files: include }));
    const told = await run(process.execPath, [join(PACKAGES, "typescript/bin/tsc"), "-p", config]).catch((error) => error);
    assert.equal(told.stdout.trim(), "", told.stdout);
  }
});

// Rendered by a server, which has no custom elements.
const SERVER = `
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { createSSRApp, h } from "vue";
import { renderToString as vueToString } from "vue/server-renderer";
import { DeltaScope as React } from "deltascope/react";
import { DeltaScope as Vue } from "deltascope/vue";
const props = { lesson: "tombstone", panels: ["api", "queue"], load: "click", scenario: { initial: [{ metadata: { name: "</script>" } }] } };
console.log(renderToString(createElement(React, props, createElement("p", { slot: "poster" }, "A picture"))));
console.log(await vueToString(createSSRApp({ render: () => h(Vue, props, () => h("p", { slot: "poster" }, "A picture")) })));
`;

test("a server renders the components: the element, its attributes and its placeholder", async () => {
  await writeFile(join(folder, "server.mjs"), SERVER);
  const { stdout } = await run(process.execPath, [join(folder, "server.mjs")]);
  const rendered = stdout.trim().split("\n");
  assert.equal(rendered.length, 2);
  for (const html of rendered) {
    for (const part of [/^<delta-scope [^>]*lesson="tombstone"/, / panels="api,queue"/, / load="click"/, /<p slot="poster">A picture<\/p>/]) assert.match(html, part);
    assert.equal(html.match(/<\/script>/g).length, 1, "what is in it does not end it");
  }
});

test("the types name each attribute, method and event of the element, and no others", async () => {
  const { default: ts } = await import(join(PACKAGES, "typescript/lib/typescript.js"));
  const parse = async (name) => ts.createSourceFile(name, await readFile(join(folder, "package", name), "utf8"), ts.ScriptTarget.Latest, true);
  const [code, types] = [await parse("deltascope.js"), await parse("deltascope.d.ts")];
  const find = (source, is) => {
    let found;
    const look = (node) => (found ??= is(node) ? node : ts.forEachChild(node, look));
    look(source);
    return found;
  };
  const named = (kind, name) => (node) => kind(node) && node.name?.text === name;
  const names = (node, keep) =>
    [...new Set(node.members.filter((member) => member.name && keep(member)).map((member) => member.name.text ?? member.name.getText()))].sort();
  const isPublic = ({ name }) => ts.isIdentifier(name);
  const isOwn = ({ name }) => !/Callback$|EventListener$|^observedAttributes$/.test(name.text);
  const keep = (member) => isPublic(member) && isOwn(member);
  assert.deepEqual(
    names(find(code, named(ts.isClassDeclaration, "DeltaScope")), keep),
    names(find(types, named(ts.isClassDeclaration, "DeltaScope")), keep),
  );

  const { ATTRIBUTES, EVENTS } = await import(join(folder, "package/names.js"));
  const list = [...ATTRIBUTES].sort();
  assert.deepEqual(names(find(types, named(ts.isInterfaceDeclaration, "DeltaScopeAttributes")), () => true), list);
  assert.deepEqual(names(find(types, named(ts.isInterfaceDeclaration, "DeltaScopeEventMap")), () => true), EVENTS.map((name) => `ds-${name}`).sort());
});
