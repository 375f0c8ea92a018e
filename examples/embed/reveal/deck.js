import Reveal from "./node_modules/reveal.js/dist/reveal.esm.js";
import { DeltaScopePlugin } from "./deltascope/reveal.js";

Reveal.initialize({ hash: true, plugins: [DeltaScopePlugin] });
globalThis.Reveal = Reveal;
