import { describe, expect, it } from "vitest";
import type { ApiObject } from "@millwright/kube";
import { crdGuardOfOwners } from "../crd-guard/guard.ts";
import type { DeletionVerdict } from "../model/crd-guard.ts";
import type { CrdState } from "../model/crd-state.ts";
import type { Hold } from "../model/hold.ts";
import { reportHold } from "../model/hold-condition.ts";
import { decideGuarded } from "./decide-guarded.ts";

const established: CrdState = { name: "own", state: "established", createdAt: 0, isDeletionAllowed: false };
const terminating: CrdState = { ...established, state: "terminating", deletedAt: 1 };
const now = new Date("2026-01-01T00:00:00Z");
const object: ApiObject = { metadata: { name: "a", uid: "u", deletionTimestamp: "2026-01-01T00:00:00Z" } };
const decisions = {
  decide: (): string => "decided",
  decideHeld: (_: object, { by }: Hold): string => `held by ${by}`,
};

const unchanging = { onChange: () => undefined, synced: async () => {} };

describe("a set that is decided about behind its guards", () => {
  it("is not, until the CRDs were read where the cause of its deletion is unknown, and is then read again", async () => {
    let refreshes = 0;
    let reads = 0;
    const guard = crdGuardOfOwners(
      {
        ...unchanging,
        stateOf: () => established,
        deletionVerdictOf: (): DeletionVerdict => ({ verdict: refreshes === 0 ? "unknown" : "proceed" }),
        refresh: async () => void refreshes++,
      },
      "MachineSet",
      { list: () => [object] },
    );
    const read = () => ({ ...object, read: ++reads });
    const decided = await decideGuarded({ ...decisions, guards: [guard], read });
    expect(refreshes).toBe(1);
    expect(decided).toEqual({ object: { ...object, read: 2 }, decision: "decided" });
  });

  it("reads no CRD when it is held anyway", async () => {
    const guard = crdGuardOfOwners(
      {
        ...unchanging,
        stateOf: () => terminating,
        deletionVerdictOf: (): DeletionVerdict => ({ verdict: "unknown" }),
        refresh: () => Promise.reject(new Error("was read")),
      },
      "MachineSet",
      { list: () => [object] },
    );
    expect((await decideGuarded({ ...decisions, guards: [guard], read: () => object }))?.decision).toBe("held by crd");
  });

  it("is at once without a guard, and not at all when it does not exist any more", async () => {
    expect((await decideGuarded({ ...decisions, guards: [], read: () => object }))?.decision).toBe("decided");
    expect(await decideGuarded({ ...decisions, guards: [], read: () => undefined })).toBeUndefined();
  });
});

describe("the report of a hold", () => {
  const guard = crdGuardOfOwners(
    {
      ...unchanging,
      stateOf: () => terminating,
      deletionVerdictOf: () => ({ verdict: "unknown" }),
      refresh: async () => {},
    },
    "MachineDeployment",
    { list: () => [object] },
  );
  const hold = guard.of(object) as Hold;

  it("is one condition, and an event when it is new", () => {
    const first = reportHold([], hold, { now });
    expect(first.conditions).toMatchObject([{ type: "CRDsEstablished", status: "False", reason: "CRDDeleted" }]);
    expect(first.because).toHaveLength(1);
    const second = reportHold(first.conditions, hold, { now: new Date(now.getTime() + 60_000) });
    expect(second).toEqual({ conditions: first.conditions, because: [] });
  });

  it("is nothing where no condition shows it", () => {
    const { condition: _, ...silent } = hold;
    expect(reportHold([], silent, { now })).toEqual({ conditions: [], because: [] });
  });
});
