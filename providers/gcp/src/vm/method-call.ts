import type { ClassIdentity, CreateMachineRequest, DriverContext, MachineRequest, Random } from "@millwright/core";
import type { RecentLaunches } from "@millwright/core/driver-kit";
import type { ClusterKeys } from "../spec/cluster-keys.ts";
import type { GcpSpec } from "../spec/spec.ts";
import type { Session } from "./session.ts";

/** How long the driver waits for what Compute Engine shows late. */
export interface Patience {
  /** For how long a VM that was asked for may exist unseen, milliseconds. */
  readonly visibleMs: number;
  /** Before a VM without a stored id that was not found, and was asked for a short while ago, is looked for once more, milliseconds. */
  readonly lookAgainMs: number;
  /** Between two looks at a VM that somebody else deletes, milliseconds: the first time. Grows to ten times as much. */
  readonly pollMs: number;
}

/** What a method works with. */
export interface MethodCall {
  readonly session: Session;
  /** Of the credentials; that of a VM is in its provider id. */
  readonly project: string;
  readonly keys: ClusterKeys;
  readonly context: DriverContext;
  readonly random: Random;
  readonly patience: Patience;
  readonly launches: RecentLaunches;
}

/** A request about a machine of this driver. */
export type GcpRequest = MachineRequest<GcpSpec>;

/** A class of this driver. */
export type GcpClass = ClassIdentity<GcpSpec>;

/** A request to make a machine of this driver. */
export type CreateRequest = CreateMachineRequest<GcpSpec>;
