// A plugin for Reveal.js: what plays on a slide stops when the slide goes, and goes on when it comes back.
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
      // What was asked for and has not begun does not begin.
      element.pause?.().catch(() => {});
    };
    // What is for watching plays when it comes.
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
