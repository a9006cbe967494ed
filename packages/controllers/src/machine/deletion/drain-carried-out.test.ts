import { expect, it } from "vitest";
import { aDrainView } from "../../testing/drain-views.ts";
import { aSnapshot } from "../../testing/snapshots.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { isDrainCarriedOut } from "./drain-carried-out.ts";

const drain = aDrainView();

it("counts a drain as carried out when nothing keeps its evictions back", () => {
  expect(isDrainCarriedOut(aSnapshot({ drain }))).toBe(true);
});

it.each<readonly [string, Partial<MachineSnapshot> | undefined]>([
  ["of a machine that is gone", undefined],
  ["that has not begun", { drain: undefined }],
  ["whose pods are unknown", { drain: aDrainView({ knownPods: "disconnected" }) }],
  ["that a CRD pauses", { drain, pausedBy: { name: "machines.machine.sapcloud.io", state: "deleted" } }],
  ["of a protected machine", { drain, protectedBy: { kind: "Machine", name: "m" } }],
  ["that the deletion budget holds", { drain, heldBy: { verdict: "wait", forMs: 1 } }],
])("does not follow a drain %s", (_, change) => {
  expect(isDrainCarriedOut(change === undefined ? undefined : aSnapshot(change))).toBe(false);
});
