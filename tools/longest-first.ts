import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** Files that take minutes, mostly waiting, the longest first. Begun last, one of them would run alone at the end. */
const longest: readonly string[] = [
  "test/clouds/conformance/over-grpc.test.ts",
  "test/compat/orphan-vms-real.test.ts",
  "test/resilience/orphan-vms-killed.test.ts",
  "test/resilience/orphan-vm-drains-killed.test.ts",
  "test/clouds/conformance/aws-conformance.test.ts",
  "test/compat/go-mcm.test.ts",
  "test/resilience/drain-pods.test.ts",
  "test/clouds/conformance/azure-conformance.test.ts",
  "test/resilience/outage.test.ts",
  "test/compat/handover.test.ts",
  "test/clouds/aws-machine-loop.test.ts",
  "test/compat/random-faults-real.test.ts",
  "test/resilience/drain-volumes.test.ts",
  "test/resilience/api-server-faults.test.ts",
  "test/system/guide-pools.test.ts",
  "test/resilience/refused-writes.test.ts",
  "test/resilience/drain-budgets.test.ts",
  "test/compat/etcd-restored.test.ts",
  "test/resilience/deletion-budget.test.ts",
  "test/resilience/isolated-drivers.test.ts",
  "test/resilience/takeover.test.ts",
].map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)));

const missing = longest.find((file) => !existsSync(file));
if (missing !== undefined) throw new Error(`${missing} does not exist: correct tools/longest-first.ts`);

const rank = ({ moduleId }: TestSpecification): number => {
  const index = longest.indexOf(moduleId);
  return index === -1 ? longest.length : index;
};

/** Order of test files: the longest ones begin first, the others as vitest has them. A new clone knows no durations of earlier runs. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- that of the base class, which returns a new array
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
