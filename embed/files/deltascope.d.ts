/** Types of the package `deltascope`. */

/** The version of the package. */
export declare const version: string;

/**
 * Defines the element under a name; returns whether the name was free. The module itself defines `delta-scope`, or the
 * name after `?tag=` in its address.
 */
export declare function define(tag?: string): boolean;

/** A generation of client-go. */
export type Era = "1.32" | "1.34" | "1.35" | "1.36";
/** A panel of the stage. */
export type Panel = "api" | "reflector" | "queue" | "pop" | "indexer" | "now" | "processor";
/** The size of a step. */
export type Granularity = "event" | "pop" | "lock" | "micro";
/**
 * A place in a run: a marker of the lesson, an input, a virtual time or a number of facts; the first three can have
 * a number of facts added.
 */
export type Place = "start" | "end" | `step:${number}` | `input:${number}` | `t:${number}` | `headline:${string}` | (string & {});

/** The attributes of the element. A missing one has the default of the lesson or of the surrounding page. */
export interface DeltaScopeAttributes {
  /** The id of a lesson. */
  lesson?: string;
  /** The address of a scenario, a lesson, a trace, a recording or a controller's log. */
  src?: string;
  /** A link to a run: the part of `getUrl()` after the `#`. */
  link?: string;
  /** The generation. */
  era?: Era;
  /** The moment that is shown first. */
  at?: Place;
  /** Where playback ends. */
  until?: Place;
  /** The panels that are shown, separated by commas; empty: all. */
  panels?: string;
  /** Which controls are shown. */
  controls?: "transport" | "full" | "minimal" | "none";
  /**
   * `watch`: the user can only move in time; `story`: the lesson's story, scene by scene; `quiz`: its questions alone; `race`: the four
   * generations, in place of the stage.
   */
  mode?: "explore" | "watch" | "story" | "quiz" | "race";
  /** The scene of the story that is shown first, from 1. */
  scene?: `${number}` | number;
  /** The size of a step. */
  granularity?: Granularity;
  /** The speed of playback. */
  speed?: "0.25" | "0.5" | "1" | "2" | "4" | "8" | number;
  /** Its colours; `auto`: as the surrounding page. */
  theme?: "auto" | "light" | "dark";
  /** Its language; `auto`: as the surrounding page. */
  lang?: "auto" | "en" | "zh" | (string & {});
  /** Whether things move; `auto`: as the reader's machine is set. */
  motion?: "auto" | "full" | "none";
  /** Its height: `auto`, by its width; `fill`, the height of the element; or 160 … 4000 px. */
  height?: "auto" | "fill" | `${number}px` | `${number}` | number;
  /** When the program is loaded. */
  load?: "visible" | "click" | "eager";
  /** `pause`: playback pauses at each marker. */
  markers?: "pause";
}

/** A Kubernetes object; its kind may be left out. */
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

/** An event handler. */
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
  /** Calls HasSynced before it prints, if it has no buffer; `{synced}` is then filled in, too. */
  callsHasSynced?: boolean;
  /** The lines it prints: `{type}`, `{name}`, `{rv}` and `{phase}` are filled in. */
  onAdd?: string[];
  onUpdate?: string[];
  onDelete?: string[];
}

/** The parts of the program, and their behaviour. */
export interface ScenarioSettings {
  seed?: number;
  interleave?: boolean;
  /** The seed of the jitter in back-offs and watch timeouts. */
  jitter?: number;
  feed?: "server" | "recorded" | "cluster" | "program";
  machinery?: "handMade" | "plain" | "shared" | "indexer" | "client";
  /** For `handMade` only; a program fills a FIFO. */
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
  /** The mode of the process loop; a number is a pause in ms. */
  mode?: "free" | "held" | number;
  /** The transform of every object before it is queued; each a label with a value: `bad=true` */
  transform?: { rejects?: string; sets?: string; appends?: string };
  processMs?: number;
  /** The process function fails for objects with this name. */
  processFails?: { at: string; times?: number; requeue?: boolean };
  byType?: boolean;
  handlers?: HandlerSettings[];
  mutationDetector?: boolean;
  work?: { workers?: number; latencyMs?: number; failures?: number };
}

/** An action in a script. */
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
  /** The actions; `at` is virtual time, in ms. */
  script?: (Act & { at: number })[];
  /** Endless traffic, from this seed. */
  traffic?: number;
  drops?: number[];
  beside?: Scenario[];
}

/** A scenario with a title, a note and markers. */
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

/** A write to the API server, or a cut of its watch. */
export type Injection = { op: "create" | "update" | "delete"; object: KubeObject } | { op: "cut" };

/** A version of an object, or a stand-in for one. */
export type ObjectRef = string | { tombstone: string | null } | { explicitKey: string };
export type DeltaType = "Added" | "Updated" | "Deleted" | "Replaced" | "Sync" | "ReplacedAll" | "SyncAll" | "Bookmark";

/** A violation of an invariant. */
export interface Violation {
  monitor: string;
  /** The number of facts up to it. */
  at: number;
  /** Virtual time, in ms. */
  time: number;
  key: string | null;
  /** Whether this generation is known to have it. */
  known: boolean;
}

/** The state of the element. */
export interface State {
  lesson: string;
  era: Era;
  knownObjects: boolean;
  playing: boolean;
  /** The number of facts up to the cursor. */
  step: number;
  /** The number of known facts; more come if the run has no end. */
  steps: number;
  /** Virtual time, in ms. */
  time: number;
  /** The wall-clock time, as RFC 3339 (UTC), if a recording says when it began. */
  wallTime: string | null;
  lock: { holder: string | null; waiting: string[] };
  api: { resourceVersion: string; objects: Record<string, string> };
  reflector: { state: "idle" | "list" | "stream" | "watch" | "backoff" | "stopped"; lastSyncResourceVersion: string };
  queue:
    | { kind: "RealFIFO"; items: [type: DeltaType, key: string | null, object: unknown][] }
    | { kind: "FIFO"; keys: string[]; objects: Record<string, ObjectRef> }
    | { kind: string; keys: string[]; deltas: Record<string, [type: DeltaType, object: ObjectRef][]> };
  /** `behind`: how many of the selected objects differ from those on the server; null if that is not known. */
  store: { items: Record<string, ObjectRef>; indices: Record<string, Record<string, string[]>>; behind: number | null };
  handlers: { name: string; pending: number; notifications: unknown[][] }[];
  output: string[];
  branches: { id: number; name: string; made: string; depth: number; current: boolean }[];
  grain: Granularity;
  breakpoints: { at: string; on: boolean; hit: number | null }[];
  selection: { anchor: string; key: string | null; step: number | null } | null;
  following: string | null;
  violations: Violation[];
  comparison: Comparison | Race | null;
  live: { following: boolean; behind: number; [more: string]: unknown } | null;
  /** The scene that is shown, if a story is told. */
  scene: Scene | null;
  /** In the last scene; `missed`: what an attempt lacked, once it is over, null before; `hints`: those that the reader asked for. */
  goal: { text: string; reached: boolean; missed: string | null; hints: string[] } | null;
  /** How far each story has been told on the page in this browser; empty in an element. */
  lessonProgress: Record<string, { opened: boolean; ended: boolean; reached: boolean }>;
  error: { message: string; line: number | null } | null;
}

/** An answer: the number of a choice (from 0), a number, a panel, or the numbers of the items (from 0) in their order. */
export type Answer = number | Panel | number[];

/** A scene of a story. */
export interface Scene {
  /** Its number, from 1. */
  index: number;
  of: number;
  /** The panels that are lit. */
  rooms: Panel[];
  /** Its words. On the screen they come with its moment, when what leads to it has been played. */
  say: string;
  question: {
    kind: "choice" | "number" | "place" | "order";
    text: string;
    /** The answers to choose from, the items to put in order, or the ids of the panels; empty for a number. */
    choices: string[];
    /** `shown`: the answer was asked for; null: not answered yet. */
    answered: Answer | "shown" | null;
    /** Null until the run has decided it, or if the answer was asked for. */
    right: boolean | null;
    /** Why the right answer is right; null until the run has decided it, or if the story does not say. */
    because: string | null;
  } | null;
}

export interface SvgOptions {
  /** The panels; empty: those that are shown. */
  panels?: string | Panel[];
  /** If left out: as the reader of the picture prefers. */
  theme?: "auto" | "light" | "dark";
  lang?: "en" | "zh";
  /** In px. */
  width?: number;
  /** Whether the words are below the stage. */
  strip?: boolean;
}

export interface TraceOptions {
  /** Whether to replace all names. */
  names?: boolean;
  /** Whether to remove labels and annotations. */
  labels?: boolean;
}

/** Another run beside this one, at the same virtual time. */
export interface Comparison {
  with: string;
  step: number;
  steps: number;
  time: number;
  differs: Record<string, number>;
  summary: Record<string, [here: number | number[], there: number | number[]]>;
  violations: Violation[];
}

/** The four generations at the same virtual time; `parts`: two that were alike differ from here on. */
export interface Race {
  with: "race";
  time: number;
  parts: boolean;
  said: string;
  lanes: {
    era: Era;
    step: number;
    differs: { queue: boolean; store: boolean; handlers: boolean };
    knows: Record<string, Record<string, ObjectRef>>;
  }[];
}

/** The events of the element; they bubble, out of shadow roots as well. */
export interface DeltaScopeEventMap {
  /** The first picture is shown. */
  "ds-ready": CustomEvent<{ version: string }>;
  /** Another place in the run is shown. */
  "ds-step": CustomEvent<{ step: number; steps: number; time: number }>;
  /** The place is that of a marker. */
  "ds-marker": CustomEvent<{ id: string }>;
  /** An invariant is violated at this place. */
  "ds-violation": CustomEvent<{ monitor: string; at: number; key: string | null }>;
  /** Another scene of the story begins. */
  "ds-scene": CustomEvent<{ index: number; of: number }>;
  /** A question was answered, and the run has come to what decides it. */
  "ds-answer": CustomEvent<{ scene: number; answered: Answer | "shown"; right: boolean | null }>;
  /** The goal of the story is reached. */
  "ds-goal": CustomEvent<{ text: string }>;
  /** An error; the element shows it, too. */
  "ds-error": CustomEvent<{ message: string }>;
}

/** The element. A call before it is loaded loads it. */
export declare class DeltaScope extends HTMLElement {
  static readonly version: string;
  static readonly observedAttributes: (keyof DeltaScopeAttributes)[];
  /** The address of the page that `getUrl()` links to; by default embed.html beside the module. */
  static page?: string;

  readonly version: string;
  /** Resolves when the first picture is shown; rejects if there can be none. */
  readonly drawn: Promise<void>;
  /** Resolves when what the exports and `getUrl` need is there, too. */
  readonly ready: Promise<void>;
  play(): Promise<void>;
  pause(): Promise<void>;
  /** Makes this many steps, forward or back. */
  step(by?: number, granularity?: Granularity): Promise<void>;
  /** Goes to a place, or to the state after this many facts. */
  seek(where: Place | number): Promise<void>;
  /** Starts over, at `at` or at the start: settings stay (era, KnownObjects, mode), the user's inputs do not. */
  reset(): Promise<void>;
  /** Starts a branch of the run. */
  fork(): Promise<void>;
  /** Cuts the run down to what still fulfils a condition, on a branch; without one, to what the fact at the cursor shows. */
  smallest(until?: string): Promise<void>;
  /** Runs the same in another generation. */
  setEra(era: Era): Promise<void>;
  /** Writes to the API server, or cuts its watch. */
  inject(event: Injection): Promise<void>;
  /** Goes on in the story, and plays to the next scene; or ends what plays. */
  next(): Promise<void>;
  /** Goes back to the scene before, or from an answer to its question. */
  back(): Promise<void>;
  /** Answers the question of the scene, and plays to what decides it; null: shows what happens. */
  answer(value?: Answer | null): Promise<void>;
  /** Goes to the scene of this number, from 1. */
  get scene(): (number: number) => Promise<void>;
  /** The attribute of this name, for frameworks that set properties. */
  set scene(number: `${number}` | number | ((number: number) => Promise<void>));
  /** Shows another run: the id of a lesson, a scenario, the text of a trace, or a link (`#v1;…`). */
  get load(): (what: string | Scenario | Lesson) => Promise<void>;
  /** The attribute of this name, for frameworks that set properties. */
  set load(when: "visible" | "click" | "eager" | ((what: string | Scenario | Lesson) => Promise<void>));
  /** The state; null before the element is loaded. */
  getState(): State | null;
  /** A link to this place; null if no link can carry it, or if a bundler hides the address of `page`. */
  getUrl(): string | null;
  /** The picture; null before the element is loaded. */
  exportSvg(options?: SvgOptions): string | null;
  /** The run in words. */
  exportTranscript(): string | null;
  /** The run as a file that can be opened again. */
  exportTrace(options?: TraceOptions): string | null;
  /** Releases all resources, for good. */
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

type Asked = Exclude<keyof DeltaScope, keyof HTMLElement | "version" | "drawn" | "ready" | "dispose">;
type WithArgs<A extends unknown[]> = [] extends A ? { args?: A } : { args: A };

/** The messages to embed.html in an iframe: the methods of the element, and their arguments. */
export type FrameMessage = { ns: "deltascope"; v: 1; id?: string | number } & (
  | { type: "PING" }
  | { type: "set"; args: [name: keyof DeltaScopeAttributes, value: string | null] }
  | { [K in Asked]: { type: K } & WithArgs<Parameters<DeltaScope[K]>> }[Asked]
);

/** The answers and the events of embed.html. */
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
