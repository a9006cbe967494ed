import type { ClassIdentity, CreateMachineRequest, DriverContext, MachineRequest, Random } from "@millwright/core";
import type { Patience, RecentLaunches } from "@millwright/core/driver-kit";
import type { ClusterKeys } from "../spec/cluster-keys.ts";
import type { GcpSpec } from "../spec/spec.ts";
import type { Session } from "./session.ts";

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
