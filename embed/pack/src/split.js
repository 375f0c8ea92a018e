
// --- the program's other files: what only the first pictures of the page, or of elements, need, or both but not most elements, the
// rest, of that what only the page has, and what neither a lesson nor a room needs ---

const [PAGE, ELEMENT, MORE, REST, OWN, SELDOM] = [0, 1, 2, 3, 4, 5];
let isElement = false;
let showsMore = true;
// Those of the first picture: a tap's page begins with what is seldom needed.
const isTapped = () => document.querySelector('meta[name=deltascope-informers]') !== null;
const firsts = () => [isElement ? ELEMENT : PAGE, ...(showsMore ? [MORE] : []), ...(isTapped() ? [ELEMENT, REST, OWN, SELDOM] : [])];

/** Says, before the program begins, that it is an element's, which may show more than most. */
export function begin(isMore) {
    isElement = true;
    showsMore = isMore;
}

// Each file, once it is fetched. What failed is fetched anew, under another URL, for some browsers keep a failure.
const fetched = new Map();
const failures = new Map();
const there = new Set();

function address(other) {
    const url = addresses[other]();
    if (failures.has(other)) url.searchParams.set('again', failures.get(other));
    return url;
}

const failed = (other) => failures.set(other, (failures.get(other) ?? 0) + 1);

const given = (main) => ({ ...__wbg_get_imports(), main });

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

async function compiled(other) {
    const response = await fetch(address(other));
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

async function bringOther(other) {
    if (there.has(other)) return;
    if (!fetched.has(other)) {
        // Their data may lie in the rest.
        const coming = Promise.all([compiled(other), other > REST && bringOther(REST)]);
        const got = coming.then(([module]) => take(other, module));
        fetched.set(other, got);
        got.catch(() => {
            failed(other);
            fetched.delete(other);
        });
    }
    await fetched.get(other);
}

/** Fetches what an element that shows more than most needs. */
export const more = () => bringOther(MORE);

function enabled(sheet) {
    return new Promise((resolve, reject) => {
        sheet.onload = resolve;
        sheet.onerror = () => {
            sheet.disabled = true;
            reject(new Error(`no ${sheet.href}`));
        };
        sheet.disabled = false;
        // Some browsers have it already.
        if (sheet.sheet) resolve();
    });
}

// The styles that no first picture of the page needs; an element fetches its own. Each waits for one fetch.
const styles = new Map();
function styled(which) {
    if (isElement) return undefined;
    if (!styles.has(which)) {
        const links = document.querySelectorAll(`link[data-${which}][disabled]`);
        const come = Promise.all(Array.from(links, enabled));
        styles.set(which, come);
        come.catch(() => styles.delete(which));
    }
    return styles.get(which);
}

// The program asks for the rest, which may need the others, or for what comes after it as well.
async function deltascopeBring(files) {
    try {
        const parts = [PAGE, ELEMENT, MORE, ...Array.from(files, (file) => REST + file)];
        await Promise.all([styled('later'), parts.includes(SELDOM) && styled('seldom'), ...parts.map(bringOther)]);
    } catch (error) {
        console.error(error);
        throw error;
    }
}

// Fetches what the first picture needs beside the main part, while that is fetched.
function first() {
    const comes = Promise.all(firsts().map(async (other) => [other, await compiled(other)]));
    // It is awaited once the main part is there.
    comes.catch(() => {});
    return comes;
}

// Why the program has ended, if it waited in vain.
let ended;

function fetchNow(other) {
    const request = new XMLHttpRequest();
    request.open('GET', address(other), false);
    // A request that is waited for has no type but text.
    request.overrideMimeType('text/plain; charset=x-user-defined');
    request.send();
    if (request.status !== 200) throw new Error(request.status);
    return new WebAssembly.Module(Uint8Array.from(request.responseText, (byte) => byte.charCodeAt(0)));
}

// A function of another file is called before that is there: the program waits.
function now(other) {
    if (ended) throw ended;
    if (other > REST) now(REST);
    for (let tries = 1; !there.has(other); tries += 1) {
        try {
            take(other, fetchNow(other));
        } catch (error) {
            failed(other);
            if (tries < 2) continue;
            ended = Object.assign(new WebAssembly.RuntimeError(`${address(other)}: ${error.message}`), { isAbsent: true });
            throw ended;
        }
    }
}

// Whether the program has died in one of its closures. None of them is called any more then.
let died = false;
function whileAlive(call) {
    return (...given) => {
        if (died) return undefined;
        try {
            return call(...given);
        } catch (error) {
            died ||= error instanceof WebAssembly.RuntimeError;
            throw error;
        }
    };
}

// Puts into each slot of the others' functions one that has its file come, and then calls what is there. Host pages wait while it
// writes some 150 KB, so each byte is written at its place, but for lengths.
async function stand(table) {
    const [kinds, steps, of] = stands;
    const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const number = (left, end) => {
        for (; left >= end; left >>>= 7) bytes.push((left & 127) | 128);
        bytes.push(left);
    };
    const leb = (value) => number(value, 128);
    const signed = (value) => number(value, 64);
    const sized = (write) => {
        const begin = bytes.length;
        write();
        const inside = bytes.splice(begin);
        leb(inside.length);
        for (const byte of inside) bytes.push(byte);
    };
    const section = (id, items, write) => {
        bytes.push(id);
        sized(() => {
            leb(items.length);
            items.forEach(write);
        });
    };
    const slots = [];
    const runs = [];
    let slot = 0;
    steps.forEach((step, at) => {
        slot += step;
        slots.push(slot);
        if (step !== 1 || at === 0) runs.push([slot, []]);
        runs.at(-1)[1].push(at + 1);
    });
    section(1, [...kinds, [[0x7f], []]], ([params, results]) => {
        bytes.push(0x60, params.length, ...params, results.length, ...results);
    });
    section(2, [[1, 0x66, 0], [1, 0x74, 1, 0x70, 0, 0]], (named, at) => {
        bytes.push(1, 0x61, ...named);
        if (at === 0) leb(kinds.length);
    });
    section(3, of, leb);
    section(9, runs, ([first, run]) => {
        bytes.push(0, 0x41);
        signed(first);
        bytes.push(0x0b);
        leb(run.length);
        run.forEach(leb);
    });
    section(10, of, (kind, at) => {
        const [params, , other] = kinds[kind];
        sized(() => {
            bytes.push(0, 0x41, other, 0x10, 0);
            params.forEach((_, index) => bytes.push(0x20, index));
            bytes.push(0x41);
            signed(slots[at]);
            bytes.push(0x11);
            leb(kind);
            bytes.push(0, 0x0b);
        });
    });
    await WebAssembly.instantiate(Uint8Array.from(bytes), { a: { f: now, t: table } });
}
