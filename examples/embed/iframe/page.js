const frame = document.querySelector("#relist");
const said = document.querySelector("#said");
const home = new URL(frame.src).origin;
const waiting = new Map();
let last = 0;

function post(message) {
  frame.contentWindow.postMessage({ ns: "deltascope", v: 1, ...message }, home);
}

/** Calls a method of the element in the frame. */
function ask(type, ...args) {
  const id = (last += 1);
  post({ id, type, args });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

addEventListener("message", ({ data, origin, source }) => {
  if (source !== frame.contentWindow || origin !== home || data?.ns !== "deltascope") return;
  if (data.type === "PONG") clearInterval(ping);
  if (data.type === "HEIGHT") frame.style.height = `${data.px}px`;
  if (data.type === "EVENT" && data.name === "ds-step") said.textContent = `${data.detail.step} of ${data.detail.steps}`;
  if (data.type === "REPLY") {
    const { resolve, reject } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if (data.ok) resolve?.(data.value);
    else reject?.(new Error(data.error));
  }
});

// Messages before the frame listens are lost, so repeat until it answers.
const ping = setInterval(() => post({ type: "PING" }), 200);

document.querySelector("#on").addEventListener("click", () => ask("step", 1));
