import { annotationKeys, machineApiVersion } from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";
import { expect, it } from "vitest";
import { scaleSteps } from "./scale-steps.ts";
import type { ExistingFleet, RestoreStep } from "./restore-step.ts";

const object = (kind: string, name: string, owner?: KubeObject, rest: object = {}): KubeObject => {
  const { kind: ofKind = "", metadata: { name: ofName = "", uid = "" } = {} } = owner ?? {};
  const reference = { apiVersion: machineApiVersion, kind: ofKind, name: ofName, uid, controller: true };
  const ownerReferences = owner === undefined ? [] : [reference];
  return { apiVersion: machineApiVersion, kind, metadata: { name, uid: `uid-${name}`, ownerReferences }, ...rest };
};
const pool = (spec: object, annotations: Readonly<Record<string, string>> = {}): KubeObject => {
  const made = object("MachineDeployment", "pool");
  const template = { spec: { class: { kind: "MachineClass", name: "small" } } };
  return {
    ...made,
    metadata: { ...made.metadata, annotations },
    spec: { selector: { matchLabels: { a: "b" } }, template, ...spec },
  };
};
const limits = { [annotationKeys.autoscalerMinSize]: "2", [annotationKeys.autoscalerMaxSize]: "9" };
const step = (
  kind: "Machine" | "MachineSet",
  name: string,
  action: RestoreStep["action"],
  owner: string,
): RestoreStep => ({
  kind,
  name,
  action,
  owner,
  object: object(kind, name),
});
const machines = (count: number, action: RestoreStep["action"] = "create", owner = "set") =>
  Array.from({ length: count }, (_, index) => step("Machine", `${owner}-${index}`, action, owner));

/** From which size to which a deployment with a set of `present` machines is scaled beside these steps. */
const sizes = (deployment: KubeObject, steps: readonly RestoreStep[], present = 0, lacksSet = false) => {
  const set = object("MachineSet", "set", deployment);
  const existing: ExistingFleet = {
    secrets: [],
    classes: [],
    deployments: [deployment],
    sets: lacksSet ? [] : [set],
    machines: Array.from({ length: present }, (_, index) => object("Machine", `new-${index}`, set)),
  };
  return scaleSteps(steps, existing).map(({ because = "" }) => /from (\d+) to (\d+) replicas/.exec(because)?.slice(1));
};

it.each<[string, ReturnType<typeof sizes>, (readonly string[])[]]>([
  ["as many as it wants", sizes(pool({ replicas: 3 }), machines(3)), []],
  ["more than it wants", sizes(pool({ replicas: 2 }), machines(6)), [["2", "6"]]],
  ["more with those that it has created since", sizes(pool({ replicas: 6 }), machines(6), 2), [["6", "8"]]],
  ["its first size, where an autoscaler sets it", sizes(pool({}, limits), machines(6), 2), [["2", "8"]]],
  ["none without a size, as its controller does", sizes(pool({}), machines(1)), [["0", "1"]]],
  [
    "a set that is created, too",
    sizes(pool({ replicas: 1 }), [step("MachineSet", "set", "create", "pool"), ...machines(2)], 0, true),
    [["1", "2"]],
  ],
  ["nothing new, whatever it has", sizes(pool({ replicas: 1 }), machines(3, "keep"), 3), []],
  ["what is left out", sizes(pool({ replicas: 1 }), machines(3, "skip"), 1), []],
  ["machines of others", sizes(pool({ replicas: 1 }), machines(3, "create", "other"), 1), []],
  [
    "the surge of a rollout",
    sizes(pool({ replicas: 3 }), [step("MachineSet", "old", "create", "pool"), ...machines(3, "create", "old")], 1),
    [],
  ],
  [
    "more than the surge of a rollout",
    sizes(pool({ replicas: 3 }), [step("MachineSet", "old", "create", "pool"), ...machines(3, "create", "old")], 2),
    [["3", "5"]],
  ],
])("scales a deployment that exists and gets %s", (_, found, expected) => {
  expect(found).toEqual(expected);
});

it("scales them to what they get", () => {
  const deployment = pool({ replicas: 2 });
  const existing: ExistingFleet = { secrets: [], classes: [], sets: [], machines: [], deployments: [deployment] };
  const steps = [step("MachineSet", "set", "create", "pool"), ...machines(5)];
  expect(scaleSteps(steps, existing)).toEqual([
    {
      kind: "MachineDeployment",
      name: "pool",
      action: "scale",
      object: deployment,
      current: deployment,
      replicas: 5,
      sets: new Map(),
      because: "from 2 to 5 replicas; otherwise machines would be deleted with their VMs",
    },
  ]);
});

it("gives each set that exists the size that it will have, before its machines come", () => {
  const sized = (name: string, replicas: number, deployment: KubeObject): KubeObject => ({
    ...object("MachineSet", name, deployment),
    spec: { replicas, selector: {}, template: { spec: { class: { kind: "MachineClass", name: "small" } } } },
  });
  const deployment = pool({ replicas: 2 });
  const sets = [sized("set", 1, deployment), sized("other", 3, deployment), sized("idle", 1, deployment)];
  const existing: ExistingFleet = {
    secrets: [],
    classes: [],
    deployments: [deployment],
    sets,
    machines: [object("Machine", "new-0", sets[0])],
  };
  const steps = scaleSteps([...machines(4), ...machines(3, "create", "other")], existing);
  expect(steps.map(({ replicas, sets: sizesOf }) => [replicas, [...(sizesOf ?? [])]])).toEqual([[8, [["set", 5]]]]);
});
