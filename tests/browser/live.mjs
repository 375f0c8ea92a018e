// Watching the test API server from the page: what the tests of it have in common.
import { isDeepStrictEqual } from "node:util";

/** Waits until the page's store has what the server has, of what was chosen. */
export function caughtUp(app, api, resource = "pods", chosen = () => true) {
  return app.eventually("the store has what the server has", ({ store }) => {
    const wanted = [...api.stores.get(resource).objects].filter(([key]) => chosen(key));
    return isDeepStrictEqual(store.items, Object.fromEntries(wanted.map(([key, { metadata }]) => [key, metadata.resourceVersion])));
  });
}

/** Watches a resource, from a script. */
export async function connected(app, api, options = {}) {
  await app.call("connect", options);
  return caughtUp(app, api, options.resource);
}

/**
 * Lets time pass until something has come of it; less at once than a watch may be silent, and none while a request has no answer:
 * on a busy machine it would be given up.
 */
export async function inTime(app, awaited) {
  let passing = Promise.resolve();
  const pass = () => {
    if (app.unanswered.size === 0) passing = app.page.clock.fastForward(10_000).catch(() => {});
  };
  const clock = setInterval(pass, 300);
  try {
    return await awaited;
  } finally {
    clearInterval(clock);
    await passing;
  }
}

/** The lists that were asked for, those that only count left out; and the watches. */
export const lists = (api) => api.asked.filter(({ path, watch, url }) => /pods$/.test(path) && !watch && !/limit=1(&|$)/.test(url));
export const watches = (api) => api.asked.filter(({ watch }) => watch);
