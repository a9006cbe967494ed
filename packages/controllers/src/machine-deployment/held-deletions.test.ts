import { deletionsHeldConditionType, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Change } from "../testing/builders.ts";
import { decide } from "../testing/deployment-decisions.ts";

const condition = {
  type: deletionsHeldConditionType,
  status: "True",
  reason: "ShareExceeded",
  message: "Deletion of 20 machines is held",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  lastUpdateTime: "2026-01-01T00:00:00Z",
} as const;
const heldSet = { name: "new", replicas: 3, change: { status: { machineSetCondition: [condition] } } };
const eventsOf = (change: Change<MachineDeployment>): readonly string[] =>
  decide(change, [heldSet]).because.map(({ reason }) => reason);

describe("a deployment whose set holds deletions", () => {
  it("has the event when the hold begins, and not again", () => {
    expect(eventsOf({})).toContain("DeletionsHeld");
    expect(eventsOf({ status: { conditions: [condition] } })).not.toContain("DeletionsHeld");
  });
});
