/** A plugin for Reveal.js: playback on a slide pauses when the slide is left, and continues when it comes back. */
export declare const DeltaScopePlugin: {
  id: string;
  init(deck: {
    on(type: string, listener: (event: any) => void): void;
    getCurrentSlide(): HTMLElement | undefined;
    layout(): void;
  }): void;
};
export default DeltaScopePlugin;
