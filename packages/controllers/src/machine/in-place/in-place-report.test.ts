import { type Machine, type MachinePhase, phaseOf } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { kindsOf, lastly } from "../../testing/snapshots.ts";
import { aMachineIn, aNodeWith, failed, once, selected, successful, world } from "../../testing/updated-machines.ts";

describe("the report of the agent becomes the phase", () => {
  const updating = aMachineIn("InPlaceUpdating", {
    status: { currentStatus: { lastUpdateTime: "2026-01-01T00:06:00Z" } },
  });
  const timedOut = aMachineIn("InPlaceUpdateFailed", lastly("InPlaceUpdate", "Failed", "timed out"));

  it.each<[string, Machine, Node, MachinePhase, string]>([
    [
      "success",
      updating,
      aNodeWith(successful, "ReadyForUpdate"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "late success",
      timedOut,
      aNodeWith(successful, "ReadyForUpdate"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "success after a failure",
      timedOut,
      aNodeWith(successful, "UpdateFailed"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "success that is in the condition already",
      updating,
      aNodeWith({}, "UpdateSuccessful"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "failure",
      updating,
      aNodeWith(failed, "ReadyForUpdate"),
      "InPlaceUpdateFailed",
      "Machine machine failed to update dependencies: ",
    ],
    [
      "failure that is in the condition already",
      updating,
      aNodeWith(failed, "UpdateFailed"),
      "InPlaceUpdateFailed",
      "Machine machine failed to update dependencies: ",
    ],
    [
      "late failure",
      timedOut,
      aNodeWith(failed, "ReadyForUpdate"),
      "InPlaceUpdateFailed",
      "Machine machine failed to update dependencies: ",
    ],
    ["failure that was reported", timedOut, aNodeWith(failed, "UpdateFailed"), "InPlaceUpdateFailed", "timed out"],
    ["nothing", updating, aNodeWith(selected, "ReadyForUpdate"), "InPlaceUpdating", "joined"],
  ])("%s", (_, machine, node, phase, description) => {
    const { world: after } = once(world(machine, node));
    expect(phaseOf(after.machine)).toBe(phase);
    expect(after.machine.status?.lastOperation?.description).toBe(description);
    // An unchanged report is handled once.
    const again = once(after);
    expect(again.decision.because).toEqual([]);
    expect(again.decision.status ?? after.machine.status).toEqual(after.machine.status);
  });

  it("moves the phase together with the node, so that neither can be seen long without the other", () => {
    const { decision } = once(world(updating, aNodeWith(successful, "ReadyForUpdate")));
    expect(kindsOf(decision)).toEqual(["PatchNodeStatus"]);
    expect(decision.status?.currentStatus?.phase).toBe("InPlaceUpdateSuccessful");
    expect(decision.because).toMatchObject([{ type: "Normal", reason: "InPlaceUpdated" }]);
  });

  it.each<[string, Node | undefined]>([
    ["does not report", aNodeWith(selected, "ReadyForUpdate")],
    ["was deleted with its node", undefined],
  ])("fails when the agent %s until the timeout, and not before", (_, node) => {
    const start = world(updating, node);
    const deadline = new Date("2026-01-01T00:26:00Z");
    const before = once(start, deadline);
    expect([phaseOf(before.world.machine), before.decision.requeueAfterMs]).toEqual(["InPlaceUpdating", 1]);
    const after = once(start, new Date(deadline.getTime() + 1));
    expect(after.world.machine.status).toMatchObject({
      currentStatus: { phase: "InPlaceUpdateFailed", lastUpdateTime: "2026-01-01T00:26:00Z" },
      lastOperation: {
        type: "InPlaceUpdate",
        state: "Failed",
        description: "Machine machine failed to in-place update in 20m0s",
      },
    });
    expect(after.decision.because).toMatchObject([{ type: "Warning", reason: "InPlaceUpdateFailed" }]);
  });

  it("takes the timeout from the machine, and one that never began for one that is over", () => {
    const short = aMachineIn("InPlaceUpdating", { spec: { inPlaceUpdateTimeout: "1m" } });
    expect(phaseOf(once(world(short, aNodeWith(selected, "ReadyForUpdate"))).world.machine)).toBe(
      "InPlaceUpdateFailed",
    );
    const never = aMachineIn("InPlaceUpdating", { status: { currentStatus: { lastUpdateTime: null } } });
    expect(phaseOf(once(world(never, aNodeWith(selected, "ReadyForUpdate"))).world.machine)).toBe(
      "InPlaceUpdateFailed",
    );
  });
});
