import { expect, it } from "vitest";
import { aDrainView } from "../../testing/drain-views.ts";
import { aSnapshot, type SnapshotChange } from "../../testing/snapshots.ts";
import { crdHoldOfMachine } from "../../crd-guard/crd-hold.ts";
import { protectionHold } from "../../model/deletion-protection.ts";
import { isDrainCarriedOut } from "./drain-carried-out.ts";

const drain = aDrainView();

it("counts a drain as carried out when nothing keeps its evictions back", () => {
  expect(isDrainCarriedOut(aSnapshot({ drain }))).toBe(true);
});

it.each<readonly [string, SnapshotChange | undefined]>([
  ["of a machine that is gone", undefined],
  ["that has not begun", { drain: undefined }],
  ["whose pods are unknown", { drain: aDrainView({ knownPods: "disconnected" }) }],
  ["that a CRD pauses", { drain, hold: crdHoldOfMachine({ name: "machines.machine.sapcloud.io", state: "deleted" }) }],
  ["of a protected machine", { drain, hold: protectionHold({ kind: "Machine", name: "m" }) }],
])("does not follow a drain %s", (_, change) => {
  expect(isDrainCarriedOut(change === undefined ? undefined : aSnapshot(change))).toBe(false);
});
