import type { Clock, Random } from "@millwright/base";
import type { ApiClient, EventRecorder, Log, ObjectWrite } from "@millwright/kube";
import type { ConditionOptions } from "../model/machine-settings.ts";
import type { DeletionBudget } from "../model/deletion-budget.ts";
import type { CrdGuard } from "../model/crd-guard.ts";
import type { ControlCaches, TargetCaches } from "./caches.ts";
import type { ClassChecks } from "./class-checks.ts";
import type { MatchVm } from "../model/pick-node.ts";

/** The cluster that machines join. */
export interface Target {
  readonly api: ApiClient;
  readonly caches: TargetCaches;
  /** Whether the Machines are in a cluster of their own: then VMs are created while the target API server is unreachable. Default: false. */
  readonly isSeparate?: boolean;
  /** The clock of its API server. Default: that of the context. */
  readonly clock?: Pick<Clock, "now">;
}

/** What all controllers share. */
export interface ControllerContext {
  readonly namespace: string;
  readonly control: ApiClient;
  readonly caches: ControlCaches;
  /** Absent where there is no target cluster: machines end in phase Available. */
  readonly target?: Target;
  readonly events: EventRecorder;
  /** With the time of the API server of `control`: times in objects are compared with it, and are written by it. */
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Whether a Node is that of a VM. Default: `matchNodeByProviderId`. */
  readonly matchVm?: MatchVm;
  /** What drivers accept. Absent: the driver checks a class in each of its calls, and not before a creation is recorded. */
  readonly classChecks?: ClassChecks;
  /** Absent: objects that are deleted with their CustomResourceDefinition are deleted, VMs too. */
  readonly crdGuard?: CrdGuard;
  /** Absent: all deletions are allowed. */
  readonly deletionBudget?: DeletionBudget;
  /** Counts the writes that an API server refuses. */
  readonly onRefusedWrite?: (write: ObjectWrite) => void;
  /** Default: Cluster API's conditions, computed with the default settings of machines. */
  readonly conditions?: ConditionOptions;
}
