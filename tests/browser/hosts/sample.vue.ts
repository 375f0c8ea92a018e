// Uses the Vue component. It is type-checked and never run.
import { h } from "vue";
import { DeltaScope } from "deltascope/vue";

export const page = () => h(DeltaScope, { lesson: "tombstone", era: "1.36", panels: ["api", "queue"], onStep: ({ detail }) => detail.step });
