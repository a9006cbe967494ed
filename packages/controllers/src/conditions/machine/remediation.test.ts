import { annotationKeys, type Machine, remediationHolds, remediationOnHold } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineDeployment, inPhase } from "../../testing/builders.ts";
import { itsNode, lastly, later, testNow } from "../../testing/snapshots.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";
import type { MachineFacts } from "./facts.ts";
import { facts, going, MINUTE, running, conditionText, withConditions } from "../../testing/written-conditions.ts";

describe("HealthCheckSucceeded and OwnerRemediated", () => {
  const failedBy = (type: string, text: string): Machine =>
    aMachine(running, inPhase("Failed"), lastly(type, "Failed", text));
  it.each<[string, Machine, Date, string | undefined, string | undefined]>([
    ["a machine that runs", running, testNow, "True HealthCheckSucceeded", undefined],
    ["one that comes up", aMachine(inPhase("Pending")), testNow, undefined, undefined],
    [
      "one whose node failed",
      failedBy("HealthCheck", "bad"),
      testNow,
      "False UnhealthyNode Health check failed:\n  * bad",
      "False WaitingForRemediation Waiting for remediation",
    ],
    [
      "one that did not join",
      failedBy("Create", "late"),
      testNow,
      "False NodeStartupTimeout Health check failed:\n  * late",
      "False WaitingForRemediation Waiting for remediation",
    ],
    [
      "one that failed otherwise",
      failedBy("InPlaceUpdate", "x"),
      testNow,
      "False UnhealthyMachine Health check failed:\n  * x",
      "False WaitingForRemediation Waiting for remediation",
    ],
    [
      "one that is kept on purpose",
      aMachine(failedBy("HealthCheck", "bad"), {
        status: { currentStatus: { preserveExpiryTime: "2026-02-01T00:00:00Z" } },
      }),
      testNow,
      "False UnhealthyNode Health check failed:\n  * bad",
      undefined,
    ],
    [
      "one that failed and goes",
      going("x", "Failed"),
      testNow,
      "False UnhealthyMachine Health check failed:\n  * x",
      "False MachineDeleting Machine is deleting",
    ],
    ["one that goes", going("x"), testNow, undefined, undefined],
    ["one that may recover", aMachine(running, inPhase("Unknown")), testNow, undefined, undefined],
    [
      "one that has not recovered in time, and waits for others",
      aMachine(running, inPhase("Unknown")),
      later(MINUTE),
      "False UnhealthyNode Health check failed:\n  * Node conditions unhealthy for more than 10m0s",
      "False RemediationDeferred Waiting because there are already too many remediations in progress (1 per MachineDeployment)",
    ],
    [
      "one that has not recovered in time, in an outage",
      aMachine(
        running,
        inPhase("Unknown"),
        lastly("HealthCheck", "Processing", remediationOnHold("m", 10 * MINUTE, remediationHolds.outage())),
      ),
      later(MINUTE),
      "False UnhealthyNode Health check failed:\n  * Node conditions unhealthy for more than 10m0s",
      "False RemediationDeferred Remediation paused: many machines became Unknown within a short time, which suggests an outage",
    ],
    [
      "one that may be ill for ever",
      aMachine(running, inPhase("Unknown"), { spec: { disableHealthTimeout: true } }),
      later(MINUTE),
      undefined,
      undefined,
    ],
    [
      "one that has been unhealthy for an unknown time",
      aMachine(running, { status: { currentStatus: { phase: "Unknown", lastUpdateTime: null } } }),
      later(MINUTE),
      undefined,
      undefined,
    ],
  ])("of %s", (_, machine, now, health, owner) => {
    expect(conditionText("HealthCheckSucceeded", facts(machine), now)).toBe(health);
    expect(conditionText("OwnerRemediated", facts(machine), now)).toBe(owner);
  });

  it.each<[string, Partial<MachineFacts>, string]>([
    ["the setting", { settings: { ...defaultMachineSettings, maxInFlightRemediations: 2 } }, "2 per MachineDeployment"],
    [
      "the annotation of the deployment",
      {
        deployment: aMachineDeployment({
          metadata: { annotations: { [annotationKeys.maxInFlightRemediations]: "20%" } },
        }),
      },
      "20% per MachineDeployment",
    ],
  ])("report how many may be remediated at once, by %s", (_, change, expected) => {
    const waiting = aMachine(running, inPhase("Unknown"));
    expect(conditionText("OwnerRemediated", facts(waiting, change), later(MINUTE))).toContain(expected);
  });

  it("remembers of a machine that goes that it had failed", () => {
    const conditions = withConditions({ type: "Terminating", status: "True", reason: "Unhealthy" });
    expect(conditionText("OwnerRemediated", facts(going("x"), conditions))).toBe(
      "False MachineDeleting Machine is deleting",
    );
  });

  it("knows of a preserve annotation of the node", () => {
    const node = itsNode({ metadata: { annotations: { "node.machine.sapcloud.io/preserve": "when-failed" } } });
    expect(conditionText("OwnerRemediated", facts(failedBy("HealthCheck", "bad"), { node }))).toBeUndefined();
  });
});
