import type { ClassIdentity, CreateMachineRequest, MachineRequest } from "@millwright/core";
import type { CloudCall } from "@millwright/core/driver-kit";
import type { AzureSpec } from "../spec/spec.ts";
import type { Session } from "./session.ts";

/** What a method works with. */
export type MethodCall = CloudCall<Session>;

/** A request about a machine of this driver. */
export type AzureRequest = MachineRequest<AzureSpec>;

/** A class of this driver. */
export type AzureClass = ClassIdentity<AzureSpec>;

/** A request to make a machine of this driver. */
export type CreateRequest = CreateMachineRequest<AzureSpec>;
