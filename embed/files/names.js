// The names of the element's attributes and events, for the element and for what wraps it. A server imports them, too.

export const ATTRIBUTES = [
  "lesson", "src", "era", "at", "until", "panels", "controls", "mode", "scene", "granularity", "speed",
  "theme", "lang", "motion", "height", "load", "markers", "link",
];

/** Each is dispatched as `ds-` and its name. */
export const EVENTS = ["ready", "step", "marker", "violation", "scene", "answer", "goal", "error"];

const VALUES = { lang: ["auto", "en", "zh"], load: ["visible", "click", "eager"] };

/** Whether one name is another with a letter more, less, changed, or exchanged with its neighbour. */
function isNear(one, other) {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const [a, b] = [short.slice(at), long.slice(at)];
  return a === b.slice(1) || a.slice(1) === b.slice(1) || (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2));
}

/** What an element's author may have meant otherwise: a browser ignores an attribute that nobody knows, and so do
    `lang` and `load` a value. */
export function doubts(element) {
  const found = [];
  for (const { name, value } of element.attributes) {
    const meant = ATTRIBUTES.includes(name) ? undefined : ATTRIBUTES.find((one) => one.length > 2 && isNear(name, one));
    if (meant) found.push(`there is no attribute ${name}. Did you mean ${meant}?`);
    const words = VALUES[name];
    const word = value.toLowerCase().split(/[-_]/)[0];
    if (words && word && !words.includes(word)) found.push(`${name}="${value}" is not known. Write one of: ${words.join(", ")}.`);
  }
  return found;
}
