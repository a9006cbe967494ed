import {
  annotationKeys,
  clusterApiConditionTypes,
  machineClassResource,
  type MachineDeployment,
} from "@millwright/core/machine-api";
import { ApiError, secretResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { ofClass } from "../testing/begun-rollout.ts";
import {
  aMachineClass,
  aMachineDeployment,
  annotated,
  type Change,
  named,
  refOf,
  testNamespace,
} from "../testing/builders.ts";
import { createRolloutModel } from "../testing/rollout-model.ts";
import { settle } from "../testing/rollout-transcript.ts";
import type { RunningControllers } from "../testing/running-controllers.ts";
import { changeDeployment, conditionOf, live, setsOf, withDeployment } from "../testing/running-deployment.ts";

/** May be missing: without a look at the class, one machine would be deleted before any is created. */
const unavailable: Change<MachineDeployment> = {
  spec: { replicas: 3, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
};

const classes = (cluster: RunningControllers): readonly (string | undefined)[] =>
  cluster.machines().map(({ spec, metadata }) => `${spec.class?.name}${metadata.deletionTimestamp ? " goes" : ""}`);
const three = ["small", "small", "small"];
const heldBy = (cluster: RunningControllers): string =>
  conditionOf(cluster, clusterApiConditionTypes.rollingOut)?.message ?? "";

async function serving(...changes: readonly Change<MachineDeployment>[]): Promise<RunningControllers> {
  const cluster = await withDeployment(unavailable, { spec: { progressDeadlineSeconds: 300 } }, ...changes);
  await live(cluster);
  return cluster;
}

describe.each<[string, Change<MachineDeployment>]>([
  ["by rolling update", {}],
  ["by rolling update in steps", annotated({ [annotationKeys.canarySteps]: "1/1s" })],
  ["by Recreate", { spec: { strategy: { type: "Recreate", rollingUpdate: null } } }],
])("a rollout %s to a class", (_, change) => {
  it("that does not exist touches no machine, and goes on when the class comes", async () => {
    const cluster = await serving(change);
    await changeDeployment(cluster, ofClass("none"));
    await live(cluster);
    await cluster.settle(60_000);
    expect(classes(cluster)).toEqual(three);
    expect(heldBy(cluster)).toContain(
      '* Rollout waits for MachineClass none: spec.class.name: MachineClass "none" does not exist in namespace',
    );
    await cluster.settle(600_000);
    expect(conditionOf(cluster, "Progressing")).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
    cluster.api.seed(machineClassResource, aMachineClass(named("none")));
    await cluster.settle(2_000);
    await live(cluster);
    await cluster.settle(5_000);
    await live(cluster);
    expect(classes(cluster)).toEqual(["none", "none", "none"]);
  });

  it("whose Secret is missing or has no user data touches no machine until it is there", async () => {
    const cluster = await serving(change);
    const other = { ...named("other"), secretRef: refOf("other") };
    cluster.api.seed(machineClassResource, aMachineClass(other));
    await changeDeployment(cluster, ofClass("other"));
    await cluster.settle(60_000);
    expect(classes(cluster)).toEqual(three);
    expect(heldBy(cluster)).toContain('Secret "other" does not exist in namespace');
    cluster.api.seed(secretResource, { metadata: refOf("other"), data: {} });
    await cluster.settle(60_000);
    expect(classes(cluster)).toEqual(three);
    expect(heldBy(cluster)).toContain('key "userData" is missing in Secret "other"');
    cluster.api.change(secretResource, refOf("other"), { data: { userData: "YQ==" } });
    await cluster.settle(2_000);
    await live(cluster);
    await cluster.settle(5_000);
    await live(cluster);
    expect(classes(cluster)).toEqual(["other", "other", "other"]);
  });
});

describe("a rollout to a class whose Secret cannot be read", () => {
  it("waits and is scaled meanwhile, and goes on when it can be read", async () => {
    const cluster = await serving();
    cluster.api.seed(machineClassResource, aMachineClass({ ...named("other"), secretRef: refOf("other") }));
    cluster.api.seed(secretResource, { metadata: refOf("other"), data: { userData: "YQ==" } });
    const error = new ApiError({ status: 403, reason: "Forbidden", message: "no rights" });
    const key = `${testNamespace}/other`;
    cluster.api.inject({ verb: "get", type: secretResource, key, error, times: 2 });
    await changeDeployment(cluster, ofClass("other"));
    await cluster.settle(20_000);
    expect(classes(cluster)).toEqual(three);
    expect(heldBy(cluster)).toContain("its Secrets cannot be read: no rights");
    await changeDeployment(cluster, { spec: { replicas: 4 } });
    await live(cluster);
    await cluster.settle(31_000);
    expect(classes(cluster)).toEqual([...three, "small"]);
    await cluster.settle(31_000);
    await live(cluster);
    expect(classes(cluster)).toEqual(["other", "other", "other", "other"]);
    expect(cluster.api.calls.filter((call) => call.verb === "get" && call.key === key)).toHaveLength(3);
  });
});

it("goes on with the sets that are there when a class breaks in the middle: none more is replaced", async () => {
  const cluster = await serving();
  await changeDeployment(cluster, ofClass("big"));
  cluster.api.remove(machineClassResource, refOf("big"));
  await cluster.settle(2_000);
  await live(cluster);
  await cluster.settle(60_000);
  const before = classes(cluster);
  await live(cluster);
  await cluster.settle(600_000);
  expect(classes(cluster)).toEqual(before);
  expect(setsOf(cluster).reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0)).toBe(3);
});

it("names all problems of a class in one line, which is cut", () => {
  const problem = Array.from({ length: 500 }, (_, index) => `providerSpec.field${index}: is required`).join("; ");
  const model = createRolloutModel(aMachineDeployment(), { unusableClass: { problem } });
  settle(model);
  model.change(ofClass("big"));
  settle(model);
  expect(model.sets().map(({ spec }) => spec.replicas)).toEqual([3, 0]);
  const [hold = "", ...others] = model.holds();
  expect(others).toEqual([]);
  expect(hold).toMatch(
    /^Rollout waits for MachineClass big: providerSpec\.field0: is required; providerSpec\.field1: /,
  );
  expect(hold).not.toContain("\n");
  expect(hold.length).toBeLessThan(5_000);
});
