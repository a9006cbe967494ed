import type { StoredOperationDetails } from "../api/kinds/operation.ts";
import type { DeletionStage } from "../wire/deletion-stages.ts";

/** What happened, where a controller or a report depends on it. */
export const operationReasons = [
  "ClassUnusable",
  "CreationFailed",
  "DeletionHeld",
  "DeletionPaused",
  "Drained",
  "Draining",
  "ForceDrained",
  "InitializationFailed",
  "JoinOnHold",
  "JoinUnknown",
  "NodeMissing",
  "NodeUnreachable",
  "ProvisioningVm",
  "RemediationOnHold",
  "SecretNotFound",
  "StaleVmNotDeleted",
  "VmDeleted",
  "VmDeletionAborted",
  "VmDeletionPending",
  "VmDeletionRetried",
  "VmLookUpFailed",
  "VmNotFound",
  "VolumesAttached",
  "WaitingForClass",
  "WriteRefused",
] as const;

/** One of {@link operationReasons}. */
export type OperationReason = (typeof operationReasons)[number];

/** Attempts of a call that fails again and again; times are RFC 3339. `pauseSeconds`: how long after the last one the next follows at the earliest; 0: not known. */
export interface OperationAttempts {
  readonly count: number;
  readonly firstTime: string;
  readonly lastTime: string;
  readonly pauseSeconds: number;
}

/** What a drain waits for, regardless of pods and numbers. `subject`: what a user has to change: PodDisruptionBudgets or finalizers. */
export interface DrainCause {
  readonly reason:
    | "DisruptionBudget"
    | "EvictionFailed"
    | "NodeUnreachable"
    | "PodsNotCompleted"
    | "PodsOverdue"
    | "PodsReturning"
    /** Progress: it ends by itself. */
    | "PodsTerminating"
    | "VolumesAttached";
  readonly subject?: string;
}

/** What holds a remediation back: the budget of the group, or an outage. */
export interface RemediationHold {
  readonly by: "Budget" | "Outage" | "ZoneOutage" | "ApiServerUnreachable";
  /** Of a ZoneOutage. */
  readonly zone?: string;
}

/** Why the deletion of a Machine does not go on before a person acts: reason of its condition Stalled. */
export type DeletionHold = "CRDDeleted" | "DeletionProtected" | "DeletionsHeld";

/** What the last operation of a Machine reports, as controllers and reports read it. A text that nothing depends on has no reason. */
export interface OperationDetails extends Omit<
  StoredOperationDetails,
  "attempts" | "causes" | "deletionHold" | "hold" | "reason" | "stage" | "time"
> {
  readonly reason?: OperationReason;
  /** The stage of the deletion that runs next. */
  readonly stage?: DeletionStage;
  readonly attempts?: OperationAttempts;
  readonly causes?: readonly DrainCause[];
  readonly hold?: RemediationHold["by"];
  readonly deletionHold?: DeletionHold;
}
