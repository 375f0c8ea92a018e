// What the API server says when it refuses a request.

export const failure = (code, reason, message, details, metadata = {}) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata,
  status: "Failure",
  message,
  reason,
  ...(details && { details }),
  code,
});
/** A Status to answer with, thrown where the error is found. */
export class Refusal extends Error {
  constructor(status, retryAfter) {
    super(status.message);
    Object.assign(this, { status, retryAfter });
  }
}
export const bad = (message) => new Refusal(failure(400, "BadRequest", message));
export const invalid = (...causes) => {
  const all = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const what = all.length === 1 ? all[0] : `[${all.join(", ")}]`;
  const details = { group: "meta.k8s.io", kind: "ListOptions", causes };
  return new Refusal(failure(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ${what}`, details));
};
export const forbidden = (field, why) => ({ reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field });
export const expired = (message, metadata) => failure(410, "Expired", message, undefined, metadata);
export const tooLarge = (asked, current) =>
  failure(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
