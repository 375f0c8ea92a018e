// <delta-scope> as a React component. The element itself draws, and only in the browser.
import { createElement, forwardRef, useCallback, useEffect, useRef } from "react";
import { ATTRIBUTES, EVENTS } from "./names.js";

const PROPS = [...ATTRIBUTES, "id", "style", "title", "slot"];
// `onReady` listens to `ds-ready`.
const LISTENERS = EVENTS.map((name) => [`on${name[0].toUpperCase()}${name.slice(1)}`, `ds-${name}`]);

/** The component. React 18 passes refs only to `forwardRef` components. */
export const DeltaScope = forwardRef(function DeltaScope(props, ref) {
  const { scenario, className, children } = props;
  const own = useRef(null);
  const latest = useRef(props);
  const keep = useCallback(
    (element) => {
      own.current = element;
      if (typeof ref !== "function") {
        if (ref) ref.current = element;
        return undefined;
      }
      const done = ref(element);
      // React 19 calls the function that a ref has returned, instead of the ref with null.
      if (typeof done !== "function") return undefined;
      return () => {
        own.current = null;
        done();
      };
    },
    [ref],
  );
  const text = scenario === undefined ? undefined : JSON.stringify(scenario);
  const shown = useRef(text);

  useEffect(() => {
    latest.current = props;
  });

  // Effects do not run on a server, which has no custom elements.
  useEffect(() => {
    const element = own.current;
    let listening = true;
    import("./deltascope.js").catch((error) => {
      if (listening) latest.current.onError?.(new CustomEvent("ds-error", { detail: { message: error.message } }));
    });
    const listeners = LISTENERS.map(([name, type]) => {
      const listener = (event) => event.target === element && latest.current[name]?.(event);
      element.addEventListener(type, listener);
      return [type, listener];
    });
    return () => {
      listening = false;
      for (const [type, listener] of listeners) element.removeEventListener(type, listener);
    };
  }, []);

  // The first scenario is in the markup, where the element reads it.
  useEffect(() => {
    if (shown.current === text) return;
    shown.current = text;
    own.current.load?.(text === undefined ? (latest.current.lesson ?? "") : JSON.parse(text))?.catch?.(() => {});
  }, [text]);

  const attributes = { ref: keep };
  for (const name of PROPS) {
    const value = props[name];
    if (value != null) attributes[name] = Array.isArray(value) ? value.join(",") : value;
  }
  for (const [name, value] of Object.entries(props)) {
    if (/^(?:data|aria)-/.test(name)) attributes[name] = value;
  }
  if (className) attributes.class = className;
  // Escaped, so that it cannot end the script element.
  const inside = shown.current?.replaceAll("<", "\\u003c");
  const script =
    inside === undefined
      ? null
      : createElement("script", { key: "scenario", type: "application/json", suppressHydrationWarning: true, dangerouslySetInnerHTML: { __html: inside } });
  return createElement("delta-scope", attributes, script, children);
});

export default DeltaScope;
