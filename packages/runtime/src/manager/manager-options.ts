import type { MachineSettings, OvershootMargins, TargetCaches } from "@millwright/controllers";
import type { Clock, Random } from "@millwright/base";
import type { Driver } from "@millwright/core";
import type { ApiClient, Leadership, Log } from "@millwright/kube";
import type { CloudRecorder } from "../recording/cloud-recorder.ts";
import type { Shadow } from "../shadow/shadow.ts";
import type { MachineTracer } from "./machine-tracer.ts";
import type { ManagerControllersOptions } from "./manager-controllers.ts";

/** How a manager runs. */
export interface ManagerOptions extends ManagerControllersOptions {
  /** The cluster in which machines are declared. */
  readonly control: ApiClient;
  /** The cluster that machines join; absent: machines are VMs and nothing more. May be the same client as `control`. */
  readonly target?: ApiClient;
  /** Caches of the target cluster that run elsewhere, for several managers. Default: the manager has and runs its own. */
  readonly targetCaches?: TargetCaches;
  /** The namespace of the control cluster that is managed. */
  readonly namespace: string;
  /** None are needed where no controller of machines runs. */
  readonly drivers: readonly Driver[];
  /** The leadership that is required to act. Caches are filled before, so that a failover is quick. Absent: no leader election. */
  readonly leadership?: Pick<Leadership, "acquired" | "fence" | "lost">;
  /** Default: `defaultMachineSettings`. */
  readonly settings?: Partial<MachineSettings>;
  /** Whether sets and deployments carry Cluster API's conditions next to MCM's; `false` removes existing ones. Default: true. */
  readonly clusterApiConditions?: boolean;
  /** Share of the machines of a deployment, and of the namespace, that may be deleted within an hour without approval, 0 to 1; 0: no share limits deletions. Default 0.5. */
  readonly maxDeletionShare?: number;
  /** Records what drivers send to their clouds. Default: nothing is recorded. */
  readonly recorder?: Pick<CloudRecorder, "protect" | "record">;
  /** Called before each call of a driver, with its name: the call may block the event loop. Default: nothing is called. */
  readonly onDriverCall?: (what: string) => void;
  /** Decides beside another manager, and changes nothing. Needs no leadership. Default: decisions are carried out. */
  readonly shadow?: Pick<Shadow, "attach">;
  /** Follows the machines while this process leads. Default: nothing does. */
  readonly tracer?: MachineTracer;
  /** Concurrent reconciles of one kind. Default 10. */
  readonly workers?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: nothing is written. */
  readonly log?: Log;
}

/** Settings that can change while a manager runs. */
export interface ManagerSettings {
  readonly settings?: Partial<ReloadableSettings>;
  readonly overshootMargins?: Partial<OvershootMargins>;
  /** As in {@link ManagerOptions}. */
  readonly maxDeletionShare?: number;
}

/** Settings that every reconcile reads. The others are read once. */
export type ReloadableSettings = Omit<
  MachineSettings,
  "unreachableAfterMs" | "bootstrapTokenExtraGroups" | "flapWindowMs"
>;
