import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import LongestFirst from "./tools/longest-first.ts";

/** Tests run the sources: the condition selects `src/index.ts` of every package instead of its build. */
const conditions = ["@millwright/source"];
const shared = { resolve: { conditions }, ssr: { resolve: { conditions } } };

/** One project per package, so that `vitest run --project core` tests just that package. */
const project = (name: string, folder: string, test: object = {}) => ({
  ...shared,
  // Timeouts only catch hangs: a busy computer is slow.
  test: {
    name,
    root: folder,
    include: ["**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // A list of problems is shown whole, also in the line that CI prints at its end.
    chaiConfig: { truncateThreshold: 2_000 },
    ...test,
  },
});

/** Properties check the same cases in every run. */
const repeatable = { setupFiles: [fileURLToPath(new URL("tools/repeatable-properties.ts", import.meta.url))] };

export default defineConfig({
  test: {
    // Tests of whole processes mostly wait.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./tools/summary-reporter.ts"],
    coverage: {
      provider: "v8",
      // Relative to the project whose tests run: `npm run coverage` runs those of packages/controllers.
      include: ["src/**/*.ts"],
      exclude: ["src/testing/**"],
      // Decisions must be covered completely.
      thresholds: { "**/{decide,plan}*.ts": { 100: true }, "**/machine/deletion/*.ts": { 100: true } },
    },
    // Without isolation a worker runs many files, and loads what they import once: half of the time of small tests, and the SDKs of the clouds.
    projects: [
      project("base", "packages/base", { ...repeatable, isolate: false }),
      project("core", "packages/core", { ...repeatable, isolate: false }),
      project("kube", "packages/kube", { ...repeatable, isolate: false }),
      project("controllers", "packages/controllers", { ...repeatable, isolate: false }),
      project("runtime", "packages/runtime", { isolate: false }),
      project("plan", "packages/plan", { ...repeatable, isolate: false }),
      project("dashboard", "packages/dashboard", { isolate: false }),
      project("tracing", "packages/tracing", { isolate: false }),
      project("autoscaler-grpc", "packages/autoscaler-grpc", { isolate: false }),
      project("driver-rpc", "packages/driver-rpc", { ...repeatable, isolate: false }),
      // Isolated: the suite watches connections and output of the process.
      project("conformance", "packages/conformance"),
      // The template has tests of its own, which those of this package run.
      project("create-driver", "packages/create-driver", { include: ["src/**/*.test.ts"] }),
      project("devcluster", "packages/devcluster", { ...repeatable, isolate: false }),
      // Isolated: these tests replace streams and signals of the process.
      project("cli", "packages/cli"),
      project("provider-mock", "providers/mock", { isolate: false }),
      project("provider-aws", "providers/aws", { isolate: false }),
      project("provider-azure", "providers/azure", { isolate: false }),
      project("provider-gcp", "providers/gcp", { isolate: false }),
      project("provider-qemu", "providers/qemu", { isolate: false }),
      project("emulators", "test/emulators", { isolate: false }),
      project("tools", "tools"),
      // What `npm run bench` computes; a whole run is in test/system.
      project("scale", "test/scale"),
      // Recordings and timelines of the documents, made in virtual time.
      project("pictures", "test/pictures", { hookTimeout: 300_000 }),
      project("e2e", "test/e2e", { testTimeout: 180_000, hookTimeout: 120_000 }),
      // Third-party clients, guides and whole rollouts: `npm run test:system`, not part of `npm test`.
      project("system", "test/system", { testTimeout: 180_000, hookTimeout: 120_000 }),
      // Slow tests of cloud drivers against their emulators: `npm run test:clouds`, not part of `npm test`.
      project("clouds", ".", {
        include: ["test/clouds/**/*.test.ts"],
        testTimeout: 240_000,
        hookTimeout: 120_000,
      }),
      // Against a real kube-apiserver: `npm run test:real`, not part of `npm test`.
      project("compat", "test/compat", { testTimeout: 180_000, hookTimeout: 180_000 }),
      // All hand-overs between Go MCM and Millwright: `npm run test:handover`; `compat` has one of them.
      project("handover", "test/compat", {
        include: ["**/*.all.ts"],
        testTimeout: 180_000,
        hookTimeout: 180_000,
      }),
      // Random faults in virtual time: `npm run test:simulation`, not part of `npm test`.
      project("simulation", "test/simulation", { testTimeout: 240_000 }),
      // Slow tests of kills, outages and faults: `npm run test:resilience`, not part of `npm test`.
      project("resilience", "test/resilience", { testTimeout: 240_000, hookTimeout: 120_000 }),
    ],
  },
});
