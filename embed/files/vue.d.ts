import type { DefineComponent, Ref } from "vue";
import type { DeltaScope as Element, DeltaScopeAttributes, DeltaScopeEventMap, Lesson, Panel, Scenario } from "./deltascope.js";

export interface DeltaScopeProps extends Omit<DeltaScopeAttributes, "panels"> {
  panels?: string | Panel[];
  /** The page's own scenario or lesson. */
  scenario?: Scenario | Lesson;
}

/** The element as a component; its module is only loaded in the browser. */
export declare const DeltaScope: DefineComponent<
  DeltaScopeProps,
  { element: Ref<Element | null> },
  {},
  {},
  {},
  {},
  {},
  {
    ready: (event: DeltaScopeEventMap["ds-ready"]) => void;
    step: (event: DeltaScopeEventMap["ds-step"]) => void;
    marker: (event: DeltaScopeEventMap["ds-marker"]) => void;
    violation: (event: DeltaScopeEventMap["ds-violation"]) => void;
    scene: (event: DeltaScopeEventMap["ds-scene"]) => void;
    answer: (event: DeltaScopeEventMap["ds-answer"]) => void;
    goal: (event: DeltaScopeEventMap["ds-goal"]) => void;
    error: (event: DeltaScopeEventMap["ds-error"]) => void;
  }
>;
export default DeltaScope;

declare module "vue" {
  interface GlobalComponents {
    "delta-scope": DefineComponent<DeltaScopeAttributes>;
    DeltaScope: typeof DeltaScope;
  }
}
