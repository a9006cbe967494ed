import { validateMachineSet } from "@millwright/core";
import { claimObjects } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { SetBudget } from "../model/deletion-budget.ts";
import { aMachine, aMachineDeployment, aMachineSet, inPhase, named, ownedBy } from "../testing/builders.ts";
import { decideMachineSet } from "./decide.ts";

const now = new Date("2026-01-02T00:00:00Z");
const budget = (change: Partial<SetBudget>): SetBudget => ({
  share: 0.5,
  scopes: [{ kind: "MachineSet", name: "pool", inService: 20, loss: 0 }],
  isApproved: false,
  isCounted: () => true,
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
    const { actions, held } = decide(0, { isApproved: true });
    expect(actions.filter(({ kind }) => kind === "DeleteMachine")).toHaveLength(20);
    expect(held).toBeUndefined();
  });
});
