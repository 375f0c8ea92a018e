// The objects, in their forms, and their history.

export const JSON_TYPE = "application/json";

/** JSON as Go writes it. */
export function encode(value, pretty = false) {
  const text = JSON.stringify(value, null, pretty ? 2 : 0);
  const safe = /[<>&\u2028\u2029]/.test(text)
    ? text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;
  return pretty ? safe : `${safe}\n`;
}

export const keyOf = ({ metadata: { namespace, name } }) => (namespace ? `${namespace}/${name}` : name);
export const versionOf = ({ metadata }) => Number(metadata.resourceVersion);
export const apiVersion = (kind) => (kind.group ? `${kind.group}/${kind.version}` : kind.version);
export const PARTIAL = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };
export const partial = ({ metadata }) => ({ ...PARTIAL, metadata });
export const full = (kind, object) => ({ kind: kind.kind, apiVersion: apiVersion(kind), ...object });
export const at = (object, revision) => ({ ...object, metadata: { ...object.metadata, resourceVersion: `${revision}` } });

/** The objects of one resource and their history. */
export class Store {
  constructor(kind, floor, room) {
    Object.assign(this, { kind, floor, room, objects: new Map(), history: [], made: 0 });
  }

  apply(type, object, revision) {
    const key = keyOf(object);
    const event = { store: this, type, object, revision, before: this.objects.get(key), lines: {} };
    if (type === "DELETED") this.objects.delete(key);
    else this.objects.set(key, object);
    this.history.push(event);
    if (this.history.length > 2 * this.room) {
      this.floor = this.history[this.room - 1].revision;
      this.history.splice(0, this.room);
    }
    return event;
  }

  compact(revision) {
    this.floor = revision;
    this.history = this.history.filter((event) => event.revision > revision);
  }

  /** All objects by key, as they were at a revision. */
  snapshot(revision) {
    const objects = new Map(this.objects);
    for (const event of [...this.history].reverse()) {
      if (event.revision <= revision) break;
      if (event.before) objects.set(keyOf(event.object), event.before);
      else objects.delete(keyOf(event.object));
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

export function merge(target, patch) {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const next = { ...(target !== null && typeof target === "object" && !Array.isArray(target) ? target : {}) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else next[key] = merge(next[key], value);
  }
  return next;
}
