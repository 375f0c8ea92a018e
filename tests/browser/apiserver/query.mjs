// What a request for objects asks for; what it may not ask for is refused.
import { JSON_TYPE, encode } from "./objects.mjs";
import { fieldSelector, labelSelector } from "./selectors.mjs";
import { Refusal, bad, failure, forbidden, invalid } from "./status.mjs";

export const MATCH_EXACT = "Exact";
const MATCH_NEWER = "NotOlderThan";

/** The form that the Accept header asks for: the first supported one. */
export function form(accept, kind, single) {
  const parts = (accept || "*/*").split(",").map((part) => part.trim());
  for (const part of parts) {
    const [type, ...parameters] = part.split(";").map((piece) => piece.trim());
    if (![JSON_TYPE, "*/*", "application/*"].includes(type)) continue;
    const as = parameters.find((piece) => piece.startsWith("as="))?.slice(3);
    if (!as) return "full";
    if (as === (single ? "PartialObjectMetadata" : "PartialObjectMetadataList")) return "partial";
    if (as === "PartialObjectMetadata" && parts.length === 1) {
      throw new Refusal(failure(406, "NotAcceptable",
        `you requested PartialObjectMetadata, but the requested object is a list (*${kind.version}.${kind.kind}List)`));
    }
  }
  throw new Refusal(failure(406, "NotAcceptable", "406: Not Acceptable\n\nAvailable representations: application/json, " +
    "application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, " +
    "application/vnd.kubernetes.protobuf;stream=watch", {}));
}

/** Whether the selectors of a request select an object. */
export function selects(query, kind) {
  const byLabel = labelSelector(query.get("labelSelector") ?? "");
  const byField = fieldSelector(kind, query.get("fieldSelector") ?? "");
  return (object) => byLabel(object.metadata.labels) && byField(object);
}

/** The version that a list is asked for at. */
export function version(text) {
  if (!/^\d*$/.test(text)) {
    throw bad(`invalid resource version: resourceVersion: Invalid value: "${text}": ` +
      `strconv.ParseUint: parsing "${text}": invalid syntax`);
  }
  return Number(text || 0);
}

export function limit(text) {
  if (!/^-?\d*$/.test(text)) throw bad(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text || 0);
}

/** The token that continues a list of this version behind this name; -1: of whichever version is current then. */
export function token(rv, start) {
  return btoa(encode({ v: "meta.k8s.io/v1", rv, start }).trimEnd()).replace(/=+$/, "");
}

/** What a token says. */
export function continued(token) {
  const text = Buffer.from(token, "base64").toString("latin1");
  try {
    const { rv, start } = JSON.parse(text);
    return { rv: Number(rv), start: `${start}` };
  } catch {
    throw bad(`invalid continue token: continue key is not valid: invalid character '${text[0]}' looking for beginning of value`);
  }
}

/** The rules of `resourceVersionMatch` for a list. */
export function checkList(given, match, token) {
  const about = "resourceVersionMatch";
  if (match && !given) throw invalid(forbidden(about, `${about} is forbidden unless resourceVersion is provided`));
  if (match && token) throw invalid(forbidden(about, `${about} is forbidden when continue is provided`));
  if (match && ![MATCH_EXACT, MATCH_NEWER].includes(match)) {
    throw invalid({ reason: "FieldValueNotSupported", field: about,
      message: `Unsupported value: "${match}": supported values: "${MATCH_EXACT}", "${MATCH_NEWER}", ""` });
  }
  if (match === MATCH_EXACT && given === "0") {
    throw invalid(forbidden(about, `${about} "${MATCH_EXACT}" is forbidden for resourceVersion "0"`));
  }
}

/** … and for a watch, with those of `sendInitialEvents`. */
export function checkWatch(initial, match, watchList) {
  const causes = [];
  if (initial !== null && match !== MATCH_NEWER) {
    causes.push(forbidden("resourceVersionMatch", `sendInitialEvents requires setting resourceVersionMatch to ${MATCH_NEWER}`));
  } else if (initial !== null && !watchList) {
    causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"));
  }
  if (initial === null && match) {
    causes.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    if (match !== MATCH_NEWER) {
      causes.push({ reason: "FieldValueNotSupported", message: `Unsupported value: "${match}": supported values: "${MATCH_NEWER}"`,
        field: "resourceVersionMatch" });
    }
  }
  if (causes.length > 0) throw invalid(...causes);
}
