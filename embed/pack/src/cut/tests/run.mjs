// Runs programs before and after the cut, and says where they differ. A line of JSON for each.
import { createInterface } from "node:readline";

const FUEL = 150;
// Of the memory before it, all files write nothing.
const DATA = 1024;
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));

for await (const line of createInterface({ input: process.stdin })) {
  const task = JSON.parse(line);
  console.log(JSON.stringify(task.counts ? marks(task) : await compared(task)));
}

/** What the program imports, and what it has told. */
function world() {
  const told = [];
  const log = (number) => (told.push(number), told.length);
  const glue = { log, thing: () => world, nobody() {} };
  return { told, glue, other: { number: () => 7 } };
}

/** What a call does that one can see. */
function ran({ run, fuel, number, memory }, told, args) {
  fuel.value = FUEL;
  told.length = 0;
  let result;
  try {
    result = run(...args);
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError) || error.isAbsent) throw error;
    result = `${error}`;
  }
  const written = [...new Uint8Array(memory.buffer, 0, DATA).entries()].filter(([, byte]) => byte !== 0);
  return JSON.stringify([result, told, fuel.value, number.value, written]);
}

/** Which points are reached. */
function marks({ counts: { program, at, length }, calls }) {
  const { glue, told, other } = world();
  const module = new WebAssembly.Module(bytes(program));
  const { exports } = new WebAssembly.Instance(module, { g: calls.names.map((name) => glue[name]), other });
  for (const args of calls.args) ran(exports, told, args);
  return [...new Uint8Array(exports.memory.buffer, at, length)];
}

async function compared({ before, main, others, stands, names, calls, early, loader }) {
  const one = world();
  const whole = new WebAssembly.Instance(new WebAssembly.Module(bytes(before)), { "./deltascope_bg.js": one.glue, other: one.other });
  const two = world();
  const imports = () => ({ g: names.map((name) => two.glue[name]), other: two.other });
  const addresses = others.map((_, at) => () => new URL(`http://host/${at}`));
  const waited = [];
  globalThis.XMLHttpRequest = class {
    open(_, url) {
      this.at = Number(new URL(url).pathname.slice(1));
    }
    overrideMimeType() {}
    send() {
      waited.push(this.at);
      this.status = 200;
      this.responseText = Buffer.from(others[this.at], "base64").toString("latin1");
    }
  };
  const text = `let wasm; ${loader.replaceAll("export ", "")}; return { stand, now, begin: (main) => (wasm = main) };`;
  const { stand, now, begin } = new Function("addresses", "stands", "__wbg_get_imports", text)(addresses, stands, imports);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes(main)), imports());
  await stand(exports.__indirect_function_table);
  begin(exports);
  for (const [at, args] of calls.entries()) {
    early[at]?.forEach(now);
    waited.splice(0, early[at]?.length ?? 0);
    const [expected, found] = [ran(whole.exports, one.told, args), ran(exports, two.told, args)];
    if (expected !== found) return { error: `run(${args}): ${expected} became ${found}`, waited };
  }
  const needed = [...waited];
  // What nobody has asked for is not there yet.
  others.forEach((_, at) => now(at));
  const [expected, found] = [whole, { exports }].map(({ exports: { memory } }) => new Uint8Array(memory.buffer));
  const at = expected.findIndex((byte, at) => byte !== found[at]);
  const error = at < 0 ? null : `byte ${at} of the memory, ${expected[at]}, became ${found[at]}`;
  return { error, waited: needed };
}
