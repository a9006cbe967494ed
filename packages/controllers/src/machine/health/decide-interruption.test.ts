import { describe, expect, it } from "vitest";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { decide, healthy, joinedBefore } from "../../testing/node-health.ts";
import { aSnapshot, itsNode, withVm } from "../../testing/snapshots.ts";

const taint = "aws-node-termination-handler/spot-itn";
const reclaimed = itsNode({
  status: { conditions: healthy },
  spec: { taints: [{ key: taint, value: "id", effect: "NoSchedule" }] },
});

describe("a node whose VM the cloud will reclaim", () => {
  it.each(["Pending", "Running", "Unknown"] as const)(
    "makes a machine in phase %s Failed at once, and stores until when",
    (phase) => {
      const deadline = "2026-01-01T00:12:00Z";
      const message = `The cloud reclaims the VM of machine machine at ${deadline} (taint ${taint} of its node) - changing its phase to Failed`;
      const machine = aMachine(withVm, inPhase(phase), joinedBefore);
      expect(decide({ machine, node: reclaimed })).toMatchObject({
        actions: [
          {
            kind: "PatchMachine",
            patch: { metadata: { annotations: { "machine.millwright.dev/interruption-deadline": deadline } } },
          },
        ],
        status: {
          currentStatus: { phase: "Failed" },
          lastOperation: { type: "HealthCheck", state: "Failed", description: message },
        },
        because: [{ type: "Warning", reason: "SpotInterrupted", message }],
      });
    },
  );

  it("is not deferred by the remediation budget, an outage, or an API server without a recent response", () => {
    const { remediation } = aSnapshot();
    const held = {
      ...remediation,
      limit: 0,
      outage: { until: Number.MAX_SAFE_INTEGER, zone: undefined },
      connectivity: { isLost: false, regainedAt: undefined, isUnproven: true },
    };
    const machine = aMachine(withVm, inPhase("Unknown"));
    expect(decide({ machine, node: reclaimed, remediation: held }).status?.currentStatus?.phase).toBe("Failed");
  });

  it("keeps a Failed machine from Running although the node is Ready, until the notice is withdrawn", () => {
    const machine = aMachine(withVm, inPhase("Failed"), joinedBefore);
    expect(decide({ machine, node: reclaimed }).status?.currentStatus?.phase).toBe("Failed");
    const node = itsNode({ status: { conditions: healthy } });
    expect(decide({ machine, node }).status?.currentStatus?.phase).toBe("Running");
  });

  it("makes a machine Unknown that may not be replaced, and names the reason", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore, { spec: { disableHealthTimeout: true } });
    const { status } = decide({ machine, node: reclaimed });
    expect(status?.currentStatus?.phase).toBe("Unknown");
    expect(status?.lastOperation?.description).toContain("the cloud reclaims the VM");
  });

  it("does not affect an update in place", () => {
    const machine = aMachine(withVm, inPhase("InPlaceUpdating"), joinedBefore);
    expect(decide({ machine, node: reclaimed }).status?.currentStatus?.phase).toBe("InPlaceUpdating");
  });

  it("does not affect a machine while other machines claim the node", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    const disputed = { nodeMatch: "unknown", competingMachines: ["other"] } as const;
    expect(decide({ machine, node: reclaimed, ...disputed }).status?.currentStatus?.phase).not.toBe("Failed");
  });
});
