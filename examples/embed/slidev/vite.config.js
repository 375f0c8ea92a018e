export default {
  optimizeDeps: { exclude: ["deltascope"] },
};
