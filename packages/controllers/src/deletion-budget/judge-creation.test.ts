import { describe, expect, it } from "vitest";
import type { DeletionScope, SetBudget } from "../model/deletion-budget.ts";
import type { OwnerlessVms } from "../model/vm-census.ts";
import { aMachineDeployment } from "../testing/builders.ts";
import { judgeCreation } from "./judge-creation.ts";

const budget = (change: Partial<SetBudget> = {}): SetBudget => ({
  share: 0.5,
  scopes: [{ kind: "MachineDeployment", name: "pool", inService: 0, loss: 0 }],
  isApproved: false,
  counted: new Set(),
  rate: { count: 50, limit: 50, scope: { kind: "MachineClass", name: "small" }, moreInMs: 0 },
  requested: undefined,
  ...change,
});
const serving = (inService: number): Partial<SetBudget> => ({
  scopes: [{ kind: "MachineDeployment", name: "pool", inService, loss: 0 } satisfies DeletionScope],
});

describe("judgeCreation", () => {
  /** The verdict, and for how many VMs it asked. */
  const judge = (count: number, vms: number | OwnerlessVms, change: Partial<SetBudget> = {}) => {
    const asked: number[] = [];
    const ownerless = (from: number): OwnerlessVms => {
      asked.push(from);
      return typeof vms === "number" ? { state: "known", count: vms } : vms;
    };
    return { asked, ...judgeCreation({ className: "small", count, budget: budget(change), ownerless }) };
  };

  it.each<[string, number, number, Partial<SetBudget>]>([
    ["ten machines", 10, 10, {}],
    ["ten machines of a set without machines in the ledger", 10, 10, { scopes: [] }],
    ["half of a deployment", 60, 60, serving(120)],
    ["what is approved", 200, 200, { isApproved: true }],
    ["everything with a share of 0", 200, 200, { share: 0 }],
  ])("creates %s, and reads no VMs", (_, count, vms, change) => {
    expect(judge(count, vms, change)).toEqual({ verdict: "proceed", asked: [] });
  });

  it.each([
    [200, 100],
    [12, 10],
    [11, 0],
  ])("creates %i machines while %i VMs without Machine exist", (count, vms) => {
    expect(judge(count, vms).verdict).toBe("proceed");
  });

  it.each<[number, number, number, Partial<SetBudget>]>([
    [200, 101, 101, {}],
    [11, 11, 11, {}],
    [61, 61, 31, serving(120)],
  ])("holds %i machines while %i VMs without Machine exist", (count, vms, from, change) => {
    expect(judge(count, vms, change)).toMatchObject({
      verdict: "held",
      held: { cause: "creation", count, total: vms, scope: { kind: "MachineClass", name: "small" } },
      asked: [from],
    });
  });

  it.each([
    [20, "creations", { verdict: "proceed", isApproved: true }],
    [19, "creations", { verdict: "held" }],
    [20, "deletions", { verdict: "held" }],
  ] as const)("creates 20 machines by an approval of %i %s: %j", (left, work, expected) => {
    const approved = { by: aMachineDeployment(), kind: "MachineDeployment", work, left, room: 0, used: 0 } as const;
    expect(judge(20, 20, { approved })).toMatchObject(expected);
  });

  it("takes the share of the pool itself", () => {
    const scopes = [{ kind: "MachineDeployment", name: "pool", inService: 40, loss: 0, share: 1 }] as const;
    expect(judge(40, 40, { scopes }).verdict).toBe("proceed");
    expect(judge(40, 40, { scopes, share: 0 }).verdict).toBe("proceed");
    expect(judge(40, 40, serving(40)).verdict).toBe("held");
  });

  it("waits while VMs are being listed", () => {
    expect(judge(20, { state: "listing", forMs: 3_000 })).toMatchObject({ verdict: "wait", forMs: 3_000 });
  });
});
