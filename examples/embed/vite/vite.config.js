import mdx from "@mdx-js/rollup";
import { defineConfig } from "vite";

export default defineConfig({
  // Works under any path.
  base: "./",
  plugins: [{ enforce: "pre", ...mdx() }],
  esbuild: { jsx: "automatic" },
  optimizeDeps: { exclude: ["deltascope"] },
});
