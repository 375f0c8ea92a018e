import { useState } from "react";
import { DeltaScope } from "deltascope/react";

/** The same relist in two generations. */
export function Relist() {
  const [era, setEra] = useState("1.32");
  const [marker, setMarker] = useState("");
  return (
    <>
      <DeltaScope
        id="relist"
        lesson="tombstone"
        era={era}
        at="relist"
        panels="api,queue,indexer"
        load="visible"
        onMarker={({ detail }) => setMarker(detail.id)}
      >
        <p slot="poster">The second list arrives: a and c, but no b.</p>
        <div slot="transcript">The list holds a and c. The queue knows b from the Indexer and puts a tombstone for it.</div>
      </DeltaScope>
      <p>
        <button onClick={() => setEra(era === "1.32" ? "1.36" : "1.32")}>Kubernetes {era}</button> <output>{marker}</output>
      </p>
    </>
  );
}
