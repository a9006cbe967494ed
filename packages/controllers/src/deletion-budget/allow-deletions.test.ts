import { describe, expect, it } from "vitest";
import type { ApprovedWork, DeletionCause, SetBudget } from "../model/deletion-budget.ts";
import { aMachine, aMachineDeployment, named } from "../testing/builders.ts";
import { allowDeletions, type SetDeletion } from "./allow-deletions.ts";

const budget = (change: Partial<SetBudget> = {}): SetBudget => ({
  share: 0.5,
  scopes: [{ kind: "MachineDeployment", name: "pool", inService: 20, loss: 0 }],
  isApproved: false,
  counted: new Set(Array.from({ length: 30 }, (_, at) => [`uid-m${at}`, `uid-f${at}`]).flat()),
  rate: { count: 50, limit: 50, scope: { kind: "MachineClass", name: "small" }, moreInMs: 0 },
  requested: undefined,
  ...change,
});
const some = (count: number, cause: DeletionCause, name = "m"): readonly SetDeletion[] =>
  Array.from({ length: count }, (_, at) => ({
    machine: aMachine(named(`${name}${at}`), { spec: { providerID: `mock:///${name}${at}` } }),
    cause,
  }));

describe("allowDeletions", () => {
  it.each<[string, readonly SetDeletion[], Partial<SetBudget>, number]>([
    ["allows a scale-down of half of the machines", some(10, "scale-down"), {}, 10],
    ["allows nothing of a larger one", some(11, "scale-down"), {}, 0],
    ["allows nothing of a rollout that replaces all at once", some(20, "rollout"), {}, 0],
    ["allows all machines of the autoscaler", some(20, "autoscaler"), {}, 20],
    ["allows all Failed machines", some(20, "remediation"), {}, 20],
    ["allows what is approved", some(20, "scale-down"), { isApproved: true }, 20],
    ["allows everything without a share", some(20, "scale-down"), { share: 0 }, 20],
    ["allows machines that are not in service", some(20, "scale-down", "idle"), {}, 20],
    ["allows the others of a request that is held", [...some(11, "rollout"), ...some(2, "rollout", "idle")], {}, 2],
    ["allows nothing new without machines", [], {}, 0],
  ])("%s", (_, deletions, change, count) => {
    expect(allowDeletions(deletions, budget(change)).allowed).toHaveLength(count);
  });

  it("reports a whole request that is held", () => {
    const { held, moreInMs } = allowDeletions([...some(1, "remediation", "f"), ...some(12, "scale-down")], budget());
    expect(held).toEqual({
      why: "share",
      cause: "scale-down",
      count: 12,
      scope: { kind: "MachineDeployment", name: "pool" },
      limit: 10,
      total: 20,
      loss: 0,
    });
    expect(moreInMs).toBeUndefined();
  });

  it("allows as many as the rate has room for, and machines without VM besides", () => {
    const rate = { count: 2, limit: 50, scope: { kind: "MachineClass", name: "small" }, moreInMs: 7_000 } as const;
    const withoutVm: SetDeletion = { machine: aMachine(named("idle")), cause: "remediation" };
    const result = allowDeletions([...some(5, "remediation"), withoutVm], budget({ rate }));
    expect(result.allowed.map(({ machine }) => machine.metadata.name)).toEqual(["m0", "m1", "idle"]);
    expect(result).toMatchObject({ held: { why: "rate", cause: "remediation", count: 3, limit: 50 }, moreInMs: 7_000 });
  });

  it("uses no rate for what is approved", () => {
    const rate = { count: 0, limit: 50, scope: { kind: "Namespace", name: "n" }, moreInMs: 7_000 } as const;
    const { allowed } = allowDeletions(some(5, "scale-down"), budget({ rate, isApproved: true }));
    expect(allowed.map(({ isApproved }) => isApproved)).toEqual([true, true, true, true, true]);
  });

  describe("with an approval of what was held", () => {
    const approved = (change: Partial<ApprovedWork> = {}): Partial<SetBudget> => ({
      approved: {
        by: aMachineDeployment(),
        kind: "MachineDeployment",
        work: "deletions",
        left: 15,
        room: Infinity,
        used: 0,
        ...change,
      },
    });
    const none = { count: 0, limit: 50, scope: { kind: "Namespace", name: "n" }, moreInMs: 7_000 } as const;

    it.each<[string, readonly SetDeletion[], Partial<SetBudget>, number, number, string | undefined]>([
      ["all of it", some(15, "scale-down"), approved(), 15, 15, undefined],
      ["also what the share would allow, which counts", some(8, "scale-down"), approved(), 8, 8, undefined],
      ["nothing of more", some(16, "scale-down"), approved(), 0, 0, "share"],
      ["nothing of a rest that is larger", some(15, "rollout"), approved({ left: 14 }), 0, 0, "share"],
      ["nothing by an approval of creations", some(15, "rollout"), approved({ work: "creations" }), 0, 0, "share"],
      ["others beside it", [...some(15, "rollout"), ...some(3, "remediation", "f")], approved(), 18, 15, undefined],
      ["what its pace has room for", some(15, "scale-down"), approved({ room: 3, atATime: 3 }), 3, 3, "pace"],
      ["nothing while others are deleted", some(15, "scale-down"), approved({ room: 0, atATime: 3 }), 0, 0, "pace"],
      ["deletions over the rate", some(5, "remediation"), { ...approved(), rate: none }, 5, 5, undefined],
      ["no more of them than it approves", some(16, "remediation"), { ...approved(), rate: none }, 0, 0, "rate"],
    ])("allows %s", (_, deletions, change, count, counted, why) => {
      const { allowed, held } = allowDeletions(deletions, budget(change));
      expect(allowed).toHaveLength(count);
      expect(allowed.filter(({ isApproved }) => isApproved)).toHaveLength(counted);
      expect(held?.why).toBe(why);
    });

    it("names those that wait for others", () => {
      const { held } = allowDeletions(some(15, "scale-down"), budget(approved({ room: 2, atATime: 3 })));
      const scope = { kind: "MachineDeployment", name: "pool" };
      expect(held).toEqual({ why: "pace", cause: "scale-down", count: 13, scope, limit: 3, total: 3, loss: 0 });
    });
  });
});
