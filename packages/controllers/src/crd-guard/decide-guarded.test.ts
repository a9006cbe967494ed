import { describe, expect, it } from "vitest";
import type { DeletionVerdict } from "../model/crd-guard.ts";
import type { CrdState } from "../model/crd-state.ts";
import { decideGuarded, pausedBy } from "./decide-guarded.ts";
import { deletionPausedMessage, pausedMessage, setPausedCondition } from "./paused-messages.ts";

const established: CrdState = { name: "own", state: "established", createdAt: 0, isDeletionAllowed: false };
const terminating: CrdState = {
  name: "own",
  state: "terminating",
  createdAt: 0,
  deletedAt: 1,
  isDeletionAllowed: false,
};
const owned: CrdState = { ...terminating, name: "owned" };
const deleted: CrdState = { name: "owned", state: "deleted" };
const proceed: DeletionVerdict = { verdict: "proceed" };
const paused: DeletionVerdict = { verdict: "paused", crd: terminating };
const now = new Date("2026-01-01T00:00:00Z");

describe("pausedBy", () => {
  it.each([
    ["pauses nothing while all CRDs are established", established, [established], false, proceed, undefined],
    ["pauses nothing where CRDs cannot be read", { name: "own", state: "unknown" }, [], false, proceed, undefined],
    ["pauses while the CRD of what it owns is terminating", established, [established, owned], false, proceed, "owned"],
    ["pauses while the CRD of what it owns is deleted", established, [deleted], false, proceed, "owned"],
    [
      "pauses nothing where the CRD of what it owns allows the deletion",
      established,
      [{ ...owned, isDeletionAllowed: true }],
      false,
      proceed,
      undefined,
    ],
    ["pauses an object before it is deleted with its CRD", terminating, [established], false, proceed, "own"],
    ["pauses an object that is deleted with its CRD", terminating, [established], true, paused, "own"],
    ["finishes a deletion that was requested before", terminating, [established], true, proceed, undefined],
    ["finishes no deletion while the CRD of what it owns is terminating", established, [owned], true, proceed, "owned"],
  ] as const)("%s", (_, own, ofOwned, isDeleting, verdict, by) => {
    expect(pausedBy({ own, owned: ofOwned, isDeleting, verdict })?.name).toBe(by);
  });
});

describe("decideGuarded", () => {
  const object = { metadata: { name: "a", uid: "u", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const about = {
    kind: "MachineSet",
    ownedKinds: ["Machine"],
    decide: (): string => "decided",
    decidePaused: (_: object, crd: CrdState): string => crd.state,
  } as const;

  it("reads the CRDs before it decides about a deletion of unknown cause, and then reads the object again", async () => {
    let refreshes = 0;
    let reads = 0;
    const guard = {
      stateOf: () => established,
      deletionVerdictOf: (): DeletionVerdict => (refreshes === 0 ? { verdict: "unknown" } : proceed),
      refresh: async () => void refreshes++,
    };
    const decided = await decideGuarded({ ...about, guard, read: () => ({ ...object, read: ++reads }) });
    expect(refreshes).toBe(1);
    expect(decided).toEqual({ object: { ...object, read: 2 }, decision: "decided" });
  });

  it("reads no CRD for an object that is paused anyway", async () => {
    const guard = {
      stateOf: () => terminating,
      deletionVerdictOf: (): DeletionVerdict => ({ verdict: "unknown" }),
      refresh: () => Promise.reject(new Error("was read")),
    };
    const decided = await decideGuarded({ ...about, guard, read: () => object });
    expect(decided?.decision).toBe("terminating");
  });

  it("decides at once without a guard, and nothing about an object that does not exist any more", async () => {
    const unguarded = await decideGuarded({ ...about, guard: undefined, read: () => object });
    expect(unguarded?.decision).toBe("decided");
    const guard = { stateOf: () => established, deletionVerdictOf: () => proceed, refresh: async () => {} };
    expect(await decideGuarded({ ...about, guard, read: () => undefined })).toBeUndefined();
  });
});

describe("what is reported", () => {
  it("names CRD and remedy, and no annotation where there is no CRD to annotate", () => {
    expect(deletionPausedMessage(terminating)).toBe(
      "Deletion paused: CustomResourceDefinition own is being deleted. No node is drained and no VM is deleted. To restore, save the objects, remove their finalizers, then apply the CustomResourceDefinition and the objects again. To delete everything, annotate the CustomResourceDefinition with machine.millwright.dev/allow-crd-deletion=true",
    );
    expect(deletionPausedMessage({ ...established, createdAt: 5 })).toContain("was deleted and recreated");
    expect(pausedMessage(deleted)).toBe(
      "Paused: CustomResourceDefinition owned was deleted. Nothing is created, scaled or deleted. To restore, save the objects, remove their finalizers, then apply the CustomResourceDefinition and the objects again",
    );
  });

  it("is one condition, and an event when it is new", () => {
    const first = setPausedCondition([], terminating, { now });
    expect(first.conditions).toMatchObject([{ type: "CRDsEstablished", status: "False", reason: "CRDDeleted" }]);
    expect(first.because).toHaveLength(1);
    const second = setPausedCondition(first.conditions, terminating, { now: new Date(now.getTime() + 60_000) });
    expect(second).toEqual({ conditions: first.conditions, because: [] });
  });
});
