// Shared by the tests that watch the test API server from the page.
import { isDeepStrictEqual } from "node:util";

/** Waits until the page's store has the server's objects (those that `chosen` selects). */
export function caughtUp(app, api, resource = "pods", chosen = () => true) {
  return app.eventually("the store has what the server has", ({ store }) => {
    const wanted = [...api.stores.get(resource).objects].filter(([key]) => chosen(key));
    return isDeepStrictEqual(store.items, Object.fromEntries(wanted.map(([key, { metadata }]) => [key, metadata.resourceVersion])));
  });
}

/** Connects to a resource, by script. */
export async function connected(app, api, options = {}) {
  await app.call("connect", options);
  return caughtUp(app, api, options.resource);
}

/**
 * Advances the clock until a promise settles: by less at once than a watch may be silent, and not while a request has no
 * response, because on a busy machine that request would time out.
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

/** The lists that were requested, except those that only count; and the watches. */
export const lists = (api) => api.asked.filter(({ path, watch, url }) => /pods$/.test(path) && !watch && !/limit=1(&|$)/.test(url));
export const watches = (api) => api.asked.filter(({ watch }) => watch);
