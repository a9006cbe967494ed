import type { DeletionStage, OperationState } from "@millwright/core";
import type { Reason } from "../../model/decision.ts";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** The result of a stage of the deletion flow. */
export type StageResult =
  /** Done; the next stage may start in the same reconcile. `happened` is written to the machine's last operation. */
  | {
      readonly next: DeletionStage;
      readonly happened?: string;
      readonly actions?: readonly MachineAction[];
      /** Events about it. */
      readonly because?: readonly Reason[];
    }
  /** In progress, or blocked: the status contains why; events or `requeueAfterMs` continue it. */
  | {
      readonly next: "stay";
      readonly happened?: string;
      readonly state?: OperationState;
      readonly actions?: readonly MachineAction[];
      readonly requeueAfterMs?: number;
      /** Events. Default: one about `happened`, if it is new in the status. */
      readonly because?: readonly Reason[];
    }
  /** The last stage: the object is deleted with its finalizer. */
  | { readonly next: "deleted"; readonly actions: readonly MachineAction[] };

/** A stage is a pure function of the snapshot. */
export type Stage = (snapshot: MachineSnapshot, now: Date) => StageResult;
