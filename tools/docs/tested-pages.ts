/** Which tests run the blocks of a page, and how many blocks they run. */
export interface TestedPage {
  /** Runnable blocks without a `not run` comment. */
  readonly blocks: number;
  /** Test files, by path. */
  readonly tests: readonly string[];
}

const system = (blocks: number, ...names: readonly string[]): TestedPage => ({
  blocks,
  tests: names.map((name) => `test/system/${name}.test.ts`),
});

/**
 * Pages with commands or manifests, and the tests that run them. A change of a number means: a block was added or removed, so look whether the test
 * runs what is new. A block that no test can run has a comment `<!-- not run: reason -->` before it.
 */
export const testedPages: Readonly<Record<string, TestedPage>> = {
  "docs/concepts/life-of-a-machine.md": system(1, "guide-daily-commands"),
  "docs/drivers/tutorial.md": system(7, "driver-tutorial"),
  "docs/guides/a-day-with-a-pool.md": system(7, "guide-day"),
  "docs/guides/aws.md": { blocks: 10, tests: ["test/clouds/aws-guide.test.ts", "tools/docs/cloud-guides.test.ts"] },
  "docs/guides/azure.md": { blocks: 3, tests: ["test/system/guide-clouds.test.ts", "tools/docs/cloud-guides.test.ts"] },
  "docs/guides/deletion-budget.md": system(6, "guide-pools"),
  "docs/guides/draining.md": system(6, "guide-draining"),
  "docs/guides/gcp.md": { blocks: 3, tests: ["test/system/guide-clouds.test.ts", "tools/docs/cloud-guides.test.ts"] },
  "docs/guides/gitops.md": system(2, "gitops"),
  "docs/guides/in-place-updates.md": system(7, "guide-keeping-and-updating"),
  "docs/guides/pools.md": system(10, "guide-pools"),
  "docs/guides/preserving-machines.md": system(5, "guide-keeping-and-updating"),
  "docs/guides/previewing-changes.md": system(3, "guide-rollouts"),
  "docs/guides/qemu.md": { blocks: 2, tests: ["test/system/guide-clouds.test.ts", "tools/docs/cloud-guides.test.ts"] },
  "docs/guides/rollouts.md": system(11, "guide-rollouts"),
  "docs/guides/safety.md": system(5, "guide-pools"),
  "docs/guides/two-clusters.md": system(2, "examples"),
  "docs/operations/aws.md": system(3, "guide-operations"),
  "docs/operations/azure.md": system(3, "guide-operations"),
  "docs/operations/objects-were-lost.md": system(12, "guide-operations", "guide-deleted-crds"),
  "docs/operations/cluster-autoscaler.md": system(3, "guide-daily-commands"),
  "docs/operations/dashboard.md": system(1, "guide-daily-commands"),
  "docs/operations/gcp.md": system(3, "guide-operations"),
  "docs/operations/high-availability.md": system(4, "guide-high-availability"),
  "docs/operations/install.md": { blocks: 6, tests: ["test/compat/rehearsal.test.ts"] },
  "docs/operations/migrate-from-mcm.md": system(6, "guide-migrate-from-mcm"),
  "docs/operations/monitor.md": system(3, "guide-chart"),
  "docs/operations/troubleshoot.md": system(13, "guide-troubleshoot", "guide-doctor", "guide-daily-commands"),
  "docs/operations/tune.md": system(2, "guide-operations"),
  "docs/operations/uninstall.md": {
    blocks: 4,
    tests: ["test/compat/rehearsal.test.ts", "test/system/guide-chart.test.ts"],
  },
  "docs/operations/upgrade.md": {
    blocks: 4,
    tests: ["test/compat/rehearsal.test.ts", "test/system/guide-chart.test.ts"],
  },
  "docs/permissions.md": system(2, "guide-doctor"),
  "docs/reference/error-codes.md": system(1, "guide-daily-commands"),
  "docs/reference/status.md": system(3, "guide-daily-commands"),
  "packages/create-driver/template/README.md": system(2, "driver-tutorial"),
  "providers/qemu/README.md": { blocks: 1, tests: ["tools/docs/cloud-guides.test.ts"] },
};
