// The work of the page's thread, from a trace of Chromium: script, styles and layout, not paint, in ms of the thread's own time, so
// that what else the machine does counts less.

// What runs on the page's thread; an event inside another one is part of it.
const WORK = new Set([
  "EvaluateScript",
  "FireAnimationFrame",
  "FunctionCall",
  "Layout",
  "RunMicrotasks",
  "TimerFire",
  "UpdateLayoutTree",
]);
// The end of a frame's styles and layout.
const FRAME = "Layerize";

/** What Chromium's tracing is asked for. */
export const CATEGORIES = ["-*", "devtools.timeline"];

/** The work of each frame, and of each piece of it between two turns of the browser. */
export function framesOf(events) {
  // The thread with the most frames is that of the page in front.
  const counts = new Map();
  const thread = ({ pid, tid }) => `${pid}/${tid}`;
  for (const event of events) {
    if (event.name === FRAME) counts.set(thread(event), (counts.get(thread(event)) ?? 0) + 1);
  }
  const [front] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  const own = events
    .filter((event) => event.ph === "X" && thread(event) === front && (event.name === FRAME || WORK.has(event.name)))
    .sort((a, b) => a.ts - b.ts);
  const frames = [];
  const pieces = [];
  let work;
  let until = -Infinity;
  for (const { name, ts, dur = 0, tdur = dur } of own) {
    if (name === FRAME) {
      if (work !== undefined) frames.push(work / 1000);
      work = 0;
    } else if (ts >= until) {
      if (work !== undefined) work += tdur;
      pieces.push(tdur / 1000);
      until = ts + dur;
    }
  }
  return { frames, pieces };
}

/** The numbers at these shares of a sorted list. */
export function at(numbers, ...shares) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return shares.map((share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
