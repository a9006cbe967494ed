import type { ClassIdentity, CreateMachineRequest, DriverContext, MachineRequest, Random } from "@millwright/core";
import type { ClusterKeys } from "../spec/cluster-keys.ts";
import type { AzureSpec } from "../spec/spec.ts";
import type { Session } from "./session.ts";

/** What a method works with. */
export interface MethodCall {
  readonly session: Session;
  readonly keys: ClusterKeys;
  readonly context: DriverContext;
  readonly random: Random;
  /** Between two looks at a VM that is being made by somebody else, milliseconds: the first time. */
  readonly pollMs: number;
}

/** A request about a machine of this driver. */
export type AzureRequest = MachineRequest<AzureSpec>;

/** A class of this driver. */
export type AzureClass = ClassIdentity<AzureSpec>;

/** A request to make a machine of this driver. */
export type CreateRequest = CreateMachineRequest<AzureSpec>;
