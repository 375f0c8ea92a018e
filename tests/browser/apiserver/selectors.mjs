// Label and field selectors.
import { bad } from "./status.mjs";

/** @returns {(labels: object) => boolean} */
export function labelSelector(text) {
  const tokens = text.match(/==|!=|[=!(),<>]|[^\s=!(),<>]+/g) ?? [];
  const next = (expected, ok) => {
    const token = tokens.shift() ?? "";
    if (!ok(token)) throw bad(`unable to parse requirement: found '${token}', expected: ${expected}`);
    return token;
  };
  const word = () => next("identifier", (token) => /^[^=!(),<>]+$/.test(token));
  const terms = [];
  while (tokens.length > 0) {
    if (tokens[0] === "!") {
      tokens.shift();
      const key = word();
      terms.push((labels) => !(key in labels));
    } else {
      const key = word();
      const operator = tokens[0] === undefined || tokens[0] === "," ? "exists" : tokens.shift();
      let values = [];
      if (operator === "in" || operator === "notin") {
        next("(", (token) => token === "(");
        for (let mark = ","; mark === ","; mark = next("',' or ')'", (token) => token === "," || token === ")")) {
          values.push(word());
        }
      } else if (operator !== "exists") {
        const none = tokens[0] === undefined || tokens[0] === ",";
        values = [none ? "" : word()];
      }
      const among = (labels) => key in labels && values.includes(labels[key]);
      if (operator === "exists") terms.push((labels) => key in labels);
      else if (["in", "=", "=="].includes(operator)) terms.push(among);
      else if (["notin", "!="].includes(operator)) terms.push((labels) => !among(labels));
      else throw bad(`unable to parse requirement: found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    if (tokens.length > 0) next("',' or 'end of string'", (token) => token === ",");
  }
  return (labels) => terms.every((term) => term(labels ?? {}));
}

/** @returns {(object: object) => boolean} */
export function fieldSelector(kind, text) {
  const terms = text.split(",").filter(Boolean).map((term) => {
    const [, field, operator, value] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
    if (!field) throw bad(`invalid selector: '${term}'; can't understand '${term}'`);
    if (!["metadata.name", "metadata.namespace", ...kind.fields].includes(field)) {
      throw bad(`field label not supported: ${field}`);
    }
    return { path: field.split("."), wanted: operator !== "!=", value };
  });
  return (object) =>
    terms.every(({ path, wanted, value }) => {
      const found = path.reduce((at, name) => at?.[name], object);
      return `${found ?? ""}` === value === wanted;
    });
}
