import { expect, it } from "vitest";
import { condition } from "../testing/explained-objects.ts";
import { checkGroup } from "./check-group.ts";

const identity = { kind: "MachineDeployment", name: "pool", namespace: "ns" } as const;
const opens =
  "Rolling out 2 not up-to-date replicas\n* Rollout waits for the maintenance window that opens at 2026-01-02T00:00:00Z";

it.each([
  [
    ["SpecValid", "False", "spec.x: is wrong"],
    "failed SpecValid: spec.x: is wrong",
    "kubectl edit machinedeployment pool -n ns",
  ],
  [["Frozen", "True", "frozen"], "failed Frozen: frozen", "unfreeze=True"],
  [["WriteRefused", "True", "403"], "failed WriteRefused: 403", "reason=WriteRefused"],
  [["DeletionsHeld", "True", "15 held"], "warning DeletionsHeld: 15 held", "millwright approve deployment pool -n ns"],
  [["Paused", "True", "paused"], "warning Paused: paused", '{"spec":{"paused":false}}'],
  [
    ["RollingOut", "True", opens],
    "warning Maintenance window: Rollout waits for the maintenance window that opens at 2026-01-02T00:00:00Z.",
    "",
  ],
  [
    ["RollingOut", "True", "Rolling out\n* Rollout waits for a maintenance window, but none opens again"],
    "warning Maintenance window: Rollout waits for a maintenance window, but none opens again.",
    "",
  ],
  [["ScalingUp", "Unknown", "no size", "WaitingForReplicasSet"], "failed ScalingUp: no size", "Set spec.replicas"],
  [["ScalingUp", "Unknown", "cannot be read", "InspectionFailed"], undefined, ""],
  [
    ["ReplicaFailure", "True", "403", "FailedCreate"],
    "failed ReplicaFailure: 403",
    "--field-selector reason=FailedCreate",
  ],
  [
    ["Progressing", "False", "Failed to create", "MachineSetCreateError"],
    "failed Progressing: Failed to create",
    "validatingwebhookconfigurations",
  ],
  [
    ["Progressing", "False", "labels of it no longer match the selector", "MachineSetCreateError"],
    "failed Progressing: labels of it no longer match the selector",
    "--show-labels",
  ],
  [["Progressing", "False", "late", "ProgressDeadlineExceeded"], undefined, ""],
  [["Available", "False", "no"], undefined, ""],
  [["Paused", "False", ""], undefined, ""],
])("reports %j of a deployment as %j", ([type = "", status = "", message = "", reason = type], expected, remedy) => {
  const [check] = checkGroup(identity, [{ ...condition(type, status, message), reason }]);
  expect(check && `${check.status} ${check.name}: ${check.message}`).toBe(expected);
  expect(check?.remedy ?? "").toContain(remedy);
});
