import { describe, expect, it } from "vitest";
import type { CrdState } from "../model/crd-state.ts";
import { decideVerdict, type Deletion, type PossibleCause } from "./deletion-verdict.ts";

const name = "machines.machine.sapcloud.io";
const at = 10_000_000;
const established: CrdState = { name, state: "established", createdAt: 1, isDeletionAllowed: false };
const terminating: CrdState = { name, state: "terminating", createdAt: 1, deletedAt: at, isDeletionAllowed: false };
const deleted: CrdState = { name, state: "deleted" };
const unknown: CrdState = { name, state: "unknown" };
const deletion = (change: Partial<Deletion> = {}): Deletion => ({
  deletedAt: at,
  hasStarted: false,
  isOwn: false,
  ...change,
});
const cause = (crd: CrdState, isRuledOut = false): PossibleCause => ({ crd, isRuledOut });

describe("decideVerdict", () => {
  it.each([
    ["a deletion of the same second as the CRD's", deletion(), terminating, "paused"],
    ["a later one", deletion({ deletedAt: at + 3_600_000 }), terminating, "paused"],
    ["a later one that MCM had started", deletion({ hasStarted: true }), terminating, "paused"],
    ["a later one that we requested too", deletion({ isOwn: true }), terminating, "paused"],
    ["one of a minute before", deletion({ deletedAt: at - 60_001 }), terminating, "proceed"],
    ["one just before, perhaps by another clock", deletion({ deletedAt: at - 60_000 }), terminating, "paused"],
    ["one just before that had started", deletion({ deletedAt: at - 1_000, hasStarted: true }), terminating, "proceed"],
    ["one just before that we requested", deletion({ deletedAt: at - 1_000, isOwn: true }), terminating, "proceed"],
    ["one that the CRD allows", deletion(), { ...terminating, isDeletionAllowed: true }, "proceed"],
    [
      "one from an earlier CRD than the terminating one",
      deletion(),
      { ...terminating, createdAt: at + 1, deletedAt: at + 2 },
      "paused",
    ],
    ["one of a kind whose CRD is deleted", deletion(), deleted, "paused"],
    ["one that had started before the CRD was deleted", deletion({ hasStarted: true }), deleted, "proceed"],
    ["one of a kind whose CRD cannot be read", deletion(), unknown, "proceed"],
    ["one under a CRD that was established when last read", deletion(), established, "unknown"],
    ["one that we requested under an established CRD", deletion({ isOwn: true }), established, "proceed"],
    ["one that has started, after a restart", deletion({ hasStarted: true }), established, "unknown"],
    ["one under a CRD that allows it in advance", deletion(), { ...established, isDeletionAllowed: true }, "proceed"],
    ["one from an earlier CRD", deletion(), { ...established, createdAt: at + 1 }, "paused"],
    [
      "one from an earlier CRD that had started",
      deletion({ hasStarted: true }),
      { ...established, createdAt: at + 1 },
      "unknown",
    ],
  ] as const)("%s", (_, what, crd, verdict) => {
    expect(decideVerdict(what, [cause(crd)]).verdict).toBe(verdict);
  });

  it.each([
    ["that is established", established, "proceed"],
    ["that is terminating since", terminating, "proceed"],
    ["that is deleted since", deleted, "proceed"],
    ["that is not the object's any more", { ...established, createdAt: at + 1 }, "paused"],
  ] as const)("rules out a CRD that was established after the deletion was observed, and %s", (_, crd, verdict) => {
    expect(decideVerdict(deletion(), [cause(crd, true)]).verdict).toBe(verdict);
  });

  it("pauses for the owner's CRD, since Kubernetes garbage-collects what an owner leaves", () => {
    const owners = { ...terminating, name: "machinesets.machine.sapcloud.io" };
    expect(decideVerdict(deletion(), [cause(established), cause(owners)])).toEqual({ verdict: "paused", crd: owners });
  });

  it("is unknown while one of the CRDs may have changed, and proceeds when none can be the cause", () => {
    const verdict = (...causes: readonly PossibleCause[]): string => decideVerdict(deletion(), causes).verdict;
    expect(verdict(cause(unknown), cause(established))).toBe("unknown");
    expect(verdict(cause({ ...terminating, isDeletionAllowed: true }), cause(established, true))).toBe("proceed");
    expect(verdict(cause(unknown), cause(unknown))).toBe("proceed");
    expect(verdict()).toBe("proceed");
  });

  it("pauses where the time of the deletion cannot be read", () => {
    expect(decideVerdict(deletion({ deletedAt: Number.NaN }), [cause(terminating)]).verdict).toBe("paused");
  });
});
