// The names of the element's attributes and events, for the element and for what wraps it. A server imports them, too.

export const ATTRIBUTES = [
  "lesson", "src", "era", "at", "until", "panels", "controls", "mode", "scene", "granularity", "speed",
  "theme", "lang", "motion", "height", "load", "markers", "link",
];

/** Each is dispatched as `ds-` and its name. */
export const EVENTS = ["ready", "step", "marker", "violation", "scene", "answer", "goal", "error"];
