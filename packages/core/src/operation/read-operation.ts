import { parseGoDuration } from "@millwright/base";
import type { StoredOperationDetails } from "../api/kinds/operation.ts";
import { decodeMachineError } from "../driver/machine-error-text.ts";
import { deletionStages, otherMarkers, splitAtStage } from "../wire/deletion-stages.ts";
import { drainCausesIn } from "./drain-causes.ts";
import {
  type DeletionHold,
  type OperationDetails,
  type OperationReason,
  operationReasons,
  type RemediationHold,
} from "./operation-details.ts";

/** The fields of a status, or of a report, that {@link readOperation} reads. */
export interface WithLastOperation {
  readonly lastOperation?:
    | {
        readonly description?: string;
        readonly details?: StoredOperationDetails;
        readonly lastUpdateTime?: string;
      }
    | undefined;
}

/** The attempts at the end of a text about a failure that repeats; earlier versions wrote when the next one was due. */
const attemptsNote =
  / \(attempt (\d+) failed at ([^ ;]+), the first at ([^ ;]+); (?:the next after ([^ ;)]+) or more|next attempt at [^ ;)]+)\)/;

/** The drain was skipped, or what is on the node waits for the deletion of the VM. */
const unreachableNote =
  /Node (\S+) (?:is unreachable(?:, skipping node drain and deleting the VM first|: its pods and volumes are not released)|no longer exists, skipping node drain)/;

const heldBackNote = /Waiting: Secret "[^"]*" of driver "[^"]*" /;

/** The texts of MCM, and of versions without details. The groups have the names of fields of {@link OperationDetails}. */
const patterns: readonly (readonly [OperationReason, RegExp])[] = [
  ["InitializationFailed", new RegExp(`${otherMarkers.initializeVm}$`)],
  ["CreationFailed", /^Cloud provider message - /],
  ["WaitingForClass", /^Waiting for another machine of class .*? to be created first - /],
  ["ProvisioningVm", /^Provisioning VM: (?<message>.*)$/s],
  ["StaleVmNotDeleted", /^VM using old node obj .*?; cannot delete its VM: /],
  ["JoinOnHold", / has not joined the cluster in /],
  ["JoinUnknown", /^Cannot determine whether the node of machine .* joined: /],
  ["RemediationOnHold", / health checks failing for [^ ]+\. |Remediation paused: /],
  ["NodeMissing", /^Node (?<nodeName>\S*) of machine \S* is missing\./],
  ["DeletionHeld", /^Deletion held/],
  ["DeletionPaused", /^Deletion paused: /],
  [
    "SecretNotFound",
    /^(?:Cannot delete .*?: )?MachineClass "[^"]*": Secret ".*?" (?:does not exist|has not been read)/,
  ],
  [
    "ClassUnusable",
    /^Cannot delete (?:a VM that may exist|VM \S+): |^MachineClass "[^"]*": |^spec\.class\.name: MachineClass /,
  ],
  [
    "WriteRefused",
    /^(?:(?:Machine deletion|Drain) failed due to - )?Failed to (?:patch|delete) (?:status of )?[A-Z][A-Za-z]+ \S+: \d{3} /,
  ],
  ["Drained", /^Drain successful/],
  [
    "VolumesAttached",
    /^Drain ended, but volumes are still attached to Node (?<nodeName>[^:]*): (?<list>.*?)(?: and (?<others>\d+) more)?$/s,
  ],
  ["ForceDrained", /^Force Drain successful/],
  ["Draining", /^Drain not completed yet/],
  ["NodeUnreachable", /^Node \S+ is unreachable, skipping node drain/],
  ["VmLookUpFailed", /^Error occurred while getting the VM status - /],
  ["VmDeletionRetried", /^VM deletion failed due to - .*However, will re-try in the next resync/s],
  ["VmDeletionAborted", /^VM deletion failed due to - .*Aborting operation/s],
  ["VmDeletionPending", /^VM deletion is in progress: (?<message>.*)$/s],
  ["VmDeleted", /^VM deletion was successful/],
  ["VmNotFound", /^VM not found\. Continuing deletion flow/],
];

function holdIn(text: string): Pick<OperationDetails, "hold" | "zone"> {
  const [, zone] = /Remediation paused: many machines of zone (.*) became Unknown/.exec(text) ?? [];
  if (zone !== undefined) return { hold: "ZoneOutage", zone };
  const causes: readonly (readonly [RemediationHold["by"], string])[] = [
    ["Outage", "Remediation paused: many machines "],
    ["ApiServerUnreachable", "Remediation paused: the API server is unreachable"],
  ];
  return { hold: causes.find(([, words]) => text.includes(words))?.[0] ?? "Budget" };
}

const deletionHoldTexts: readonly (readonly [DeletionHold, RegExp])[] = [
  ["CRDDeleted", /^Deletion paused: CustomResourceDefinition /],
  ["DeletionProtected", /^Deletion paused: .* is protected\. /],
  ["DeletionsHeld", /^Deletion held(?: for approval|: its owner, )/],
];

/** What only the text of a certain reason has. */
function partsOf(
  reason: OperationReason | undefined,
  text: string,
  groups: Readonly<Record<string, string>>,
): OperationDetails {
  const { list, others, ...named } = groups;
  if (reason === "DeletionHeld" || reason === "DeletionPaused") {
    const [deletionHold] = deletionHoldTexts.find(([, each]) => each.test(text)) ?? [];
    return deletionHold === undefined ? {} : { deletionHold };
  }
  if (reason === "JoinOnHold" || reason === "RemediationOnHold") return holdIn(text);
  const volumes = list === undefined ? {} : { volumes: list.split(", ") };
  return { ...named, ...volumes, ...(others === undefined ? {} : { otherVolumes: Number(others) }) };
}

/** What may be in any text: attempts, a note about the node, a call that was not made. */
function notesIn(description: string): OperationDetails {
  const [, count, lastTime = "", firstTime = "", pause = "0s"] = attemptsNote.exec(description) ?? [];
  const [, unreachableNode] = unreachableNote.exec(description) ?? [];
  return {
    ...(count === undefined
      ? {}
      : {
          attempts: { count: Number(count), firstTime, lastTime, pauseSeconds: (parseGoDuration(pause) ?? 0) / 1000 },
        }),
    ...(unreachableNode === undefined ? {} : { unreachableNode }),
    ...(heldBackNote.test(description) ? { heldBack: true } : {}),
  };
}

/** Code and message of a failed call. MCM stores one code without the text form of an error, too (MCM, `pkg/util/provider/machinecontroller/machine_safety.go` updateMachineToSafety). */
const failureIn = (text: string): Pick<OperationDetails, "code" | "message"> =>
  decodeMachineError(text, { tolerant: true }) ?? (text.includes("OutOfRange") ? { code: "OutOfRange" } : {});

/** The details that a description of MCM, or of a version without details, has. */
function deriveDetails(description: string): OperationDetails {
  const bare = description.replace(attemptsNote, "");
  const { stage, text = bare } = splitAtStage(bare) ?? {};
  const [reason, pattern] = patterns.find(([, each]) => each.test(text)) ?? [];
  return {
    ...failureIn(text),
    ...partsOf(reason, text, pattern?.exec(text)?.groups ?? {}),
    ...notesIn(description),
    ...(reason === "Draining" || stage === "Drain" ? { causes: drainCausesIn(text) } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(stage === undefined ? {} : { stage }),
  };
}

const reasons: ReadonlySet<string> = new Set(operationReasons);
const stages: ReadonlySet<string> = new Set(deletionStages.map(({ name }) => name));

/** Whether details are those of the operation, and of this version: another program may have written the operation since. */
const areCurrent = (details: StoredOperationDetails, time: string | undefined): details is OperationDetails =>
  details.time === time &&
  (details.reason === undefined || reasons.has(details.reason)) &&
  (details.stage === undefined || stages.has(details.stage));

/**
 * What the last operation of a machine reports. It is stored beside the description; MCM's CustomResourceDefinition prunes that, and MCM and earlier versions write none: then, and only here, it is
 * derived from the description.
 */
export function readOperation({ lastOperation }: WithLastOperation = {}): OperationDetails {
  const { description, details, lastUpdateTime } = lastOperation ?? {};
  if (details !== undefined && areCurrent(details, lastUpdateTime)) return details;
  return description === undefined ? {} : deriveDetails(description);
}
