import { describe, expect, it } from "vitest";
import { continueWith } from "../wire/operation-texts.ts";
import type { OperationDetails } from "./operation-details.ts";
import { detailsOf, drainResult, type OperationEvents, renderOperation } from "./operation-events.ts";
import { readOperation } from "./read-operation.ts";

const read = (description: string): OperationDetails => readOperation({ lastOperation: { description } });
const error = (code: string, message: string): string => `machine codes error: code = [${code}] message = [${message}]`;
const attempts = {
  count: 8,
  firstTime: "2026-01-01T00:00:00Z",
  lastTime: "2026-01-01T00:05:00Z",
  pauseSeconds: 300,
};
const note =
  " (attempt 8 failed at 2026-01-01T00:05:00Z, the first at 2026-01-01T00:00:00Z; the next after 5m0s or more)";
const earlierNote =
  " (attempt 8 failed at 2026-01-01T00:05:00Z, the first at 2026-01-01T00:00:00Z; next attempt at 2026-01-01T00:10:00Z)";
const quota = { code: "ResourceExhausted", message: "no [quota] in b" } as const;
const failed = { code: "Internal", message: "no luck" } as const;

describe("a description that MCM, or a version without details, wrote", () => {
  it.each<[string, OperationDetails]>([
    ["Creating machine on cloud provider", {}],
    ["Machine m successfully joined the cluster in 1m35s", {}],
    [
      `Cloud provider message - ${error("ResourceExhausted", "no [quota] in b")}`,
      { reason: "CreationFailed", ...quota },
    ],
    [
      `Cloud provider message - ${error("Internal", "no luck")}${note}`,
      { reason: "CreationFailed", ...failed, attempts },
    ],
    [
      `Cloud provider message - ${error("Internal", "no luck")}${earlierNote}`,
      { reason: "CreationFailed", ...failed, attempts: { ...attempts, pauseSeconds: 0 } },
    ],
    [
      `Cloud provider message - ${error("Unauthenticated", 'Waiting: Secret "s" of driver "d" is refused')}`,
      {
        reason: "CreationFailed",
        code: "Unauthenticated",
        message: 'Waiting: Secret "s" of driver "d" is refused',
        heldBack: true,
      },
    ],
    ["Cloud provider message - OutOfRange: several VMs", { reason: "CreationFailed", code: "OutOfRange" }],
    [
      `Provider error: ${error("Internal", "no luck")}. Initialize VM Instance`,
      { reason: "InitializationFailed", ...failed },
    ],
    [
      `Provider error: ${error("Internal", "no luck")}. Initialize VM Instance${note}`,
      { reason: "InitializationFailed", ...failed, attempts },
    ],
    ["Provisioning VM: wiping disks.", { reason: "ProvisioningVm", message: "wiping disks." }],
    [
      "Machine m has not joined the cluster in 20m0s. Remediation paused: many machines of zone a became Unknown within a short time, which suggests an outage",
      { reason: "JoinOnHold", hold: "ZoneOutage", zone: "a" },
    ],
    [
      "Machine m health checks failing for 10m0s. Waiting for the remediation of other machines of deployment d",
      { reason: "RemediationOnHold", hold: "Budget" },
    ],
    ["Machine m health checks failing for 10m0s - changing its phase to Failed. Node conditions: x", {}],
    ["Set machine status to termination. Now, getting VM Status", { stage: "GetVmStatus" }],
    ["Initiate node drain. ", { stage: "Drain", causes: [] }],
    [
      `Error occurred while getting the VM status - ${error("Internal", "no luck")}${note}. Set machine status to termination. Now, getting VM Status`,
      { reason: "VmLookUpFailed", ...failed, attempts, stage: "GetVmStatus" },
    ],
    [
      "Drain not completed yet (started at 2026-01-01T00:00:00Z):\n* Pod a/b: deletionTimestamp set, but still not removed from the Node. Initiate node drain",
      { reason: "Draining", causes: [{ reason: "PodsTerminating" }], stage: "Drain" },
    ],
    [
      "Machine deletion failed due to - Failed to patch Node n: 403 Forbidden: x. Will retry in next sync. Initiate node drain",
      { causes: [], reason: "WriteRefused", stage: "Drain" },
    ],
    ["Drain failed due to - x. Will retry in next sync. Initiate node drain", { causes: [], stage: "Drain" }],
    ["Drain successful. Initiate VM deletion", { reason: "Drained", stage: "DeleteVm" }],
    ["Force Drain successful. Delete Volume Attachments", { reason: "ForceDrained", stage: "DeleteVolumeAttachments" }],
    [
      "Drain ended, but volumes are still attached to Node n: a, b, c, d, e and 2 more. Initiate VM deletion",
      {
        reason: "VolumesAttached",
        nodeName: "n",
        volumes: ["a", "b", "c", "d", "e"],
        otherVolumes: 2,
        stage: "DeleteVm",
      },
    ],
    [
      `VM deletion failed due to - ${error("Internal", "no luck")}. However, will re-try in the next resync${note}. Node n is unreachable: its pods and volumes are not released until the driver confirms that the VM is deleted. Initiate VM deletion`,
      { reason: "VmDeletionRetried", ...failed, attempts, unreachableNode: "n", stage: "DeleteVm" },
    ],
    [
      "VM deletion is in progress: detaching. Initiate VM deletion",
      { reason: "VmDeletionPending", message: "detaching", stage: "DeleteVm" },
    ],
    [
      "VM deletion was successful. Machine deletion failed due to - x. Will retry in next sync. Initiate node object deletion",
      { reason: "VmDeleted", stage: "DeleteNode" },
    ],
    [
      "VM not found. Continuing deletion flow. Initiate node object deletion",
      { reason: "VmNotFound", stage: "DeleteNode" },
    ],
    ["Deletion held for approval: too many machines", { reason: "DeletionHeld", deletionHold: "DeletionsHeld" }],
    ["Deletion held: MachineClass small is limited to 50 deletions an hour", { reason: "DeletionHeld" }],
    [
      "Deletion held: its owner, MachineSet a, does not exist",
      { reason: "DeletionHeld", deletionHold: "DeletionsHeld" },
    ],
    [
      "Deletion paused: Machine a is protected. No node is drained",
      { reason: "DeletionPaused", deletionHold: "DeletionProtected" },
    ],
    [
      "Deletion paused: CustomResourceDefinition a is being deleted",
      { reason: "DeletionPaused", deletionHold: "CRDDeleted" },
    ],
  ])("reports %j", (description, details) => {
    expect(read(description)).toEqual(details);
  });

  it("has no details when there is none", () => {
    expect([readOperation(), readOperation({}), readOperation({ lastOperation: {} })]).toEqual([{}, {}, {}]);
  });
});

const hold = { machine: "m", timeoutMs: 600_000, hold: { by: "Outage" } } as const;
const events: readonly OperationEvents[] = [
  { reason: "CreationFailed", ...quota, attempts },
  { reason: "InitializationFailed", ...failed },
  { reason: "WaitingForClass", className: "small", ...quota },
  { reason: "StaleVmNotDeleted", nodeName: "n", ...failed },
  { reason: "VmLookUpFailed", isBeyondDriver: true, ...failed, attempts },
  [
    { reason: "VmDeletionRetried", ...failed, attempts },
    { reason: "PodsHeldBack", nodeName: "n" },
  ],
  { reason: "VmDeletionAborted", ...failed },
  { reason: "ProvisioningVm", message: "wiping disks" },
  { reason: "VmDeletionPending", message: "detaching" },
  { reason: "DeletionHeld", text: "Deletion held: 3 machines" },
  { reason: "Drained" },
  { reason: "ForceDrained" },
  { reason: "VolumesAttached", nodeName: "n", volumes: ["a"] },
  { reason: "VolumesAttached", nodeName: "n", volumes: ["a", "b", "c", "d", "e", "f"] },
  { reason: "NodeUnreachable", nodeName: "n" },
  { reason: "NodeVanished", nodeName: "n" },
  [{ reason: "VmDeleted" }, "Machine deletion failed due to - x. Will retry in next sync"],
  { reason: "VmNotFound" },
  { reason: "SecretNotFound", text: 'MachineClass "c": Secret "s" does not exist in namespace n' },
  { reason: "ClassUnusable", text: 'MachineClass "c": provider: no driver "x" is loaded' },
  [
    { reason: "ClassUnusable", text: "Cannot delete VM v: no class" },
    { reason: "PodsHeldBack", nodeName: "n" },
  ],
  { reason: "JoinOnHold", ...hold },
  { reason: "JoinOnHold", ...hold, hold: { by: "Budget", group: "deployment d", note: "it is odd" } },
  { reason: "RemediationOnHold", ...hold, hold: { by: "ZoneOutage", zone: "a" } },
  { reason: "RemediationOnHold", ...hold, hold: { by: "ApiServerUnreachable" } },
  { reason: "JoinUnknown", machine: "m" },
  { reason: "NodeMissing", machine: "m", nodeName: "n" },
  "Creating machine on cloud provider",
];

describe.each([undefined, "DeleteVm"] as const)("details of stage %s that an API server prunes", (stage) => {
  it.each(events.map((event) => [renderOperation(event, stage), event] as const))(
    "are derived from %j",
    (text, event) => {
      expect(read(text)).toEqual(detailsOf(event, stage) ?? {});
    },
  );
});

describe("stored details", () => {
  const time = "2026-01-01T00:00:00Z";
  const stored = (details: object, lastUpdateTime = time) =>
    readOperation({
      lastOperation: { description: "Drain successful. Initiate VM deletion", details, lastUpdateTime },
    });
  const derived = { reason: "Drained", stage: "DeleteVm" };

  it("are read, whatever the description is", () => {
    expect(stored({ reason: "VmDeleted", stage: "DeleteNode", time })).toMatchObject({ reason: "VmDeleted" });
  });

  it.each([
    ["another program has written the operation since", { reason: "VmDeleted", time: "2025-12-31T23:59:59Z" }],
    ["a later version has another reason", { reason: "Teleported", time }],
    ["a later version has another stage", { stage: "Recycle", time }],
  ])("are ignored when %s", (_, details) => {
    expect(stored(details)).toEqual(derived);
  });
});

it("has the result of a drain without the marker of the next stage", () => {
  const text = "Drain ended, but volumes are still attached to Node n: a, b, c, d, e and 1 more";
  expect(drainResult(read(continueWith("DeleteVm", text)))).toBe(text);
  expect(drainResult(read("Drain successful. Initiate VM deletion"))).toBe("Drain successful");
  expect([drainResult(read("Force Drain successful")), drainResult({})]).toEqual([undefined, undefined]);
});
