// <delta-scope> as a Vue component. The element itself draws, and only in the browser.
import { h, onMounted, ref, watch } from "vue";
import { ATTRIBUTES, EVENTS } from "./names.js";

/** The component. It exposes `element`, which has the methods. */
export const DeltaScope = {
  name: "DeltaScope",
  inheritAttrs: true,
  props: Object.fromEntries([...ATTRIBUTES.map((name) => [name, { type: [String, Number, Array] }]), ["scenario", { type: Object }]]),
  emits: EVENTS,
  setup(props, { emit, expose, slots }) {
    const element = ref(null);
    const first = props.scenario && JSON.stringify(props.scenario);
    onMounted(() => {
      import("./deltascope.js").catch((error) => emit("error", new CustomEvent("ds-error", { detail: { message: error.message } })));
    });
    watch(
      () => props.scenario && JSON.stringify(props.scenario),
      (text) => element.value?.load?.(text ? JSON.parse(text) : (props.lesson ?? ""))?.catch?.(() => {}),
    );
    expose({ element });
    return () => {
      const attributes = { ref: element };
      for (const name of ATTRIBUTES) {
        const value = props[name];
        // `^` sets the attribute, even if the element has a property of this name.
        if (value != null) attributes[`^${name}`] = Array.isArray(value) ? value.join(",") : String(value);
      }
      for (const name of EVENTS) {
        attributes[`onDs${name[0].toUpperCase()}${name.slice(1)}`] = (event) => event.target === element.value && emit(name, event);
      }
      const script = first && h("script", { key: "scenario", type: "application/json", innerHTML: first.replaceAll("<", "\\u003c") });
      return h("delta-scope", attributes, [script, slots.default?.()]);
    };
  },
};

export default DeltaScope;
