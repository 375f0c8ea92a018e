// What clients write, each the least that a leader election and a controller need: in JSON, without validation.
import { full, keyOf, merge } from "./objects.mjs";
import { Refusal, bad, failure } from "./status.mjs";

// Of a strategic merge patch and an apply, too, all that is used here are fields.
const PATCHES = ["application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"];
const BODIES = { POST: ["application/json"], PUT: ["application/json"], PATCH: PATCHES, DELETE: ["application/json"] };

/** Answers a write: its status code, and the object. `resource` is what `api` calls it. */
export async function write(api, resource, request, { kind, namespace, name }) {
  const type = (request.headers["content-type"] ?? "application/json").split(";")[0].trim();
  const accepted = BODIES[request.method];
  if (!accepted || (name === undefined) !== (request.method === "POST")) {
    throw new Refusal(failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}));
  }
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  if (text && !accepted.includes(type)) {
    throw new Refusal(failure(415, "UnsupportedMediaType",
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`));
  }
  const given = object(text || "{}");
  const details = { name, group: kind.group, kind: kind.plural };
  if (request.method === "POST") return [201, create(api, resource, kind, namespace, given)];
  const known = api.object(resource, namespace ? `${namespace}/${name}` : name);
  if (!known && type === "application/apply-patch+yaml") {
    const metadata = { ...given.metadata, name };
    return [201, create(api, resource, kind, namespace, { ...given, metadata })];
  }
  if (!known) throw new Refusal(failure(404, "NotFound", `${kind.plural} "${name}" not found`, details));
  const { resourceVersion, uid } = (request.method === "DELETE" ? given.preconditions : given.metadata) ?? {};
  if ((resourceVersion && resourceVersion !== known.metadata.resourceVersion) || (uid && uid !== known.metadata.uid)) {
    throw new Refusal(failure(409, "Conflict", `Operation cannot be fulfilled on ${kind.plural} "${name}": the object has been ` +
      "modified; please apply your changes to the latest version and try again", details));
  }
  const { uid: own, creationTimestamp } = known.metadata;
  const { kind: _, apiVersion: __, ...next } = request.method === "PATCH" ? merge(known, given) : given;
  const metadata = { ...next.metadata, name, ...(namespace && { namespace }), uid: own, creationTimestamp };
  const changed = request.method === "DELETE"
    ? api.remove(resource, keyOf(known)) : api.put(resource, { ...next, metadata });
  return [200, full(kind, changed)];
}

function create(api, resource, kind, namespace, { kind: _, apiVersion: __, ...given }) {
  const { generateName, name = `${generateName}${api.revision.toString(36)}` } = given.metadata ?? {};
  if (api.object(resource, namespace ? `${namespace}/${name}` : name)) {
    const details = { name, group: kind.group, kind: kind.plural };
    throw new Refusal(failure(409, "AlreadyExists", `${kind.plural} "${name}" already exists`, details));
  }
  return full(kind, api.create(resource, { ...given, metadata: { ...given.metadata, name, ...(namespace && { namespace }) } }));
}

function object(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw bad(`the body of the request is no JSON: ${error.message}`);
  }
}
