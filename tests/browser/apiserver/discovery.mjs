// What a path refers to, and the documents that say so. `api` has the kinds that are served, the states of their groups, and the
// settings.
import { JSON_TYPE } from "./objects.mjs";

/** What a path refers to: nothing known, a group's version without a known kind, or a resource. */
export function target({ kinds, groups }, path) {
  const [, core, group = "", version, rest] =
    /^\/(?:(api)|apis\/([^/]+))\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (!version) {
    const [, only] = /^\/apis\/([^/]+)/.exec(path) ?? [];
    return only && groups[only] === "stale" ? { group: only } : undefined;
  }
  const served = kinds.filter((kind) => kind.group === (core ? "" : group) && kind.version === version);
  if (served.length === 0) return groups[group] === "stale" ? { group } : undefined;
  const parts = rest.split("/").map(decodeURIComponent);
  const spaced = parts[0] === "namespaces" && parts.length > 2;
  const namespace = spaced ? parts[1] : undefined;
  const [plural, name] = spaced ? parts.slice(2) : parts;
  return { group, kind: served.find((kind) => kind.plural === plural), namespace, name };
}

/** The document at a path, and the type that it is sent as where that is not plain JSON; none if there is no document. */
export function document(api, path, accept) {
  const groups = new Map();
  for (const kind of api.kinds) {
    if (api.groups[kind.group] !== "gone") groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  }
  const core = groups.get("") ?? [];
  groups.delete("");
  const asked = api.settings.aggregated && aggregatedForm(accept);
  if (asked && (path === "/api" || path === "/apis")) {
    const headers = {
      "content-type": `${JSON_TYPE};g=apidiscovery.k8s.io;v=${asked};as=APIGroupDiscoveryList`,
      vary: "Accept",
    };
    const items = path === "/api" ? [["", core]] : [...groups];
    const found = {
      kind: "APIGroupDiscoveryList",
      apiVersion: `apidiscovery.k8s.io/${asked}`,
      metadata: {},
      items: items.map(([name, kinds]) => aggregatedGroup(name, kinds, api.groups[name] === "stale")),
    };
    return { found, headers };
  }
  const found = plain(api, path, core, groups);
  return found && { found };
}

function plain(api, path, core, groups) {
  const servers = { serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: `${api.settings.host}:${api.port}` }] };
  const group = (name, kinds) => {
    const versions = unique(kinds, "version").map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0], ...servers };
  };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], ...servers };
  if (path === "/apis") return { kind: "APIGroupList", groups: [...groups].map(([name, kinds]) => group(name, kinds)) };
  if (path === "/api/v1") return { kind: "APIResourceList", groupVersion: "v1", resources: core.flatMap(legacy) };
  const [, name, version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const kinds = groups.get(name);
  if (kinds && !version) return { kind: "APIGroup", apiVersion: "v1", ...group(name, kinds) };
  const listed = kinds?.filter((kind) => kind.version === version) ?? [];
  if (listed.length > 0) {
    return { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${name}/${version}`, resources: listed.flatMap(legacy) };
  }
  if (path === "/version") return release(api.settings.kubernetes);
  if (path !== "/") return undefined;
  return { paths: ["/api", "/api/v1", "/apis", ...[...groups.keys()].map((name) => `/apis/${name}`), "/version"] };
}

function aggregatedForm(accept) {
  const wanted = accept.split(",").find((part) => part.includes("as=APIGroupDiscoveryList"));
  return wanted && (/;v=(v2beta1|v2)\b/.exec(wanted)?.[1]);
}

function aggregatedGroup(name, kinds, stale) {
  const named = (kind) => ({ group: "", version: "", kind });
  return {
    metadata: name ? { name } : {},
    versions: unique(kinds, "version").map((version) => ({
      version,
      ...(!stale && {
        resources: kinds.filter((kind) => kind.version === version).map((kind) => ({
          resource: kind.plural,
          responseKind: named(kind.kind),
          scope: kind.namespaced ? "Namespaced" : "Cluster",
          singularResource: kind.singular,
          verbs: kind.verbs,
          ...(kind.short.length > 0 && { shortNames: kind.short }),
          ...(kind.categories.length > 0 && { categories: kind.categories }),
          ...(kind.subresources.length > 0 && {
            subresources: kind.subresources.map((sub) => ({ subresource: sub.name, responseKind: named(sub.kind), verbs: sub.verbs })),
          }),
        })),
      }),
      freshness: stale ? "Stale" : "Current",
    })),
  };
}

function release(kubernetes) {
  const [major, minor] = kubernetes.split(".");
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: `${minor - 1}`,
    gitVersion: `v${kubernetes}`,
    gitCommit: "0".repeat(40),
    gitTreeState: "clean",
    buildDate: "2026-09-10T00:00:00Z",
    goVersion: "go1.27.3",
    compiler: "gc",
    platform: "linux/amd64",
  };
}

const unique = (all, field) => [...new Set(all.map((one) => one[field]))];

function legacy(kind) {
  const { plural, singular, namespaced, kind: name, verbs, short, categories, hash } = kind;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind: name,
      verbs,
      ...(short.length > 0 && { shortNames: short }),
      ...(categories.length > 0 && { categories }),
      ...(hash && { storageVersionHash: hash }),
    },
    ...kind.subresources.map((sub) => ({ name: `${plural}/${sub.name}`, singularName: "", namespaced, kind: sub.kind, verbs: sub.verbs })),
  ];
}
