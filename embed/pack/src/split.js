
// Each file of the parts, once it is fetched: parts may share some. What failed is fetched anew, under another URL, for some
// browsers keep a failure.
const fetched = new Map();
const failures = new Map();
// What was asked for before the program could ask.
const early = new Map();

function anew(url) {
    if (failures.has(url.href)) url.searchParams.set('again', failures.get(url.href));
    return url;
}

function brought(url, take) {
    const file = url.href;
    if (!fetched.has(file)) {
        anew(url);
        const got = (early.get(file) ?? fetch(url)).then(take);
        early.delete(file);
        fetched.set(file, got);
        got.catch(() => {
            failures.set(file, (failures.get(file) ?? 0) + 1);
            fetched.delete(file);
        });
    }
    return fetched.get(file);
}

const part = (response) => __wbg_load(response, { __wasm_split: wasm });

// The program asks for a part, and says what to call once its files are there, and the program's other files. A part of an
// element's first picture does without all but those of elements, where its data may lie.
function loads(urls, isFirst) {
    const load = async (callback, data) => {
        const all = urls().map((url) => brought(url, part));
        all.push(...(isFirst ? firsts() : others).map(bringOther));
        const done = await Promise.all(all).then(() => true, (error) => {
            console.error(error);
            return false;
        });
        wasm.__indirect_function_table.get(callback)(data, done);
    };
    return Object.assign(load, { urls });
}

/** Begins to fetch a part, while the program itself is fetched: it is an element's, which may show more than most. */
export function begin(part, isMore) {
    isElement = true;
    showsMore = isMore;
    for (const { href } of loaders[`__wasm_split_load_${part}`].urls()) {
        const got = fetch(href);
        // A failure is found when the program asks.
        got.catch(() => {});
        early.set(href, got);
    }
}

/** Fetches what an element that shows more than most needs. */
export const more = () => bringOther(2);

// --- the program's other files: what only the first pictures of the page, or of elements, need, or both but not most elements,
// and the rest ---

let isElement = false;
let showsMore = true;
const others = [0, 1, 2, 3];
const address = (other) => addresses[other]();
// Those of the first picture.
const firsts = () => [isElement ? 1 : 0, ...(showsMore ? [2] : [])];
const there = new Set();

const given = (main) => ({ ...__wbg_get_imports(), __wasm_split: main });

// Once: it sets memory that the program may have changed since. So nothing may run meanwhile.
function take(other, module) {
    if (there.has(other)) return;
    new WebAssembly.Instance(module, given(wasm));
    there.add(other);
}

// As the program begins, nothing runs anyway, and Chromium before 115 refuses large modules at once.
async function takeFirst(modules, main) {
    for (const [other, module] of modules) {
        await WebAssembly.instantiate(module, given(main));
        there.add(other);
    }
}

async function compiled(response) {
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

async function bringOther(other) {
    if (!there.has(other)) await brought(address(other), async (response) => take(other, await compiled(response)));
}

// Fetches what the first picture needs beside the main part, while that is fetched.
function first() {
    const comes = Promise.all(firsts().map(async (other) => [other, await compiled(await fetch(address(other)))]));
    // It is awaited once the main part is there.
    comes.catch(() => {});
    return comes;
}

// Why the program has ended, if it waited in vain.
let ended;

// A function of another file is called before that is there: the program waits.
function now() {
    if (ended) throw ended;
    for (const other of others) {
        if (there.has(other)) continue;
        try {
            const request = new XMLHttpRequest();
            request.open('GET', anew(address(other)), false);
            // A request that is waited for has no type but text.
            request.overrideMimeType('text/plain; charset=x-user-defined');
            request.send();
            if (request.status !== 200) throw new Error(request.status);
            take(other, new WebAssembly.Module(Uint8Array.from(request.responseText, (byte) => byte.charCodeAt(0))));
        } catch (error) {
            ended = Object.assign(new WebAssembly.RuntimeError(`${address(other)}: ${error.message}`), { isAbsent: true });
            throw ended;
        }
    }
}

const leb = (number) => (number < 128 ? [number] : [(number & 127) | 128, ...leb(number >>> 7)]);
const signed = (number) => (number < 64 ? [number] : [(number & 127) | 128, ...signed(number >>> 7)]);
const sized = (bytes) => [...leb(bytes.length), ...bytes];

// Puts into each slot of the rest's functions one that has the rest come, and then calls what is there.
async function stand(table) {
    const [types, steps, of] = stands;
    const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const section = (id, items) => {
        const inside = [leb(items.length), ...items].flat();
        bytes.push(id, ...leb(inside.length));
        for (const byte of inside) bytes.push(byte);
    };
    const runs = [];
    let slot = 0;
    const codes = of.map((type, at) => {
        slot += steps[at];
        if (steps[at] !== 1 || at === 0) runs.push([slot, []]);
        runs.at(-1)[1].push(at + 1);
        const given = types[type][0].flatMap((_, index) => [0x20, ...leb(index)]);
        return sized([0, 0x10, 0, ...given, 0x41, ...signed(slot), 0x11, ...leb(type), 0, 0x0b]);
    });
    section(1, [...types.map(([params, results]) => [0x60, ...sized(params), ...sized(results)]), [0x60, 0, 0]]);
    section(2, [[1, 0x61, 1, 0x66, 0, ...leb(types.length)], [1, 0x61, 1, 0x74, 1, 0x70, 0, 0]]);
    section(3, of.map(leb));
    section(9, runs.map(([first, run]) => [0, 0x41, ...signed(first), 0x0b, ...leb(run.length), ...run.flatMap(leb)]));
    section(10, codes);
    await WebAssembly.instantiate(Uint8Array.from(bytes), { a: { f: now, t: table } });
}
