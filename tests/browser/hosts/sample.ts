// Uses everything in the package's types. It is type-checked and never run.
import { DeltaScope, define, version } from "deltascope";
import type {
  Answer, DeltaScopeAttributes, FrameMessage, FrameReply, Injection, Lesson, Panel, Place, Scenario, Scene, State, SvgOptions, Violation,
} from "deltascope";
import Reveal, { DeltaScopePlugin } from "deltascope/reveal";

const named: boolean = define("other-scope");
const text: string = version + DeltaScope.version + DeltaScope.observedAttributes.join();
DeltaScope.page = "/deltascope/embed.html";

const element = document.createElement("delta-scope");
const found: DeltaScope | null = document.querySelector("delta-scope");
const scenario: Scenario = {
  settings: { machinery: "shared", era: "1.36", mode: 900, handlers: [{ name: "mine", onAdd: ["OnAdd: {name}"] }], work: { workers: 2 } },
  initial: [{ metadata: { namespace: "default", name: "a" } }],
  script: [{ at: 10, op: "cut" }, { at: 20, op: "refuse", request: "list", with: "tooManyRequests", times: 2 }],
};
const lesson: Lesson = { title: { en: "Mine", zh: "我的" }, note: "…", markers: [{ id: "x", fact: "DeltaAppended", nth: 2 }], scenario };
const injected: Injection = { op: "create", object: { metadata: { name: "b" } } };
const place: Place = "relist+3";
const panels: Panel[] = ["api", "reflector", "queue", "pop", "indexer", "now", "processor"];
const picture: SvgOptions = { panels, theme: "auto", lang: "zh", width: 700, strip: false };

async function all(one: DeltaScope): Promise<State | null> {
  await one.ready;
  await one.play();
  await one.pause();
  await one.step();
  await one.step(-2, "event");
  await one.seek(place);
  await one.seek(12);
  await one.reset();
  await one.fork();
  await one.setEra("1.32");
  await one.inject(injected);
  await one.inject({ op: "cut" });
  await one.next();
  await one.back();
  await one.answer();
  await one.answer(1);
  await one.answer("queue");
  await one.answer([1, 0]);
  await one.scene(2);
  one.scene = "2";
  await one.load("tombstone");
  await one.load(lesson);
  one.load = "click";
  const texts: (string | null)[] = [one.getUrl(), one.exportSvg(picture), one.exportTranscript(), one.exportTrace({ names: true, labels: true }), one.version];
  one.addEventListener("ds-ready", ({ detail }) => detail.version.length);
  one.addEventListener("ds-step", ({ detail }) => detail.step + detail.steps + detail.time);
  one.addEventListener("ds-marker", function ({ detail }) { this.title = detail.id; });
  one.addEventListener("ds-violation", ({ detail }) => `${detail.monitor} ${detail.at} ${detail.key}`);
  one.addEventListener("ds-scene", ({ detail }) => detail.index + detail.of);
  one.addEventListener("ds-answer", ({ detail }) => `${detail.scene} ${detail.answered} ${detail.right}`);
  one.addEventListener("ds-goal", ({ detail }) => detail.text);
  one.addEventListener("ds-error", ({ detail }) => detail.message);
  one.addEventListener("click", ({ clientX }) => clientX);
  const state = one.getState();
  if (state && "items" in state.queue) state.queue.items.map(([type, key]) => `${type} ${key}`);
  const scene: Scene | null = state?.scene ?? null;
  const answered: Answer | null | undefined = scene?.question?.answered === "shown" ? null : scene?.question?.answered;
  const hints: string[] = state?.goal?.hints ?? [String(answered)];
  texts.push(...hints);
  const violations: Violation[] = state?.violations ?? [];
  one.dispose();
  return violations.length > 0 || texts.length === 0 ? null : state;
}

const attributes: Required<DeltaScopeAttributes> = {
  lesson: "tombstone", src: "run.jsonl", link: "#v1;lesson=sandbox", era: "1.36", at: "input:2", until: "end", panels: "api,queue", controls: "full",
  mode: "watch", scene: 2, granularity: "pop", speed: 0.5, theme: "dark", lang: "zh-CN", motion: "none", height: "480px", load: "click", markers: "pause",
};
const message: FrameMessage = { ns: "deltascope", v: 1, id: 1, type: "seek", args: ["told"] };
const cut: FrameMessage = { ns: "deltascope", v: 1, type: "smallest", args: ["fact=ObjectCreated"] };
const heard = (reply: FrameReply) => (reply.type === "EVENT" && reply.name === "ds-marker" ? reply.detail.id : undefined);
DeltaScopePlugin.init({ on() {}, getCurrentSlide: () => undefined, layout() {} });

// Errors are found.
// @ts-expect-error
element.setEra("2.0");
// @ts-expect-error
attributes.controls = "some";
// @ts-expect-error
element.version = "";
// @ts-expect-error
const nowhere: FrameMessage = { ns: "deltascope", v: 1, type: "seek" };
// @ts-expect-error
const gone: FrameMessage = { ns: "deltascope", v: 1, type: "dispose" };

export { all, attributes, cut, element, found, heard, message, named, Reveal, text };
