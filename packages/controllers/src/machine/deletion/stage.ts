import type { DeletionStage, OperationState } from "@millwright/core";
import type { Reason } from "../../model/decision.ts";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** What a stage of the deletion flow answers. */
export type StageResult =
  /** Done; the next stage may start in the same pass. `happened` is said in the machine's last operation. */
  | { readonly next: DeletionStage; readonly happened?: string; readonly actions?: readonly MachineAction[] }
  /** Under way, or stuck: the machine says what is going on, and is woken by events or after a while. */
  | {
      readonly next: "stay";
      readonly happened?: string;
      readonly state?: OperationState;
      readonly actions?: readonly MachineAction[];
      readonly requeueAfterMs?: number;
      /** What is told as events. Absent: what happened, when the status did not say it before. */
      readonly because?: readonly Reason[];
    }
  /** The last stage: nothing is left to say, the object goes with its finalizer. */
  | { readonly next: "gone"; readonly actions: readonly MachineAction[] };

/** A stage looks at the snapshot and decides; it never waits and never acts. */
export type Stage = (snapshot: MachineSnapshot, now: Date) => StageResult;
