import { annotationKeys, type Machine } from "@millwright/core/machine-api";
import { createMergePatch, findCondition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { machineSetStatus } from "./status.ts";

const now = new Date("2026-01-02T00:00:00Z");
const machine = (name: string, ...changes: readonly Change<Machine>[]): Machine => aMachine(named(name), ...changes);
const lastFailed = { status: { lastOperation: { state: "Failed", type: "Create", description: "no quota" } } };
const statusWith = (owned: readonly Machine[], set = aMachineSet()) =>
  machineSetStatus({ set, owned, problems: [], unjudged: ["Frozen"] }, now);

describe("machineSetStatus", () => {
  it("counts machines by their state, terminating ones among the replicas only", () => {
    const owned = [
      ...["a", "b", "c"].map((name) => machine(name, inPhase("Running"))),
      machine("d", inPhase("Available")),
      machine("e", inPhase("Pending")),
      machine("f", inPhase("Terminating")),
    ];
    expect(statusWith(owned)).toMatchObject({
      replicas: 6,
      fullyLabeledReplicas: 6,
      availableReplicas: 4,
      readyReplicas: 3,
      preservedFailedReplicas: 0,
      autoPreserveFailedMachineCount: 0,
      observedGeneration: 1,
    });
  });

  it("counts a Running machine as ready and available until its deletion begins", () => {
    const leaving = machine("a", inPhase("Running"), beingDeleted());
    const terminating = machine("b", inPhase("Terminating"), beingDeleted());
    expect(statusWith([leaving, terminating])).toMatchObject({ replicas: 2, availableReplicas: 1, readyReplicas: 1 });
  });

  it("counts only machines with all labels of the template as fully labeled", () => {
    const set = aMachineSet({ spec: { template: { metadata: { labels: { zone: "a" } } } } });
    const labeled = machine("b", { metadata: { labels: { zone: "a", more: "b" } } });
    expect(statusWith([machine("a"), labeled], set).fullyLabeledReplicas).toBe(1);
    const free = aMachineSet({ spec: { template: { metadata: null } } });
    expect(statusWith([machine("a"), labeled], free).fullyLabeledReplicas).toBe(2);
  });

  it("lists machines whose last operation failed, by name", () => {
    const set = aMachineSet();
    const foreign = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "x" };
    const owned = [
      machine("b", lastFailed, { spec: { providerID: "mock:///b" } }),
      machine("a", lastFailed, ownedBy(set), { metadata: { ownerReferences: [foreign] } }),
      machine("c"),
    ];
    const lastOperation = lastFailed.status.lastOperation;
    expect(statusWith(owned, set).failedMachines).toEqual([
      { name: "a", lastOperation, ownerRef: "set" },
      { name: "b", providerID: "mock:///b", lastOperation, ownerRef: "set" },
    ]);
  });

  it("has no list of failed machines when there are none, nor when the list was not empty before", () => {
    const set = aMachineSet({ status: { failedMachines: [{ name: "gone" }] } });
    expect(statusWith([], set)).not.toHaveProperty("failedMachines");
  });

  it("counts a preserved failure instead of listing it", () => {
    const preserved = { status: { currentStatus: { phase: "Failed", preserveExpiryTime: "2026-02-01T00:00:00Z" } } };
    const status = statusWith([machine("a", lastFailed, preserved)]);
    expect(status.preservedFailedReplicas).toBe(1);
    expect(status.failedMachines).toBeUndefined();
  });

  it("counts automatic preservation by its annotation, whatever the phase", () => {
    const auto = annotated({ [annotationKeys.preserve]: "auto-preserved" });
    expect(
      statusWith([machine("a", auto), machine("b", auto, inPhase("Running"))]).autoPreserveFailedMachineCount,
    ).toBe(2);
  });

  it("shows a refused creation in the words of the API server, and keeps its time while it stands", () => {
    const first = machineSetStatus(
      { set: aMachineSet(), owned: [], problems: [], failure: { reason: "FailedCreate", message: "quota" } },
      new Date("2026-01-01T00:00:00Z"),
    );
    const second = machineSetStatus(
      {
        set: aMachineSet({ status: first }),
        owned: [],
        problems: [],
        failure: { reason: "FailedDelete", message: "denied" },
      },
      now,
    );
    expect(findCondition(second.machineSetCondition, "ReplicaFailure")).toEqual({
      type: "ReplicaFailure",
      status: "True",
      reason: "FailedDelete",
      message: "denied",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    const third = statusWith([], aMachineSet({ status: second }));
    expect(findCondition(third.machineSetCondition, "ReplicaFailure")).toBeUndefined();
  });

  it("keeps conditions and fields that it does not own", () => {
    const frozen = { type: "Frozen", status: "True", reason: "OverShootingReplicaCount", message: "" };
    const status = statusWith(
      [],
      aMachineSet({ status: { machineSetCondition: [frozen], lastOperation: { state: "x" } } }),
    );
    expect(status.machineSetCondition?.[0]).toEqual(frozen);
    expect(status.lastOperation).toEqual({ state: "x" });
  });

  it("shows that it is frozen, and takes it away when it is not", () => {
    const condition = { type: "Frozen", status: "True", reason: "OverShootingReplicaCount", message: "8" } as const;
    const facts = { owned: [], problems: [] };
    const first = machineSetStatus({ ...facts, set: aMachineSet(), holds: [condition] }, now);
    expect(findCondition(first.machineSetCondition, "Frozen")).toMatchObject(condition);
    const second = machineSetStatus({ ...facts, set: aMachineSet({ status: first }) }, now);
    expect(findCondition(second.machineSetCondition, "Frozen")).toBeUndefined();
  });

  it("has no details of failures, which its API server prunes", () => {
    const details = { reason: "CreationFailed", code: "Internal", message: "no capacity" };
    const operation = { state: "Failed", description: "no capacity", lastUpdateTime: "2026-01-01T00:00:00Z" };
    const failing = machine("a", { status: { lastOperation: { ...operation, details } } });
    expect(statusWith([failing]).failedMachines).toMatchObject([{ lastOperation: operation }]);
    expect(statusWith([failing]).failedMachines?.[0]?.lastOperation).not.toHaveProperty("details");
  });

  it("does not change for a failure that is only tried again", () => {
    const at = (time: string, description = "no capacity") =>
      machine("a", { status: { lastOperation: { state: "Failed", description, lastUpdateTime: time } } });
    const first = statusWith([at("2026-01-01T00:00:00Z")]);
    const listed = (broken: Machine) => statusWith([broken], aMachineSet({ status: first })).failedMachines;
    expect(listed(at("2026-01-01T01:00:00Z"))).toEqual(first.failedMachines);
    expect(listed(at("2026-01-01T01:00:00Z", "denied"))?.[0]?.lastOperation?.lastUpdateTime).toBe(
      "2026-01-01T01:00:00Z",
    );
  });

  it("leaves observedGeneration behind while the spec is invalid", () => {
    const set = aMachineSet({ metadata: { generation: 7 }, status: { observedGeneration: 6 } });
    const problem = { path: "spec.replicas", message: "must not be negative", kind: "invalid" } as const;
    const status = machineSetStatus({ set, owned: [], problems: [problem] }, now);
    expect(status.observedGeneration).toBe(6);
    expect(findCondition(status.machineSetCondition, "SpecValid")).toMatchObject({
      status: "False",
      reason: "InvalidSpec",
      message: "* spec.replicas: must not be negative",
      observedGeneration: 7,
    });
    expect(statusWith([], set).observedGeneration).toBe(7);
  });

  it("is equal to what it was when nothing changed", () => {
    const owned = [machine("a", lastFailed), machine("b", inPhase("Running"))];
    const status = statusWith(owned);
    const again = statusWith(owned, aMachineSet({ status }));
    expect(createMergePatch({ ...status }, { ...again })).toBeUndefined();
  });
});
