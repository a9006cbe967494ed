import { describe, expect, it } from "vitest";
import type { DeletionVerdict } from "../model/crd-guard.ts";
import type { CrdState } from "../model/crd-state.ts";
import { pausedBy } from "./pausing-crd.ts";
import { deletionPausedMessage, pausedMessage } from "./crd-hold.ts";

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
});
