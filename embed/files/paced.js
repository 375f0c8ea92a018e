// Lets the page around run and paint while an element is drawn piece by piece.

// About how often it is painted meanwhile.
const FRAME_MS = 40;

let post;
const waiting = [];
let framed = 0;

/** Resolves once the page's pending tasks have run. */
function turn() {
  // Not scheduler.yield(): its continuation would run before the page's own timers and messages.
  if (!post) {
    post = new MessageChannel();
    post.port1.onmessage = () => waiting.shift()?.();
  }
  return new Promise((resolve) => {
    waiting.push(resolve);
    post.port2.postMessage(0);
  });
}

/** Resolves with the next frame, or after `ms`, because a hidden page draws none. */
export function frame(ms) {
  return new Promise((resolve) => {
    requestAnimationFrame(resolve);
    setTimeout(resolve, document.hidden ? 0 : ms);
  });
}

/** Lets the page run its pending tasks and paint. */
export async function pause() {
  await turn();
  if (performance.now() - framed < FRAME_MS || document.hidden) return;
  await frame(FRAME_MS);
  framed = performance.now();
  // The browser paints after all callbacks of the frame.
  await turn();
}
