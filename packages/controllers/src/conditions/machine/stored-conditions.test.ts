import { isNodeConditionType, type MachineStatus } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineDeployment, aMachineSet, beingDeleted, inPhase } from "../../testing/builders.ts";
import { lastly, later, testNow, withVm } from "../../testing/snapshots.ts";
import { facts, kubelet, MINUTE, reporting, running } from "../../testing/written-conditions.ts";
import { type StoredConditionFacts, withStoredConditions } from "./stored-conditions.ts";

const given = (change: Partial<StoredConditionFacts> = {}): StoredConditionFacts => ({
  ...facts(change.machine, { node: "unread", ...change }),
  isInitializationDue: false,
  areEnabled: true,
  ...change,
});

/** The stored conditions of a machine whose status is written. */
const written = (change: Partial<StoredConditionFacts> = {}, now = testNow): MachineStatus => {
  const all = given(change);
  return withStoredConditions(all, all.machine.status ?? {}, true, now);
};

const texts = ({ conditions = [] }: MachineStatus): readonly string[] =>
  conditions
    .filter(({ type }) => !isNodeConditionType(type))
    .map(({ type, status, reason = "" }) => `${type} ${status} ${reason}`);

const owners = { set: aMachineSet(), deployment: aMachineDeployment() };

describe("the stored conditions of a machine", () => {
  it("follow the unchanged copies of the node's", () => {
    const { conditions = [] } = written(owners);
    expect(conditions.slice(0, kubelet.length)).toEqual(kubelet);
    expect(texts({ conditions })).toEqual([
      "MachineReady True Ready",
      "InfrastructureReady True Provisioned",
      "Initialized True Initialized",
      "NodeHealthy True NodeHealthy",
      "UpToDate True UpToDate",
    ]);
  });

  it.each<[string, Partial<StoredConditionFacts>, readonly string[]]>([
    [
      "whose creation fails",
      {
        machine: aMachine(inPhase("CrashLoopBackOff"), lastly("Create", "Failed", "no capacity"), {
          status: { lastOperation: { errorCode: "ResourceExhausted" } },
        }),
      },
      [
        "MachineReady False ResourceExhausted",
        "InfrastructureReady False NotProvisioned",
        "Initialized Unknown NotProvisioned",
        "NodeHealthy Unknown InspectionFailed",
      ],
    ],
    [
      "whose node has not joined",
      { machine: aMachine(withVm, inPhase("Pending")) },
      [
        "MachineReady Unknown NodeNotJoined",
        "InfrastructureReady True Provisioned",
        "Initialized True Initialized",
        "NodeHealthy Unknown InspectionFailed",
      ],
    ],
    [
      "whose node is healthy and waits for a startup taint",
      { machine: aMachine(withVm, inPhase("Pending"), { status: { conditions: kubelet } }) },
      [
        "MachineReady False NotReady",
        "InfrastructureReady True Provisioned",
        "Initialized True Initialized",
        "NodeHealthy True NodeHealthy",
      ],
    ],
    [
      "whose VM is not initialized although its node is healthy",
      { isInitializationDue: true },
      [
        "MachineReady False NotInitialized",
        "InfrastructureReady True Provisioned",
        "Initialized False NotInitialized",
        "NodeHealthy True NodeHealthy",
      ],
    ],
    [
      "whose node is not healthy",
      {
        machine: aMachine(running, inPhase("Unknown"), {
          status: { conditions: reporting({ type: "Ready", status: "False" }) },
        }),
      },
      [
        "MachineReady False NodeNotHealthy",
        "InfrastructureReady True Provisioned",
        "Initialized True Initialized",
        "NodeHealthy False NodeNotHealthy",
      ],
    ],
    [
      "whose deletion a person has to approve",
      {
        machine: aMachine(running, inPhase("Running"), beingDeleted(), {
          status: {
            conditions: kubelet,
            lastOperation: { type: "Delete", state: "Processing", description: "Deletion held for approval: too many" },
          },
        }),
      },
      [
        "MachineReady False DeletionsHeld",
        "InfrastructureReady True Provisioned",
        "Initialized True Initialized",
        "NodeHealthy True NodeHealthy",
        "Deleting True Deleting",
        "Stalled True DeletionsHeld",
      ],
    ],
    [
      "whose deletion a rate delays",
      {
        machine: aMachine(running, inPhase("Running"), beingDeleted(), {
          status: {
            conditions: kubelet,
            lastOperation: { type: "Delete", state: "Processing", description: "Deletion held: at most 50 an hour" },
          },
        }),
      },
      [
        "MachineReady False Deleting",
        "InfrastructureReady True Provisioned",
        "Initialized True Initialized",
        "NodeHealthy True NodeHealthy",
        "Deleting True Deleting",
      ],
    ],
    [
      "without a cluster to join",
      { machine: aMachine(withVm, inPhase("Available")), hasTarget: false },
      ["MachineReady True Ready", "InfrastructureReady True Provisioned", "Initialized True Initialized"],
    ],
    [
      "of a former template",
      {
        set: aMachineSet(),
        deployment: aMachineDeployment({ spec: { template: { spec: { class: { name: "other" } } } } }),
      },
      [
        "MachineReady True Ready",
        "InfrastructureReady True Provisioned",
        "Initialized True Initialized",
        "NodeHealthy True NodeHealthy",
        "UpToDate False NotUpToDate",
      ],
    ],
  ])("of a machine %s", (_, change, expected) => {
    expect(texts(written(change))).toEqual(expected);
  });

  it("name the stage of a deletion, and have no Deleting before it", () => {
    const machine = aMachine(
      running,
      beingDeleted(),
      inPhase("Terminating"),
      lastly("Delete", "Processing", "Waiting for 2 pods. Initiate node drain"),
    );
    expect(texts(written({ machine }))).toContain("Deleting True DrainingNode");
    expect(texts(written({ machine }))).toContain("MachineReady False DrainingNode");
    const again = aMachine(running, { status: { conditions: written({ machine }).conditions ?? [] } });
    expect(texts(written({ machine: again })).some((text) => text.startsWith("Deleting"))).toBe(false);
  });

  it("name until when a node may join, and only while it may", () => {
    const textOf = (change: Partial<StoredConditionFacts>): string =>
      written(change).conditions?.find(({ type }) => type === "MachineReady")?.message ?? "";
    const created = { metadata: { creationTimestamp: "2026-01-01T10:00:00Z" } };
    const joining = { machine: aMachine(withVm, created, inPhase("Pending")), node: "missing" } as const;
    expect(textOf(joining)).toContain("Waiting for a Node with spec.providerID");
    expect(textOf(joining)).toMatch(
      /\n\* Unless its Node is ready by 2026-01-01T10:20:00Z, the machine becomes Failed$/,
    );
    const longer = aMachine(joining.machine, { spec: { creationTimeout: "1h" } });
    expect(textOf({ ...joining, machine: longer })).toContain("by 2026-01-01T11:00:00Z");
    for (const change of [
      { machine: aMachine(joining.machine, { metadata: { creationTimestamp: null } }) },
      { machine: aMachine(joining.machine, beingDeleted()) },
      { machine: aMachine(joining.machine, inPhase("Failed")) },
      { isTargetReachable: false },
      { hasTarget: false },
    ])
      expect(textOf({ ...joining, ...change })).not.toContain("Unless");
  });

  it("keep their transition times while their status stays", () => {
    const machine = aMachine(running, { status: written() });
    const status = written({ machine, isInitializationDue: true }, later(MINUTE));
    const times = (status.conditions ?? []).map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`);
    expect(times).toContain(`Initialized ${apiTime(later(MINUTE))}`);
    expect(times).toContain(`InfrastructureReady ${apiTime(testNow)}`);
  });
});

describe("a write for stored conditions alone", () => {
  const alone = (change: Partial<StoredConditionFacts>): boolean => {
    const all = given(change);
    const status = all.machine.status ?? {};
    return withStoredConditions(all, status, false, testNow) !== status;
  };
  const stored = aMachine(running, { status: written(owners) });

  it("does not happen for a machine that has none yet, such as one that was taken over", () => {
    expect(alone(owners)).toBe(false);
  });

  it("does not happen when they are right, and for another message", () => {
    expect(alone({ ...owners, machine: stored })).toBe(false);
  });

  it("happens when the deployment gets another template", () => {
    const deployment = aMachineDeployment({ spec: { template: { spec: { class: { name: "other" } } } } });
    expect(alone({ set: aMachineSet(), deployment, machine: stored })).toBe(true);
  });

  it("does not happen for a machine that is being deleted", () => {
    expect(alone({ machine: aMachine(stored, beingDeleted()) })).toBe(false);
  });

  it("removes them when Cluster API's conditions are disabled", () => {
    const all = given({ ...owners, machine: stored, areEnabled: false });
    expect(withStoredConditions(all, stored.status ?? {}, false, testNow).conditions).toEqual(kubelet);
  });
});
