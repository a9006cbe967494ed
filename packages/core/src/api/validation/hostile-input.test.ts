import * as fc from "fast-check";
import { expect, it } from "vitest";
import { withMachineDeploymentDefaults, withMachineSetDefaults } from "../kinds/defaults.ts";
import { readMachine, readMachineClass, readMachineDeployment, readMachineSet } from "../reading/read.ts";
import { resolveFenceposts } from "../values/fenceposts.ts";
import { validateMachineClass } from "./validate-machine-class.ts";
import { validateMachineDeployment } from "./validate-machine-deployment.ts";
import { validateMachineSet } from "./validate-machine-set.ts";
import { validateMachine } from "./validate-machine.ts";

const field = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  fc.constant({}),
  fc.constant(undefined),
);

/** Objects that look like one of the kinds at the top and hold anything below. */
const almost = fc.record({
  metadata: fc.constant({ name: "n" }),
  spec: fc.record(
    {
      class: field,
      nodeTemplate: field,
      replicas: fc.oneof(fc.nat(), field),
      selector: fc.oneof(fc.constant({ matchLabels: { a: "b" } }), field),
      strategy: fc.oneof(
        fc.record({
          type: fc.constantFrom("", "RollingUpdate", "InPlaceUpdate", "x"),
          inPlaceUpdate: field,
          rollingUpdate: field,
        }),
        field,
      ),
      template: fc.oneof(fc.constant({}), field),
    },
    { requiredKeys: [] },
  ),
  provider: field,
  providerSpec: fc.oneof(fc.constant({}), field),
  nodeTemplate: field,
  secretRef: field,
  status: field,
});

it("reads, validates and completes whatever comes without throwing", () => {
  let readable = 0;
  fc.assert(
    fc.property(fc.oneof(almost, fc.jsonValue()), (raw) => {
      const machine = readMachine(raw);
      if (machine.ok) validateMachine(machine.value);
      const machineClass = readMachineClass(raw);
      if (machineClass.ok) validateMachineClass(machineClass.value);
      const set = readMachineSet(raw);
      if (set.ok) withMachineSetDefaults(set.value);
      if (set.ok) validateMachineSet(set.value);
      const deployment = readMachineDeployment(raw);
      if (deployment.ok) validateMachineDeployment(deployment.value);
      if (machine.ok || machineClass.ok || set.ok || deployment.ok) readable++;
    }),
    { numRuns: 500 },
  );
  expect(readable).toBeGreaterThan(20);
});

it("completes every deployment that it calls valid, and its rollout can take a step", () => {
  const post = fc.option(fc.oneof(fc.integer({ min: -1, max: 5 }), fc.constantFrom("0%", "10%", "100%", "5")), {
    nil: undefined,
  });
  const posts = fc.record({ maxSurge: post, maxUnavailable: post });
  const strategy = fc.record({
    type: fc.constantFrom("", "RollingUpdate", "Recreate", "InPlaceUpdate", "OnDelete"),
    rollingUpdate: posts,
    inPlaceUpdate: fc.record({
      maxSurge: post,
      maxUnavailable: post,
      orchestrationType: fc.constantFrom("Auto", "Manual", ""),
    }),
  });
  let completed = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), strategy, (replicas, written) => {
      const read = readMachineDeployment(JSON.parse(JSON.stringify(deploymentWith(replicas, written))));
      if (!read.ok || validateMachineDeployment(read.value).length > 0) return;
      const { strategy: complete } = withMachineDeploymentDefaults(read.value).spec;
      if (complete.type !== "RollingUpdate") return;
      const { maxSurge, maxUnavailable } = resolveFenceposts({ replicas, ...complete.rollingUpdate });
      if (maxSurge + maxUnavailable === 0) throw new Error("the rollout cannot progress");
      completed++;
    }),
    { numRuns: 500 },
  );
  expect(completed).toBeGreaterThan(20);
});

function deploymentWith(replicas: number, strategy: unknown) {
  const selector = { matchLabels: { name: "w" } };
  const template = { metadata: { labels: { name: "w" } }, spec: { class: { kind: "MachineClass", name: "c" } } };
  return { metadata: { name: "w" }, spec: { replicas, selector, strategy, template } };
}
