import mdx from "@mdx-js/rollup";
import { defineConfig } from "vite";

export default defineConfig({
  // Any sub-path.
  base: "./",
  plugins: [{ enforce: "pre", ...mdx() }],
  esbuild: { jsx: "automatic" },
  optimizeDeps: { exclude: ["deltascope"] },
});
