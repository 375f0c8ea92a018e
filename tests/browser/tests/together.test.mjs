// Several resources of a cluster at once, in tabs, and the way from an object to its owner and back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, suite } from "../harness.mjs";
import { owner } from "../kinds.mjs";
import { caughtUp, connected } from "../live.mjs";

const { onCluster } = suite();
const SETS = "replicasets.apps";

/** A ReplicaSet and the pods that it owns. */
const some = {
  setUp: (api) => {
    const set = api.create("replicasets", { metadata: { name: "web-7d4" } });
    const ownerReferences = [owner(api.stores.get(SETS).kind, set)];
    for (const name of ["a", "b", "c"]) api.create("pods", { metadata: { name: `web-7d4-${name}`, ownerReferences } });
    api.generate("pods", 5);
  },
};

const tabs = (app) => app.page.getByRole("tablist", { name: /Watched resources|正在观察的资源/ }).getByRole("tab");
const tab = (app, name) => tabs(app).filter({ hasText: name });
const related = (app) => app.page.locator(".related");
const selected = (app) => app.page.locator(".watched [aria-selected=true]");

/** Watches a resource beside the others, by hand. */
async function beside(app, resource) {
  await app.id("live-badge").click();
  await app.id(`resource-${resource}`).click();
  await app.id("cluster-start").click();
  await selected(app).filter({ hasText: resource }).waitFor();
}

test("an object leads to its owner in another tab, and back", onCluster(some, async (app, api) => {
  await connected(app, api);
  assert.equal(await tabs(app).count(), 0, "one resource needs no tabs");

  // The owner's kind is not watched: the page offers to.
  await app.call("select", "api/object/default/web-7d4-b");
  await app.id("btn-why").click();
  await related(app).getByText("Owned by ReplicaSet web-7d4").waitFor();
  await related(app).getByRole("button", { name: "Watch ReplicaSet in another tab …" }).click();
  await app.id("cluster-start").filter({ hasText: SETS }).click();
  await caughtUp(app, api, SETS);
  await selected(app).filter({ hasText: "replicasets.apps · default" }).waitFor();
  assert.equal(api.watches.length, 2);
  assert.equal(await app.id("drawer").count(), 0, "each tab has its own drawer");

  // Both grow, the one that is hidden, too.
  api.create("replicasets", { metadata: { name: "cart-5f" } });
  api.create("pods", { metadata: { name: "new" } });
  await caughtUp(app, api, SETS);
  await tab(app, "pods").filter({ hasText: "9 objects, live" }).waitFor();
  await selected(app).filter({ hasText: "2 objects, live" }).waitFor();

  // Back to the pods: what was open and selected still is.
  await tab(app, "pods").click();
  await caughtUp(app, api);
  const back = await app.state();
  assert.equal(back.live.following, true);
  await related(app).getByRole("button").filter({ hasText: "Owned by ReplicaSet web-7d4 → replicasets.apps · default" }).click();
  await selected(app).filter({ hasText: SETS }).waitFor();
  await related(app).getByText("Owns 3 objects of kind Pod → pods · all namespaces").waitFor();
  await related(app).getByRole("button").filter({ hasText: "web-7d4-c" }).click();
  await selected(app).filter({ hasText: "pods" }).waitFor();
  const { selection } = await app.eventually("the pod is selected", (now) => now.selection?.anchor?.includes("web-7d4-c"));
  assert.ok(selection);
  await related(app).getByText("Owned by ReplicaSet web-7d4").waitFor();

  // The keyboard: along the tabs, and a tab is closed.
  await selected(app).focus();
  api.create("pods", { metadata: { name: "newer" } });
  await selected(app).filter({ hasText: "10 objects" }).waitFor();
  await app.page.keyboard.press("End");
  await selected(app).filter({ hasText: SETS }).waitFor();
  await app.page.keyboard.press("ArrowRight");
  await selected(app).filter({ hasText: "pods" }).waitFor();
  await app.page.keyboard.press("ArrowLeft");
  await selected(app).filter({ hasText: SETS }).waitFor();
  await app.page.keyboard.press("Delete");
  await api.when("its watch is left", () => api.watches.length === 1);
  await tabs(app).first().waitFor({ state: "detached" });
  await app.page.waitForFunction(() => document.activeElement?.dataset.testid === "live-badge");
  await caughtUp(app, api);
  await app.call("disconnect");
  await api.when("the last watch is left", () => api.watches.length === 0);
  assert.equal((await app.state()).live, null, "its recording stays");
}));

test("a tab in the past leads to the past of the other", onCluster(some, async (app, api) => {
  await connected(app, api);
  await beside(app, SETS);
  await caughtUp(app, api, SETS);
  // A time at which both are watched; then the ReplicaSet goes, and its pods after it.
  await tab(app, "pods").click();
  api.update("pods", "default/web-7d4-a");
  const before = await caughtUp(app, api);
  api.remove("replicasets", "default/web-7d4");
  await tab(app, SETS).filter({ hasText: "0 objects" }).waitFor();
  api.remove("pods", "default/web-7d4-a");
  await caughtUp(app, api);
  await app.call("seek", before.steps);
  await app.call("select", "api/object/default/web-7d4-a");
  await app.id("btn-why").click();
  await related(app).getByRole("button").filter({ hasText: "Owned by ReplicaSet web-7d4" }).click();
  const { live, store } = await app.eventually("the ReplicaSet of that time", ({ store: { items } }) => "default/web-7d4" in items);
  assert.equal(live.following, false);
  assert.equal(Object.keys(store.items).length, 1);
  // At the edge it is gone.
  await app.id("btn-live").click();
  await caughtUp(app, api, SETS);
}));

test("there is room for five tabs, and the page says why", onCluster({
  setUp: (api) => ["pods", "nodes", "namespaces", "deployments", "replicasets"].forEach((resource) => api.generate(resource, 2)),
}, async (app, api) => {
  await connected(app, api);
  for (const resource of ["nodes", "namespaces", "deployments.apps", SETS]) await beside(app, resource);
  await api.when("all are watched", () => api.watches.length === 5);
  await app.id("live-badge").click();
  await app.id("resource-events").click();
  await app.id("cluster-start").click();
  await app.page.getByText(/5 tabs are the most.*6 connections.*Close a tab/).waitFor();
  await app.page.keyboard.press("Escape");
  // A phone shows some of them, and that there are more.
  for (const size of [DESKTOP, { width: 390, height: 844 }]) {
    await app.page.setViewportSize(size);
    for (const one of await tabs(app).all()) {
      await one.click();
      await app.page.waitForFunction((id) => {
        const [inner, outer] = [document.getElementById(id), document.querySelector(".watched .tabs")].map((of) => of.getBoundingClientRect());
        return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
      }, await one.getAttribute("id"));
    }
    assert.equal(await app.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
  }
  await app.id("tab-close").click();
  await api.when("one watch less", () => api.watches.length === 4);
}));
