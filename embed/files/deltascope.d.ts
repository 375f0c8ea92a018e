/** Types of the package `deltascope`. */

/** The version of the package. */
export declare const version: string;

/**
 * Gives the element a name; says whether it was free. The module defines `delta-scope`, or what stands behind
 * `?tag=` of its address, by itself.
 */
export declare function define(tag?: string): boolean;

/** A generation of client-go. */
export type Era = "1.32" | "1.34" | "1.35" | "1.36";
/** A room of the stage. */
export type Panel = "api" | "reflector" | "queue" | "pop" | "indexer" | "now" | "processor";
/** How far a step goes. */
export type Granularity = "event" | "pop" | "lock" | "micro";
/**
 * A moment: a marker of the lesson, an input, a virtual time or a number of facts, the first three with so many
 * facts after them.
 */
export type Place = "start" | "end" | `step:${number}` | `input:${number}` | `t:${number}` | (string & {});

/** The attributes of the element; what is left out is as the lesson has it, or as the page around. */
export interface DeltaScopeAttributes {
  /** The id of a lesson. */
  lesson?: string;
  /** The address of a scenario, a lesson, a trace, a recording or a controller's log. */
  src?: string;
  /** A link to a run: what stands behind the `#` of `getUrl()`. */
  link?: string;
  /** The generation. */
  era?: Era;
  /** The moment that is shown first. */
  at?: Place;
  /** Playing ends there. */
  until?: Place;
  /** The rooms that are shown, with commas between them; none: all. */
  panels?: string;
  /** What there is to turn. */
  controls?: "transport" | "full" | "minimal" | "none";
  /** `watch`: only time can be moved. */
  mode?: "explore" | "watch";
  /** How far a step goes. */
  granularity?: Granularity;
  /** How fast it plays. */
  speed?: "0.25" | "0.5" | "1" | "2" | "4" | "8" | number;
  /** Its colours; `auto`: as the page around. */
  theme?: "auto" | "light" | "dark";
  /** Its language; `auto`: as the page around. */
  lang?: "auto" | "en" | "zh" | (string & {});
  /** Whether things move; `auto`: as the reader's machine says. */
  motion?: "auto" | "full" | "none";
  /** How high it is: `auto`, by its width; `fill`, as high as the element; or 160 … 4000 px. */
  height?: "auto" | "fill" | `${number}px` | `${number}` | number;
  /** When the program is loaded. */
  load?: "visible" | "click" | "eager";
  /** `pause`: playing pauses at each marker. */
  markers?: "pause";
}

/** An object of Kubernetes; its kind may be left out. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** A text in both languages, or one for both. */
export type LocalText = string | { en: string; zh: string };

/** One who is told. */
export interface HandlerSettings {
  name?: string;
  inline?: boolean;
  latencyMs?: number;
  resyncMs?: number;
  /** `app=web` */
  filter?: string;
  panicsAt?: string;
  mutates?: string;
  queues?: boolean;
  /** It calls HasSynced before it prints, if it has no buffer; `{synced}` is filled in, too. */
  callsHasSynced?: boolean;
  /** The lines it prints: `{type}`, `{name}`, `{rv}` and `{phase}` are filled in. */
  onAdd?: string[];
  onUpdate?: string[];
  onDelete?: string[];
}

/** What is built, and how it behaves. */
export interface ScenarioSettings {
  seed?: number;
  interleave?: boolean;
  /** What back-offs and the timeouts of watches are spread by. */
  jitter?: number;
  feed?: "server" | "recorded" | "cluster" | "program";
  machinery?: "handMade" | "plain" | "shared" | "indexer" | "client";
  /** Of what is put together by hand; a FIFO is fed by a program. */
  queue?: "DeltaFIFO" | "FIFO";
  keySeparator?: string;
  prints?: { onList?: string[]; onEvent?: string[]; onSync?: string[] };
  era?: Era;
  watchList?: boolean;
  refusesStreaming?: boolean;
  /** The bookmark at the end of the initial events of a streaming list never comes. */
  withholdsInitialEventsEnd?: boolean;
  /** A label selector of the list and the watch: `app=web` */
  selector?: string;
  /** The keys of objects that a list names twice. */
  repeats?: string[];
  pageSize?: number;
  resyncMs?: number;
  knownObjects?: boolean;
  store?: boolean;
  emitDeltaTypeReplaced?: boolean;
  /** `namespace`, `node`, any label, or, with a dot in front, the path of a field. */
  indices?: string[];
  typeDescription?: string;
  /** How the process loop runs; a number is a pause in ms. */
  mode?: "free" | "held" | number;
  /** What every object goes through before it is queued; each a label with a value: `bad=true` */
  transform?: { rejects?: string; sets?: string; appends?: string };
  processMs?: number;
  /** The process function fails at objects of this name. */
  processFails?: { at: string; times?: number; requeue?: boolean };
  byType?: boolean;
  handlers?: HandlerSettings[];
  mutationDetector?: boolean;
  work?: { workers?: number; latencyMs?: number; failures?: number };
}

/** What can happen. */
export type Act =
  | { op: "create" | "update" | "delete"; object: KubeObject }
  | { op: "cut" | "compact" | "pop" | "close" | "bookmark" }
  | { op: "mode"; mode: "free" | "held" | number }
  | { op: "knownObjects"; on: boolean }
  | { op: "error"; code: number }
  | {
      op: "refuse";
      request: "watch" | "list";
      with: "expired" | "tooLarge" | "tooManyRequests" | "connectionRefused" | "internalError" | "forbidden" | "invalid";
      times: number;
    }
  | { op: "addHandler"; handler: HandlerSettings }
  | { op: "removeHandler"; handler: number }
  | { op: "print"; line: string }
  | { op: "ask"; index: string; value: string; as: "json" | "go" };

/** Everything that makes a run. */
export interface Scenario {
  settings?: ScenarioSettings;
  /** The objects that the server has at the start. */
  initial?: KubeObject[];
  /** What happens; `at` is virtual time, in ms. */
  script?: (Act & { at: number })[];
  /** Endless traffic, from this seed. */
  traffic?: number;
  drops?: number[];
  beside?: Scenario[];
}

/** A scenario with words and markers. */
export interface Lesson {
  id?: string;
  title?: LocalText;
  note?: LocalText;
  era?: Era;
  /** The marker that is shown first. */
  open?: string;
  markers?: { id: string; fact: string; nth?: number; title?: LocalText }[];
  scenario: Scenario;
}

/** What can be done on the API server. */
export type Injection = { op: "create" | "update" | "delete"; object: KubeObject } | { op: "cut" };

/** A version of an object, or what stands for one. */
export type ObjectRef = string | { tombstone: string | null } | { explicitKey: string };
export type DeltaType = "Added" | "Updated" | "Deleted" | "Replaced" | "Sync" | "ReplacedAll" | "SyncAll" | "Bookmark";

/** What a monitor has found. */
export interface Violation {
  monitor: string;
  /** After how many facts. */
  at: number;
  /** Virtual time, in ms. */
  time: number;
  key: string | null;
  /** This generation is known for it. */
  known: boolean;
}

/** What is shown. */
export interface State {
  lesson: string;
  era: Era;
  knownObjects: boolean;
  playing: boolean;
  /** Facts so far. */
  step: number;
  /** Facts that are known; more come where a run has no end. */
  steps: number;
  /** Virtual time, in ms. */
  time: number;
  /** What the clock on the wall showed then, as RFC 3339 (UTC), where a recording says when it began. */
  wallTime: string | null;
  lock: { holder: string | null; waiting: string[] };
  api: { resourceVersion: string; objects: Record<string, string> };
  reflector: { state: "idle" | "list" | "stream" | "watch" | "backoff" | "stopped"; lastSyncResourceVersion: string };
  queue:
    | { kind: "RealFIFO"; items: [type: DeltaType, key: string | null, object: unknown][] }
    | { kind: "FIFO"; keys: string[]; objects: Record<string, ObjectRef> }
    | { kind: string; keys: string[]; deltas: Record<string, [type: DeltaType, object: ObjectRef][]> };
  /** `behind`: how many objects of what the informer selects it does not show as the server has them; null where that is not known. */
  store: { items: Record<string, ObjectRef>; indices: Record<string, Record<string, string[]>>; behind: number | null };
  handlers: { name: string; pending: number; notifications: unknown[][] }[];
  output: string[];
  branches: { id: number; name: string; made: string; depth: number; current: boolean }[];
  grain: Granularity;
  breakpoints: { at: string; on: boolean; hit: number | null }[];
  selection: { anchor: string; key: string | null; step: number | null } | null;
  following: string | null;
  violations: Violation[];
  comparison: {
    with: string;
    step: number;
    steps: number;
    time: number;
    differs: Record<string, number>;
    summary: Record<string, [here: number | number[], there: number | number[]]>;
    violations: Violation[];
  } | null;
  live: { following: boolean; behind: number; [more: string]: unknown } | null;
  error: { message: string; line: number | null } | null;
}

export interface SvgOptions {
  /** The rooms; none: those that are shown. */
  panels?: string | Panel[];
  /** Left out, as the reader of the picture likes it. */
  theme?: "auto" | "light" | "dark";
  lang?: "en" | "zh";
  /** In px. */
  width?: number;
  /** Without the words under the stage where it is false. */
  strip?: boolean;
}

export interface TraceOptions {
  /** With other names in the place of all names. */
  names?: boolean;
  /** Without labels and annotations. */
  labels?: boolean;
}

/** The events of the element; they bubble, out of shadow roots as well. */
export interface DeltaScopeEventMap {
  /** The first picture is there. */
  "ds-ready": CustomEvent<{ version: string }>;
  /** Another moment is shown. */
  "ds-step": CustomEvent<{ step: number; steps: number; time: number }>;
  /** It is that of a marker. */
  "ds-marker": CustomEvent<{ id: string }>;
  /** What must hold does not, at this moment. */
  "ds-violation": CustomEvent<{ monitor: string; at: number; key: string | null }>;
  /** Something went wrong; the element shows it as well. */
  "ds-error": CustomEvent<{ message: string }>;
}

/** The element. What is asked of it before it is loaded loads it. */
export declare class DeltaScope extends HTMLElement {
  static readonly version: string;
  static readonly observedAttributes: (keyof DeltaScopeAttributes)[];
  /** The address of the page that `getUrl()` links to; left out, embed.html beside the module. */
  static page?: string;

  readonly version: string;
  /** Settles when the first picture is there; fails when there can be none. */
  readonly ready: Promise<void>;
  play(): Promise<void>;
  pause(): Promise<void>;
  /** So many steps on, or back. */
  step(by?: number, granularity?: Granularity): Promise<void>;
  /** To a moment, or to the state after so many facts. */
  seek(where: Place | number): Promise<void>;
  /** Starts over, at `at` or at the start: what was set stays (era, KnownObjects, mode), what was done goes. */
  reset(): Promise<void>;
  /** Leaves the run for a branch of its own. */
  fork(): Promise<void>;
  /** The same in another generation. */
  setEra(era: Era): Promise<void>;
  /** Does something on the API server. */
  inject(event: Injection): Promise<void>;
  /** Shows something else: the id of a lesson, a scenario, the text of a trace, or a link (`#v1;…`). */
  get load(): (what: string | Scenario | Lesson) => Promise<void>;
  /** The attribute of this name, for frameworks that set properties. */
  set load(when: "visible" | "click" | "eager" | ((what: string | Scenario | Lesson) => Promise<void>));
  /** What is shown; null before it is loaded. */
  getState(): State | null;
  /** A link to this moment; null where no link carries it, or where a bundler hides where `page` is. */
  getUrl(): string | null;
  /** The picture; null before it is loaded. */
  exportSvg(options?: SvgOptions): string | null;
  /** The run in words. */
  exportTranscript(): string | null;
  /** The run as a file that can be opened again. */
  exportTrace(options?: TraceOptions): string | null;
  /** Gives back all that it holds, for good. */
  dispose(): void;

  addEventListener<K extends keyof DeltaScopeEventMap>(
    type: K,
    listener: (this: DeltaScope, event: DeltaScopeEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (this: DeltaScope, event: HTMLElementEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof DeltaScopeEventMap>(
    type: K,
    listener: (this: DeltaScope, event: DeltaScopeEventMap[K]) => unknown,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener<K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (this: DeltaScope, event: HTMLElementEventMap[K]) => unknown,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void;
}

/** What a page sends to embed.html in an iframe. */
export type FrameMessage = { ns: "deltascope"; v: 1; id?: string | number } & (
  | { type: "PING" }
  | { type: "set"; args: [name: keyof DeltaScopeAttributes, value: string | null] }
  | { type: "play" | "pause" | "reset" | "fork" | "getState" | "getUrl" | "exportTranscript"; args?: [] }
  | { type: "step"; args?: [by?: number, granularity?: Granularity] }
  | { type: "seek"; args: [where: Place | number] }
  | { type: "setEra"; args: [era: Era] }
  | { type: "inject"; args: [event: Injection] }
  | { type: "load"; args: [what: string | Scenario | Lesson] }
  | { type: "exportSvg"; args?: [options?: SvgOptions] }
  | { type: "exportTrace"; args?: [options?: TraceOptions] }
);

/** What embed.html answers, and tells. */
export type FrameReply = { ns: "deltascope"; v: 1 } & (
  | { type: "PONG"; id: string | number | null; version: string; ready: boolean }
  | { type: "REPLY"; id: string | number | null; ok: true; value: State | string | null }
  | { type: "REPLY"; id: string | number | null; ok: false; error: string }
  | { [K in keyof DeltaScopeEventMap]: { type: "EVENT"; name: K; detail: DeltaScopeEventMap[K]["detail"] } }[keyof DeltaScopeEventMap]
  | { type: "HEIGHT"; px: number }
);

declare global {
  interface HTMLElementTagNameMap {
    "delta-scope": DeltaScope;
  }
}
