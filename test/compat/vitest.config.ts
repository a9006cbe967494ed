import { defineConfig } from "vitest/config";

const conditions = ["@millwright/source"];

/** `vitest run --config test/compat/vitest.config.ts`: apart from the other tests, because it needs a real kube-apiserver. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { name: "compat", root: import.meta.dirname, include: ["**/*.test.ts"], fileParallelism: false },
});
