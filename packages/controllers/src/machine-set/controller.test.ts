import {
  annotationKeys,
  finalizers,
  type Machine,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { controllerRefOf, findCondition } from "@millwright/kube";
import { notFoundError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  createdAt,
  inPhase,
  named,
  ownedBy,
  refOf,
} from "../testing/builders.ts";
import { deleteWhilePatched } from "../testing/delete-while-patched.ts";
import { setOf, setRef, startSets, withSet } from "../testing/running-set.ts";

describe("MachineSet controller", () => {
  it("creates the machines of a new set, and its finalizer before them", async () => {
    const cluster = await withSet({ metadata: { finalizers: null } });
    expect(cluster.machines()).toHaveLength(3);
    for (const machine of cluster.machines()) {
      expect(controllerRefOf(machine)).toMatchObject({ kind: "MachineSet", uid: "uid-set" });
      expect(machine.metadata.name).toMatch(/^set-[b-z2-9]{5}$/);
    }
    expect(cluster.api.writes()[0]).toMatchObject({
      verb: "patch",
      body: { metadata: { finalizers: [finalizers.machine] } },
    });
    expect(setOf(cluster)?.status).toMatchObject({ replicas: 3, availableReplicas: 0, observedGeneration: 1 });
    expect(cluster.events.filter((event) => event.startsWith("SuccessfulCreate Created Machine: set-"))).toHaveLength(
      3,
    );
  });

  it("writes nothing while nothing changes", async () => {
    const cluster = await withSet();
    // For ten seconds machines need not be known to be up to date.
    await cluster.settle(11_000);
    cluster.api.calls.length = 0;
    await cluster.settle(3_600_000);
    expect(cluster.api.writes()).toEqual([]);
  });

  it("follows its machines with its status, one write for each change", async () => {
    const cluster = await withSet({ spec: { replicas: 1 } });
    const [machine] = cluster.machines();
    cluster.api.calls.length = 0;
    cluster.api.change(machineResource, refOf(machine?.metadata.name ?? ""), inPhase("Running"));
    await cluster.settle(1_000);
    expect(setOf(cluster)?.status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
    expect(cluster.api.writes()).toHaveLength(1);
  });

  it("scales down and up again", async () => {
    const cluster = await withSet();
    cluster.api.change(machineSetResource, setRef, { spec: { replicas: 1 } });
    await cluster.settle();
    const going = cluster.machines().filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(going).toHaveLength(2);
    cluster.api.change(machineSetResource, setRef, { spec: { replicas: 2 } });
    await cluster.settle();
    expect(cluster.machines()).toHaveLength(4);
    for (const { metadata } of going) cluster.api.remove(machineResource, refOf(metadata.name));
    await cluster.settle();
    expect(setOf(cluster)?.status?.replicas).toBe(2);
  });

  it("replaces a machine that a user deletes", async () => {
    const cluster = await withSet({ spec: { replicas: 1 } });
    const [machine] = cluster.machines();
    cluster.api.remove(machineResource, refOf(machine?.metadata.name ?? ""));
    await cluster.settle();
    expect(cluster.machines()).toHaveLength(1);
    expect(cluster.machines()[0]?.metadata.name).not.toBe(machine?.metadata.name);
  });

  it("adopts matching orphans, leaves other owners in place, asks the API server once", async () => {
    const other = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "x" };
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 2 } }));
      for (const name of ["a", "b"])
        api.seed(machineResource, aMachine(named(name), { metadata: { ownerReferences: [other] } }));
    });
    expect(cluster.machines().map(({ metadata }) => metadata.ownerReferences?.map(({ kind }) => kind))).toEqual([
      ["ConfigMap", "MachineSet"],
      ["ConfigMap", "MachineSet"],
    ]);
    expect(cluster.api.calls.filter(({ verb }) => verb === "get")).toHaveLength(1);
    expect(cluster.api.writes().filter(({ verb }) => verb === "create")).toEqual([]);
  });

  it("adopts nothing for a set that the API server knows to be going", async () => {
    const cluster = await withSet({ spec: { replicas: 0 } });
    cluster.api.inject({ verb: "get", error: notFoundError("set") });
    cluster.api.seed(machineResource, aMachine());
    await cluster.settle();
    expect(controllerRefOf(cluster.machines()[0] ?? aMachine())).toBeUndefined();
  });

  it("really releases a machine that no longer matches, and replaces it", async () => {
    const cluster = await withSet({ spec: { replicas: 1 } });
    const name = cluster.machines()[0]?.metadata.name ?? "";
    cluster.api.change(machineResource, refOf(name), { metadata: { labels: { name: "debugging" } } });
    await cluster.settle();
    expect(cluster.api.peek<Machine>(machineResource, refOf(name))?.metadata.ownerReferences).toEqual([]);
    expect(cluster.machines()).toHaveLength(2);
  });

  it("leaves machines of other controllers alone", async () => {
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 0 } }));
      const other = api.seed(machineSetResource, aMachineSet(named("other"), { spec: { replicas: 1 } }));
      api.seed(machineResource, aMachine(named("theirs"), ownedBy(other)));
    });
    expect(cluster.api.writes().filter(({ resource }) => resource.startsWith("machines."))).toEqual([]);
  });

  it.each([
    ["of its name", {}],
    ["of another name", { name: "former" }],
  ])("adopts machines of a set %s that does not exist, and creates no others", async (_, metadata) => {
    const former = aMachineSet({ metadata: { uid: "former", ...metadata } });
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 3 } }));
      for (const name of ["a", "b", "c"]) api.seed(machineResource, aMachine(named(name), ownedBy(former)));
    });
    expect(cluster.machines().map((machine) => machine.metadata.ownerReferences?.map(({ uid }) => uid))).toEqual(
      ["a", "b", "c"].map(() => ["uid-set"]),
    );
    // The garbage collector may still delete them for the former one.
    for (const { metadata } of cluster.machines())
      expect(metadata.annotations?.[annotationKeys.adoptedFrom]).toMatch(/^former\/\d{4}-/);
    // The set itself, and the former one.
    expect(cluster.api.calls.filter(({ verb }) => verb === "get")).toHaveLength(2);
  });

  it("deletes those of them that are too many without the record of the adoption: it is its own choice", async () => {
    const former = aMachineSet({ metadata: { uid: "former" } });
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 1 } }));
      for (const name of ["a", "b", "c"])
        api.seed(machineResource, aMachine(inPhase("Running"), named(name), ownedBy(former)));
    });
    const { true: going = [], false: kept = [] } = Object.groupBy(
      cluster.machines(),
      ({ metadata }) => `${metadata.deletionTimestamp !== undefined}`,
    );
    const records = (machines: readonly Machine[]) =>
      machines.map(({ metadata }) => metadata.annotations?.[annotationKeys.adoptedFrom] !== undefined);
    expect([records(going), records(kept)]).toEqual([[false, false], [true]]);
  });

  it("adopts no machine that is terminating by now, so that its deletion stays held", async () => {
    const former = aMachineSet({ metadata: { uid: "former" } });
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 2 } }));
      for (const name of ["a", "b"]) api.seed(machineResource, aMachine(named(name), ownedBy(former)));
      deleteWhilePatched(api, machineResource, { patched: "a", deleted: "b" });
    });
    const ownerOf = (name: string) =>
      controllerRefOf(cluster.machines().find(({ metadata }) => metadata.name === name) ?? aMachine())?.uid;
    expect(ownerOf("a")).toBe("uid-set");
    expect(ownerOf("b")).toBe("former");
  });

  it("freezes a set with far too many machines, reports that once, and unfreezes it when they are deleted", async () => {
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet());
      for (let index = 0; index < 8; index++)
        api.seed(machineResource, aMachine(named(`m${index}`), inPhase("Running"), ownedBy(aMachineSet())));
    });
    const frozen = () => findCondition(setOf(cluster)?.status?.machineSetCondition, "Frozen");
    expect(setOf(cluster)?.metadata.labels).toMatchObject({ freeze: "True" });
    expect(frozen()).toMatchObject({ status: "True", reason: "OverShootingReplicaCount" });
    const going = cluster.machines().filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(going).toHaveLength(5);
    for (const { metadata } of going) cluster.api.remove(machineResource, refOf(metadata.name));
    await cluster.settle();
    expect(setOf(cluster)?.metadata.labels).not.toHaveProperty("freeze");
    expect(frozen()).toBeUndefined();
    expect(cluster.events.filter((event) => event.includes("SafetyController"))).toEqual([
      "FrozeMachineSet SafetyController: Froze MachineSet set due to replica overshooting",
      "UnfrozeMachineSet SafetyController: Unfroze MachineSet set",
    ]);
  });

  it("makes what its deployment leaves room for, by the UID of the deployment, as soon as that changes", async () => {
    const deployment = aMachineDeployment({ spec: { replicas: 1 } });
    const cluster = await startSets((api) => {
      api.seed(machineDeploymentResource, deployment);
      api.seed(machineSetResource, aMachineSet(ownedBy(deployment), { spec: { replicas: 10 } }));
      api.seed(
        machineSetResource,
        aMachineSet(
          named("stray"),
          { metadata: { labels: { name: "stray" } } },
          ownedBy(aMachineDeployment({ metadata: { uid: "gone" } })),
        ),
      );
    });
    const machinesOf = (name: string) =>
      cluster.machines().filter((machine) => controllerRefOf(machine)?.name === name);
    expect(machinesOf("set")).toHaveLength(4);
    expect(machinesOf("stray")).toHaveLength(3);
    await cluster.api.patch(machineDeploymentResource, refOf("pool"), { spec: { replicas: 3 } }, { kind: "merge" });
    await cluster.settle();
    expect(machinesOf("set")).toHaveLength(6);
  });

  it("keeps failures by itself as far as it may", async () => {
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 2, autoPreserveFailedMachineMax: 1 } }));
      api.seed(
        machineResource,
        aMachine(named("old"), inPhase("Failed"), createdAt("2025-01-01T00:00:00Z"), ownedBy(aMachineSet())),
      );
      api.seed(machineResource, aMachine(named("young"), inPhase("Failed"), ownedBy(aMachineSet())));
    });
    const machine = (name: string) => cluster.api.peek<Machine>(machineResource, refOf(name))?.metadata;
    expect(machine("young")?.annotations).toEqual({ [annotationKeys.preserve]: "auto-preserved" });
    expect([machine("young")?.deletionTimestamp, machine("old")?.deletionTimestamp]).toEqual([
      undefined,
      expect.any(String),
    ]);
    expect(setOf(cluster)?.status?.autoPreserveFailedMachineCount).toBe(1);
    expect(cluster.machines()).toHaveLength(3);
  });

  it("takes its machines with it and goes after the last", async () => {
    const cluster = await withSet();
    await cluster.api.delete(machineSetResource, setRef);
    await cluster.settle();
    expect(cluster.machines().every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
    expect(setOf(cluster)?.status?.replicas).toBe(3);
    for (const { metadata } of cluster.machines()) cluster.api.remove(machineResource, refOf(metadata.name));
    await cluster.settle();
    expect(setOf(cluster)).toBeUndefined();
  });

  it("reports once what is wrong with an invalid set, and deletes it on request", async () => {
    const cluster = await startSets((api) => {
      const set = aMachineSet();
      // A list where a map belongs: no reader takes it, and the type must be fooled to seed it.
      const broken: MachineSet = JSON.parse(JSON.stringify({ ...set, spec: { ...set.spec, selector: [] } }));
      api.seed(machineSetResource, broken);
    });
    expect(findCondition(setOf(cluster)?.status?.machineSetCondition, "SpecValid")?.message).toContain("spec.selector");
    expect(cluster.events).toHaveLength(1);
    cluster.api.calls.length = 0;
    await cluster.settle(3_600_000);
    expect(cluster.api.writes()).toEqual([]);
    await cluster.api.delete(machineSetResource, setRef);
    await cluster.settle();
    expect(setOf(cluster)).toBeUndefined();
  });
});
