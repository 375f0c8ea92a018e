import type { CSSProperties, DetailedHTMLProps, ForwardRefExoticComponent, HTMLAttributes, ReactNode, RefAttributes } from "react";
import type { DeltaScope as Element, DeltaScopeAttributes, DeltaScopeEventMap, Lesson, Panel, Scenario } from "./deltascope.js";

export interface DeltaScopeProps extends Omit<DeltaScopeAttributes, "panels"> {
  panels?: string | Panel[];
  /** The page's own scenario or lesson. */
  scenario?: Scenario | Lesson;
  id?: string;
  title?: string;
  slot?: string;
  className?: string;
  style?: CSSProperties;
  /** `<img slot="poster">`, `<div slot="transcript">`: for print, and for readers without script. */
  children?: ReactNode;
  onReady?: (event: DeltaScopeEventMap["ds-ready"]) => void;
  onStep?: (event: DeltaScopeEventMap["ds-step"]) => void;
  onMarker?: (event: DeltaScopeEventMap["ds-marker"]) => void;
  onViolation?: (event: DeltaScopeEventMap["ds-violation"]) => void;
  onScene?: (event: DeltaScopeEventMap["ds-scene"]) => void;
  onAnswer?: (event: DeltaScopeEventMap["ds-answer"]) => void;
  onGoal?: (event: DeltaScopeEventMap["ds-goal"]) => void;
  onError?: (event: DeltaScopeEventMap["ds-error"]) => void;
  [attribute: `data-${string}` | `aria-${string}`]: unknown;
}

/** The element as a component; its module is only loaded in the browser. */
export declare const DeltaScope: ForwardRefExoticComponent<DeltaScopeProps & RefAttributes<Element>>;
export default DeltaScope;

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "delta-scope": DetailedHTMLProps<Omit<HTMLAttributes<Element>, keyof DeltaScopeAttributes>, Element> & DeltaScopeAttributes & { class?: string };
    }
  }
}
