import { annotationKeys, validateMachineSet } from "@millwright/core/machine-api";
import { claimObjects } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { SetBudget } from "../model/deletion-budget.ts";
import type { OwnerlessVms } from "../model/vm-census.ts";
import { aMachine, aMachineDeployment, aMachineSet, inPhase, named, ownedBy } from "../testing/builders.ts";
import { decideMachineSet } from "./decide.ts";
import { decideWithVms } from "./decide-with-vms.ts";
import { planReplicas } from "./plan-replicas.ts";

const now = new Date("2026-01-02T00:00:00Z");
const budget = (change: Partial<SetBudget>): SetBudget => ({
  share: 0.5,
  scopes: [{ kind: "MachineSet", name: "pool", inService: 20, loss: 0 }],
  isApproved: false,
  counted: new Set(Array.from({ length: 20 }, (_, at) => `uid-m${at}`)),
  rate: { count: 50, limit: 50, scope: { kind: "MachineClass", name: "small" }, moreInMs: 0 },
  requested: undefined,
  ...change,
});

/** Decides about a set of twenty machines that is scaled. */
function decide(replicas: number | null, change: Partial<SetBudget>, deployment?: number | null) {
  const parent = deployment === undefined ? undefined : aMachineDeployment({ spec: { replicas: deployment } });
  const set = aMachineSet({ spec: { replicas } }, ...(parent === undefined ? [] : [ownedBy(parent)]));
  const machines = Array.from({ length: 20 }, (_, at) =>
    aMachine(named(`m${at}`), ownedBy(set), inPhase("Running"), { spec: { providerID: `mock:///${at}` } }),
  );
  const claim = claimObjects(set, machines, () => true);
  const more = parent === undefined ? {} : { deployment: parent };
  return decideMachineSet({ set, claim, problems: validateMachineSet(set), budget: budget(change), ...more }, now);
}

describe("a set whose deletions are over the budget", () => {
  it("deletes nothing, has the event, and is judged again", () => {
    const { actions, because, held, requeueAfterMs } = decide(0, {});
    expect(actions.filter(({ kind }) => kind === "DeleteMachine")).toEqual([]);
    expect(held).toMatchObject({ why: "share", cause: "scale-down", count: 20 });
    expect(because.map(({ reason }) => reason)).toContain("DeletionsHeld");
    expect(requeueAfterMs).toBe(30_000);
  });

  it("leaves the event to its deployment, also without replicas of its own", () => {
    for (const replicas of [0, null]) {
      const { because, held } = decide(replicas, {}, 20);
      expect(because.map(({ reason }) => reason)).not.toContain("DeletionsHeld");
      expect(held?.cause).toBe(replicas === 0 ? "rollout" : held?.cause);
    }
    expect(decide(0, {}, null).held?.cause).toBe("scale-down");
  });

  it("deletes what the rate has room for, and is judged when it has more", () => {
    const rate = { count: 3, limit: 50, scope: { kind: "MachineClass", name: "small" } as const, moreInMs: 7000 };
    const { actions, held, requeueAfterMs } = decide(10, { rate });
    expect(actions.filter(({ kind }) => kind === "DeleteMachine")).toHaveLength(3);
    expect(held?.why).toBe("rate");
    expect(requeueAfterMs).toBe(7000);
  });

  it("deletes all that is approved", () => {
    const { actions, held, uses } = decide(0, { isApproved: true });
    expect(actions.filter(({ kind }) => kind === "DeleteMachine")).toHaveLength(20);
    expect([held, uses]).toEqual([undefined, undefined]);
  });

  it("records how much of an approval it uses before it deletes anything", () => {
    const by = aMachineDeployment();
    const approved = { by, kind: "MachineDeployment", work: "deletions", left: 20, room: Infinity, used: 3 } as const;
    const { actions, uses } = decide(0, { approved });
    const [use, ...others] = actions.filter(({ kind }) => kind !== "PatchSet");
    expect(others.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => "DeleteMachine"));
    expect(use).toEqual({
      kind: "UseApproval",
      of: "MachineDeployment",
      name: "pool",
      patch: { metadata: { annotations: { [annotationKeys.usedApprovals]: "generation=1,count=23" } } },
    });
    expect(uses).toEqual({ by, count: 20 });
    expect(decide(10, { approved: { ...approved, left: 9 } }).uses).toBeUndefined();
    expect(decide(20, { approved }).uses).toBeUndefined();
  });

  it("reports a share of its own that is invalid, and goes on", () => {
    const set = aMachineSet({ metadata: { annotations: { [annotationKeys.maxDeletionShare]: "all" } } });
    const { actions, because, status } = decideMachineSet(
      { set, claim: claimObjects(set, [], () => true), problems: [] },
      now,
    );
    expect(actions.map(({ kind }) => kind)).toEqual(["CreateMachines"]);
    expect(because[0]?.message).toContain(`${annotationKeys.maxDeletionShare}]: must be a percentage`);
    expect(status?.machineSetCondition).toContainEqual(expect.objectContaining({ type: "SpecValid", status: "False" }));
  });
});

describe("a set whose missing machines may still have VMs", () => {
  /** Decides about a set without machines. */
  function decideEmpty(
    replicas: number,
    vms: OwnerlessVms | undefined,
    change: Partial<SetBudget> = {},
    isUnexplained: boolean = false,
  ) {
    const set = aMachineSet({ spec: { replicas } });
    const scopes = [{ kind: "MachineSet", name: "pool", inService: 0, loss: 0 } as const];
    const snapshot = {
      set,
      claim: claimObjects(set, [], () => true),
      problems: validateMachineSet(set),
      budget: budget({ scopes, ...change }),
      memory: { isUnexplained },
    };
    return vms === undefined ? decideMachineSet(snapshot, now) : decideWithVms(snapshot, () => vms, now);
  }
  const created = ({ actions }: ReturnType<typeof decideEmpty>): number =>
    actions.reduce((sum, action) => sum + (action.kind === "CreateMachines" ? action.count : 0), 0);

  it("creates none of them while their VMs exist, and reports how to keep these", () => {
    const decision = decideEmpty(20, { state: "known", count: 18 });
    expect(created(decision)).toBe(0);
    expect(decision.held).toMatchObject({ why: "ownerless VMs", cause: "creation", count: 20, total: 18 });
    expect(decision.requeueAfterMs).toBe(30_000);
    const message = decision.because.find(({ reason }) => reason === "DeletionsHeld")?.message;
    expect(message).toMatch(
      /^Creation of 20 machines is held: 18 VMs of MachineClass small have no Machine and may be theirs\. To keep the VMs, create their Machines with spec\.providerID\. To approve, run "millwright approve set set"/,
    );
  });

  it("creates those that are approved, and records it", () => {
    const by = aMachineSet();
    const approved = { by, kind: "MachineSet", work: "creations", left: 20, room: Infinity, used: 0 } as const;
    const { actions, uses } = decideEmpty(20, { state: "known", count: 20 }, { approved });
    expect(actions.map(({ kind }) => kind)).toEqual(["UseApproval", "CreateMachines"]);
    expect(uses).toEqual({ by, count: 20 });
    // Where nothing is held, nothing is used.
    expect(decideEmpty(20, { state: "known", count: 0 }, { approved }).uses).toBeUndefined();
  });

  it("names no class for a template without one", () => {
    const { create, budget: rest } = planReplicas({
      set: aMachineSet({ spec: { replicas: 20, template: { spec: { class: null } } } }),
      owned: [],
      now,
      budget: budget({ scopes: [] }),
      ownerless: new Map([[11, { state: "known", count: 20 }]]),
    });
    expect([create, rest?.held?.scope.name]).toEqual([0, ""]);
  });

  it.each([{}, { share: 0 }, { isApproved: true }])(
    "waits for a list before it creates machines that the status counts, however few, with %j",
    (change) => {
      const decision = decideEmpty(1, { state: "listing", forMs: 5_000 }, change, true);
      expect([created(decision), decision.requeueAfterMs]).toEqual([0, 5_000]);
      expect(created(decideEmpty(1, { state: "listing", forMs: 5_000 }, change))).toBe(1);
      expect(created(decideEmpty(1, { state: "known", count: 1 }, change, true))).toBe(1);
    },
  );

  it("waits for a list of the VMs, without a condition", () => {
    const decision = decideEmpty(20, { state: "listing", forMs: 5_000 });
    expect(created(decision)).toBe(0);
    expect(decision.held).toBeUndefined();
    expect(decision.requeueAfterMs).toBe(5_000);
  });

  it.each<[string, number, OwnerlessVms | undefined, Partial<SetBudget>]>([
    ["no VM lacks its Machine", 20, { state: "known", count: 0 }, {}],
    ["they are as many as an ordinary creation", 10, { state: "known", count: 10 }, {}],
    ["that is approved", 20, { state: "known", count: 20 }, { isApproved: true }],
    ["nothing is known of VMs", 20, undefined, {}],
  ])("creates them when %s", (_, replicas, vms, change) => {
    expect(created(decideEmpty(replicas, vms, change))).toBe(replicas);
  });
});
