// Uses the React component, and the element in JSX. It is type-checked and never run.
import { createRef } from "react";
import type { DeltaScope as Element } from "deltascope";
import { DeltaScope } from "deltascope/react";

const ref = createRef<Element>();

export const page = (
  <>
    <DeltaScope
      ref={ref}
      lesson="tombstone"
      era="1.36"
      at="relist"
      panels={["api", "queue"]}
      className="wide"
      style={{ margin: 0 }}
      data-testid="one"
      onReady={({ detail }) => detail.version}
      onStep={({ detail }) => detail.step}
      onMarker={({ detail }) => detail.id}
      onViolation={({ detail }) => detail.monitor}
      onScene={({ detail }) => detail.index}
      onAnswer={({ detail }) => detail.right}
      onGoal={({ detail }) => detail.text}
      onError={({ detail }) => detail.message}
    >
      <p slot="poster">A picture</p>
    </DeltaScope>
    {/* A ref may return what is to be done when the element goes, as in React 19. */}
    <DeltaScope ref={(element: Element | null) => () => element?.dispose()} scenario={{ initial: [{ metadata: { name: "a" } }] }} load="click" />
    <delta-scope lesson="tombstone" era="1.36" load="click" panels="api,queue" class="wide" lang="zh" height={480} />
    {/* @ts-expect-error: there is no such generation */}
    <DeltaScope era="2.0" />
    {/* @ts-expect-error: a ref is to the element, not to any */}
    <DeltaScope ref={createRef<HTMLVideoElement>()} />
    {/* @ts-expect-error: nor here */}
    <delta-scope era="2.0" />
  </>
);
