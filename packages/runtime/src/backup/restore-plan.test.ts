import { isConfigError } from "@millwright/base";
import { annotationKeys, finalizers, machineApiVersion } from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { readBackup } from "./read-backup.ts";
import { planRestore, type VmsOfClasses } from "./restore-plan.ts";
import type { ExistingFleet } from "./restore-step.ts";

const namespace = "n";
const { machine: finalizer } = finalizers;
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [finalizer] };
const hash = { pool: "a" };

const object = (kind: string, name: string, metadata: object = {}, rest: object = {}): KubeObject => ({
  apiVersion: kind === "Secret" ? "v1" : machineApiVersion,
  kind,
  metadata: { name, namespace, uid: `uid-${name}`, ...metadata },
  ...rest,
});
const owned = (kind: string, uid: string, name = uid.replace("uid-", "")): object => ({
  ownerReferences: [{ apiVersion: machineApiVersion, kind, name, uid, controller: true }],
});
const aDeployment = (metadata: object = {}): KubeObject =>
  object("MachineDeployment", "pool", metadata, {
    spec: { replicas: 5, selector: { matchLabels: hash }, template: {} },
  });
const aSet = (metadata: object = {}, name = "set"): KubeObject =>
  object(
    "MachineSet",
    name,
    { labels: hash, ...owned("MachineDeployment", "uid-pool"), ...metadata },
    {
      spec: { replicas: 2, selector: { matchLabels: hash } },
    },
  );
const aMachine = (name: string, metadata: object = {}, spec: object = {}): KubeObject =>
  object(
    "Machine",
    name,
    { labels: hash, ...owned("MachineSet", "uid-set"), ...metadata },
    {
      spec: { class: { kind: "MachineClass", name: "small" }, providerID: `mock:///${name}`, ...spec },
    },
  );
const aClass = (providerSpec: object = {}): KubeObject => object("MachineClass", "small", {}, { providerSpec });

const fleet: readonly KubeObject[] = [aClass(), aDeployment(), aSet(), aMachine("m-1"), aMachine("m-2")];
const empty: ExistingFleet = { secrets: [], classes: [], sets: [], machines: [], deployments: [] };
const vm = (name: string) => ({ providerId: `mock:///${name}`, machineName: name });
const bothVms: VmsOfClasses = new Map([["small", [vm("m-1"), vm("m-2")]]]);
const backupOf = (objects: readonly KubeObject[]) =>
  readBackup(
    objects.map((each, index) => ({ source: `file, item ${index + 1}`, object: each })),
    namespace,
  );
const plan = (existing: Partial<ExistingFleet> = {}, objects = fleet, vms: VmsOfClasses = bothVms) =>
  planRestore(backupOf(objects), { ...empty, ...existing }, namespace, vms);
const shown = ({ steps }: ReturnType<typeof plan>): readonly string[] =>
  steps.map(({ kind, name, action, owner, expected, because }) =>
    [action, kind, name, owner && `of ${owner}`, expected && `expects ${expected}`, because && `(${because})`]
      .filter((part) => part !== undefined)
      .join(" "),
  );

describe("planRestore", () => {
  it("creates everything, owned objects before their owners, and a set that waits for its machines", () => {
    expect(shown(plan())).toEqual([
      "create MachineClass small",
      "create MachineSet set expects 2",
      "create Machine m-1 of set",
      "create Machine m-2 of set",
      "create MachineDeployment pool",
    ]);
    const [, set, machine] = plan().steps;
    expect(set?.object.metadata.annotations).toEqual({ [annotationKeys.expectedReplicas]: "2" });
    expect(machine?.object.metadata.finalizers).toEqual([finalizer]);
    expect(machine?.object.metadata).not.toHaveProperty("uid");
  });

  it("keeps what exists, and names the fields that differ", () => {
    const machines = [aMachine("m-1"), aMachine("m-2", {}, { providerID: "mock:///other" })];
    expect(
      shown(plan({ classes: [aClass({ a: 1 })], sets: [aSet()], machines, deployments: [aDeployment()] })),
    ).toEqual([
      "keep MachineClass small (differs from the file: providerSpec.a)",
      "keep MachineSet set",
      "keep Machine m-1 of set",
      "keep Machine m-2 of set (differs from the file: spec.providerID)",
      "keep MachineDeployment pool",
    ]);
  });

  it("gives owners that exist to what was applied with owners that do not, and has the set wait", () => {
    const stale = (kind: string) => owned(kind, "uid-of-before");
    const machines = [aMachine("m-1", stale("MachineSet")), aMachine("m-2", { ...stale("MachineSet"), ...deleted })];
    const existing = {
      classes: [aClass()],
      sets: [aSet({ uid: "uid-new", ...stale("MachineDeployment") })],
      machines,
      deployments: [aDeployment({ uid: "uid-new-pool" })],
    };
    expect(shown(plan(existing))).toEqual([
      "keep MachineClass small",
      "own MachineSet set of pool expects 2",
      "own Machine m-1 of set",
      "replace Machine m-2 of set",
      "keep MachineDeployment pool",
    ]);
  });

  it("replaces a set that is being deleted by one of another name, and moves its machines, also those that the file lacks", () => {
    const machines = [aMachine("m-1"), aMachine("m-3")];
    const first = plan({ sets: [aSet(deleted)], machines });
    expect(shown(first)).toEqual([
      "create MachineClass small",
      "replace MachineSet set-r expects 3",
      "own Machine m-1 of set-r",
      "create Machine m-2 of set-r",
      "own Machine m-3 of set-r",
      "create MachineDeployment pool",
    ]);
    const again = plan({ sets: [aSet(deleted), aSet({ uid: "uid-r" }, "set-r")], machines });
    expect(shown(again)).toEqual(shown(first));
  });

  it("takes the sets of a deployment that is replaced from it", () => {
    const existing = { sets: [aSet(), aSet({}, "other")], deployments: [aDeployment(deleted)] };
    expect(shown(plan(existing)).filter((line) => /Machine(?:Set|Deployment)/.test(line))).toEqual([
      "own MachineSet set expects 2",
      "own MachineSet other",
      "replace MachineDeployment pool",
    ]);
  });

  it("takes the sets of a lost deployment from the garbage collector, also those that the file lacks", () => {
    const sets = [aSet(), aSet({}, "old"), aSet(owned("MachineDeployment", "uid-another"), "another")];
    expect(shown(plan({ sets }, [aDeployment()]))).toEqual([
      "own MachineSet set",
      "own MachineSet old",
      "create MachineDeployment pool",
    ]);
  });

  it("gives the machines of a lost set to the new one, also those that the file lacks", () => {
    const machines = [aMachine("m-1"), aMachine("m-3"), aMachine("m-4", owned("MachineSet", "uid-another"))];
    expect(shown(plan({ machines, deployments: [aDeployment()] }, [aSet()]))).toEqual([
      "create MachineSet set of pool expects 2",
      "own Machine m-1 of set",
      "own Machine m-3 of set",
    ]);
  });

  it.each([
    ["its VM mock:///m-2 does not exist", {}, [vm("m-1")], {}],
    ["it has no VM; its set creates another", {}, [vm("m-1")], { providerID: "" }],
    [
      "its VM mock:///m-2 is that of Machine m-9",
      { machines: [aMachine("m-9", { ownerReferences: [] }, { providerID: "mock:///m-2" })] },
      undefined,
      {},
    ],
    [
      "its deletion has begun",
      {
        machines: [
          {
            ...aMachine("m-2", deleted),
            status: {
              currentStatus: { phase: "Terminating" },
              lastOperation: { type: "Delete", description: "Initiate node drain" },
            },
          },
        ],
      },
      undefined,
      {},
    ],
    [
      "it is being deleted, and finalizer example.com/x keeps it; remove that first",
      { machines: [aMachine("m-2", { ...deleted, finalizers: ["example.com/x"] })] },
      undefined,
      {},
    ],
  ] as const)("leaves out a machine: %s", (because, existing, vms, spec) => {
    const objects = [...fleet.slice(0, 4), aMachine("m-2", {}, spec)];
    const result = plan(existing, objects, vms === undefined ? bothVms : new Map([["small", vms]]));
    expect(shown(result)).toContain(`skip Machine m-2 of set (${because})`);
    expect(shown(result)).toContain("create MachineSet set expects 1");
  });

  it("gives a machine whose id was not stored yet the VM that was created for it", () => {
    const objects = [...fleet.slice(0, 4), aMachine("m-2", {}, { providerID: "" })];
    const step = plan({}, objects).steps.find(({ name }) => name === "m-2");
    expect(step?.object["spec"]).toMatchObject({ providerID: "mock:///m-2" });
  });

  it("doubts a list that lacks most VMs, and names VMs that no Machine has", () => {
    expect(plan({}, fleet, new Map([["small", [vm("m-9")]]])).doubts).toEqual([
      "MachineClass small: the cloud lists 0 of the 2 VMs of its machines",
    ]);
    const vms = new Map([["small", [vm("m-1"), vm("m-2"), vm("m-9"), { ...vm("m-8"), machineNamespace: "other" }]]]);
    const result = plan({}, fleet, vms);
    expect([result.doubts, result.notes]).toEqual([[], ["VM mock:///m-9 of Machine m-9 has no Machine"]]);
  });

  it("keeps a set waiting for machines that it lacked when it was exported", () => {
    const annotations = { [annotationKeys.expectedReplicas]: "5" };
    expect(shown(plan({}, [aSet({ annotations }), aMachine("m-1"), aMachine("m-2")]))).toContain(
      "create MachineSet set expects 5",
    );
  });
});

describe("readBackup", () => {
  const problemOf = (...objects: readonly KubeObject[]): string => {
    try {
      backupOf(objects);
    } catch (error) {
      return isConfigError(error) ? error.message : String(error);
    }
    return "";
  };

  it("names file, document, object and field of what it cannot read", () => {
    expect(problemOf(aClass(), { ...aMachine("m-1"), spec: { providerID: 7 } })).toMatch(
      /^file, item 2: Machine "m-1": spec\.providerID/,
    );
    expect(problemOf(object("Machine", "", {}))).toBe("file, item 1: Machine: metadata.name is required");
    expect(problemOf(aMachine("m-1", { namespace: "x" }))).toBe(
      'file, item 1: Machine "m-1": metadata.namespace is x, expected n; use --namespace x',
    );
    expect(problemOf(aMachine("m-1"), aMachine("m-1"))).toBe('file, item 2: Machine "m-1" is also in file, item 1');
    expect(problemOf(object("Pod", "p"))).toContain("file, item 1: has no Machine");
  });

  it("leaves other kinds out, and what belongs to one object at one time", () => {
    const annotations = { [annotationKeys.approveDeletions]: "2030-01-01T00:00:00Z", kept: "1" };
    const backup = backupOf([object("Node", "x"), aDeployment({ annotations, ...deleted })]);
    expect(backup.notes).toEqual(["file, item 1: Node is not restored"]);
    expect(backup.deployments[0]?.object.metadata).toEqual({
      name: "pool",
      namespace,
      annotations: { kept: "1" },
      finalizers: [finalizer],
    });
  });
});
