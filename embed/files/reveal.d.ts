/** A plugin for Reveal.js: what plays on a slide stops when the slide goes, and goes on when it comes back. */
export declare const DeltaScopePlugin: {
  id: string;
  init(deck: {
    on(type: string, listener: (event: any) => void): void;
    getCurrentSlide(): HTMLElement | undefined;
    layout(): void;
  }): void;
};
export default DeltaScopePlugin;
