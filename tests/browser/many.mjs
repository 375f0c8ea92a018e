// Files with many pods, as an API server would send them.
const NAMESPACES = 8;
const APPS = 24;
const NODES = 50;
const RV = 100_000;

function pod(n, rv, phase = "Running") {
  const uid = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const app = `app-${n % APPS}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace: `team-${n % NAMESPACES}`,
      name: `${app}-${String(n).padStart(5, "0")}`,
      uid,
      resourceVersion: String(rv),
      labels: { app },
    },
    spec: { nodeName: `node-${n % NODES}` },
    status: { phase },
  };
}

/** The response to a list. */
export function listOf(count) {
  const items = Array.from({ length: count }, (_, n) => pod(n, RV - count + n));
  return JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: String(RV) }, items });
}

/** Lines of a watch: of ten, eight are changes, one is a deletion, and one creates the object again. */
export function watchOf(count, events) {
  const lines = [];
  for (let n = 0; n < events; n += 1) {
    const turn = n % 10;
    const type = turn === 8 ? "DELETED" : turn === 9 ? "ADDED" : "MODIFIED";
    // A prime, so that the changes are scattered. The object that was deleted is created again.
    const which = ((turn === 9 ? n - 1 : n) * 7_919) % count;
    lines.push(JSON.stringify({ type, object: pod(which, RV + 1 + n, "Pending") }));
  }
  return `${lines.join("\n")}\n`;
}
