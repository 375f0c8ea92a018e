
// Each file of the parts, once it is fetched: parts may share some. What failed is fetched anew, under another URL, for some
// browsers keep a failure.
const fetched = new Map();
const failures = new Map();
// What was asked for before the program could ask.
const early = new Map();

function brought(url) {
    const file = url.href;
    if (!fetched.has(file)) {
        if (failures.has(file)) url.searchParams.set('again', failures.get(file));
        const got = (early.get(file) ?? fetch(url)).then((response) => __wbg_load(response, { __wasm_split: wasm }));
        early.delete(file);
        fetched.set(file, got);
        got.catch(() => {
            failures.set(file, (failures.get(file) ?? 0) + 1);
            fetched.delete(file);
        });
    }
    return fetched.get(file);
}

// The program asks for a part, and says what to call once its files are there.
function loads(urls) {
    const load = async (callback, data) => {
        const done = await Promise.all(urls().map(brought)).then(() => true, (error) => {
            console.error(error);
            return false;
        });
        wasm.__indirect_function_table.get(callback)(data, done);
    };
    return Object.assign(load, { urls });
}

/** Begins to fetch a part, while the program itself is fetched. */
export function begin(part) {
    for (const { href } of loaders[`__wasm_split_load_${part}`].urls()) {
        const got = fetch(href);
        // A failure is found when the program asks.
        got.catch(() => {});
        early.set(href, got);
    }
}
