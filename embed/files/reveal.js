// A plugin for Reveal.js: a run pauses when its slide is left, and resumes when the slide returns.
import "./deltascope.js";

const inside = (slide) => [...(slide?.querySelectorAll("delta-scope") ?? [])];

/** `Reveal.initialize({ plugins: [DeltaScopePlugin] })` */
export const DeltaScopePlugin = {
  id: "deltascope",

  init(deck) {
    const stopped = new WeakSet();
    const isPlaying = (element) => element.getState?.()?.playing === true;
    const stop = (element) => {
      if (isPlaying(element)) stopped.add(element);
      // Cancels a play that has not begun yet.
      element.pause?.().catch(() => {});
    };
    // A run with mode=watch plays when its slide is shown.
    const start = (element) => {
      const again = stopped.delete(element);
      if (again || element.getAttribute("mode") === "watch") element.play?.().catch(() => {});
    };
    const change = ({ previousSlide, currentSlide }) => {
      inside(previousSlide).forEach(stop);
      inside(currentSlide).forEach(start);
    };
    deck.on("ready", change);
    deck.on("slidechanged", change);
    deck.on("overviewshown", () => inside(deck.getCurrentSlide()).forEach(stop));
    deck.on("overviewhidden", () => inside(deck.getCurrentSlide()).forEach(start));
    deck.on("paused", () => inside(deck.getCurrentSlide()).forEach(stop));
    deck.on("resumed", () => inside(deck.getCurrentSlide()).forEach(start));
  },
};

export default DeltaScopePlugin;
