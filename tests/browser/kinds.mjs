// The kinds that the test API server serves, as discovery describes them, and made-up objects of these.

const ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const kind = (group, version, plural, name, singular, more = {}) => ({
  group,
  version,
  plural,
  kind: name,
  singular,
  namespaced: true,
  verbs: ALL,
  short: [],
  categories: [],
  subresources: [],
  /** The fields of an empty object beside its metadata; a bookmark carries them. */
  empty: {},
  /** The field selectors besides name and namespace. */
  fields: [],
  ...more,
});
const status = (name) => ({ name: "status", kind: name, verbs: ["get", "patch", "update"] });
const TEMPLATE = { metadata: {}, spec: { containers: null } };

export const KINDS = [
  kind("", "v1", "configmaps", "ConfigMap", "configmap", { short: ["cm"], hash: "qFsyl6wFWjQ=" }),
  kind("", "v1", "events", "Event", "event", {
    short: ["ev"],
    hash: "r2yiGXH7wu8=",
    empty: { involvedObject: {}, source: {}, firstTimestamp: null, lastTimestamp: null, eventTime: null },
    fields: ["reason", "type", "involvedObject.kind", "involvedObject.name", "involvedObject.namespace"],
  }),
  kind("", "v1", "namespaces", "Namespace", "namespace", {
    short: ["ns"],
    namespaced: false,
    hash: "Q3oi5N2YM8M=",
    empty: { spec: {}, status: {} },
    fields: ["status.phase"],
  }),
  kind("", "v1", "nodes", "Node", "node", {
    short: ["no"],
    namespaced: false,
    hash: "XwShjMxG9Fs=",
    subresources: [status("Node")],
    empty: { spec: {}, status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } } } },
    fields: ["spec.unschedulable"],
  }),
  kind("", "v1", "pods", "Pod", "pod", {
    short: ["po"],
    categories: ["all"],
    hash: "xPOwRZ+Yhw8=",
    subresources: [{ name: "binding", kind: "Binding", verbs: ["create"] }, status("Pod")],
    empty: { spec: { containers: null }, status: {} },
    fields: ["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
      "status.phase", "status.podIP", "status.nominatedNodeName"],
  }),
  kind("", "v1", "secrets", "Secret", "secret", { hash: "S6u1pOWzb84=", fields: ["type"] }),
  kind("apps", "v1", "deployments", "Deployment", "deployment", {
    short: ["deploy"],
    categories: ["all"],
    hash: "8aSe+NMegvE=",
    subresources: [status("Deployment")],
    empty: { spec: { selector: null, template: TEMPLATE, strategy: {} }, status: {} },
  }),
  kind("apps", "v1", "replicasets", "ReplicaSet", "replicaset", {
    short: ["rs"],
    categories: ["all"],
    hash: "P1RzHs8/mWQ=",
    subresources: [status("ReplicaSet")],
    empty: { spec: { selector: null }, status: { replicas: 0 } },
  }),
  // Leaders are elected with them.
  kind("coordination.k8s.io", "v1", "leases", "Lease", "lease", { empty: { spec: {} } }),
  // A CustomResourceDefinition with two versions, of which the first is preferred.
  ...["v1", "v1beta1"].map((version) =>
    kind("stable.example.com", version, "crontabs", "CronTab", "crontab", { short: ["ct"], stored: "v1" })),
  // An aggregated API: it can be listed but not watched, and is sometimes down.
  kind("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", "", { verbs: ["get", "list"] }),
];

/** The same numbers for the same seed (mulberry32). */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NAMESPACES = ["default", "kube-system", "shop", "team-a"];
const APPS = ["web", "cart", "worker", "cache", "cron"];
/** Must never be seen outside the connection. Every Secret and every ConfigMap contains it. */
export const PRIVATE = "not-for-the-page";

/** The `n`th made-up object of a kind. Its name, namespace and labels are the same each time. */
export function example(kind, n, { namespaces = NAMESPACES, nodes = 5 } = {}) {
  const app = APPS[n % APPS.length];
  const meta = (name, labels = { app, n: `${n % 10}` }) => ({
    name,
    ...(kind.namespaced && { namespace: namespaces[n % namespaces.length] }),
    labels,
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"from":"${PRIVATE}"}\n` },
    managedFields: [
      { manager: "kubectl", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:spec": {} } },
    ],
  });
  switch (kind.plural) {
    case "pods":
      if (kind.group !== "") return { metadata: meta(`${app}-${n}`), window: "10s", containers: [] };
      return {
        metadata: meta(`${app}-${n}`),
        spec: {
          containers: [{ name: "main", image: `registry.example.com/${app}:1.${n % 7}`, resources: {} }],
          restartPolicy: "Always",
          nodeName: `node-${n % nodes}`,
          serviceAccountName: "default",
        },
        status: { phase: "Running", podIP: `10.244.${n % nodes}.${n % 250}`, qosClass: "BestEffort" },
      };
    case "nodes":
      return { metadata: meta(`node-${n}`), spec: { podCIDR: `10.244.${n}.0/24` }, status: { capacity: { pods: "110" } } };
    case "namespaces": {
      const name = NAMESPACES[n] ?? `team-${n}`;
      return { metadata: { name, labels: { "kubernetes.io/metadata.name": name } }, spec: {}, status: { phase: "Active" } };
    }
    case "secrets":
      return { metadata: meta(`token-${n}`), data: { token: btoa(`${PRIVATE}-${n}`), [PRIVATE]: "" }, type: "Opaque" };
    case "configmaps":
      return { metadata: meta(`settings-${n}`), data: { mode: PRIVATE, n: `${n}` } };
    case "events":
      return {
        metadata: meta(`${app}-${n}.17a`, undefined),
        involvedObject: { kind: "Pod", namespace: namespaces[n % namespaces.length], name: `${app}-${n}` },
        reason: n % 3 ? "Pulled" : "BackOff",
        message: `Container image for ${app}-${n} was looked at`,
        source: { component: "kubelet", host: `node-${n % nodes}` },
        count: 1,
        type: n % 3 ? "Normal" : "Warning",
        eventTime: null,
      };
    case "deployments":
      return {
        metadata: meta(`${app}-${n}`, { app }),
        spec: { replicas: 1 + (n % 4), selector: { matchLabels: { app } }, template: TEMPLATE, strategy: {} },
        status: { replicas: 1 + (n % 4) },
      };
    case "replicasets":
      return { metadata: meta(`${app}-${n}`, { app }), spec: { replicas: 1, selector: { matchLabels: { app } } }, status: { replicas: 1 } };
    default:
      return { metadata: meta(`${kind.singular}-${n}`), spec: { cronSpec: "*/5 * * * *", image: app, replicas: n % 3 } };
  }
}

/** A reference to an object as the owner of another. */
export const owner = ({ kind, group, version }, { metadata: { name, uid } }) => ({
  apiVersion: group ? `${group}/${version}` : version,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** The object after the `n`th made-up change: a change that a controller or a kubelet would make. */
export function changed(kind, object, n) {
  const next = { ...object, metadata: { ...object.metadata } };
  if (object.status) {
    const phases = ["Running", "Pending", "Running", "Failed"];
    next.status = { ...object.status, observed: n };
    if (kind.plural === "pods") next.status.phase = phases[n % phases.length];
  } else {
    next.metadata.labels = { ...object.metadata.labels, seen: `${n}` };
  }
  return next;
}
