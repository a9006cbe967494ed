import type { ClassIdentity, CreateMachineRequest, MachineRequest } from "@millwright/core";
import type { CloudCall, PollOptions } from "@millwright/core/driver-kit";
import type { AwsSpec } from "../spec/spec.ts";
import type { Session } from "./session.ts";

/** What a method works with. */
export type MethodCall = CloudCall<Session>;

/** How a method looks again for what EC2 shows late: until its own deadline. */
export const pausesOf = ({ context, random, pollTimes }: MethodCall): PollOptions => ({
  clock: context.clock,
  signal: context.signal,
  random,
  pauseMs: pollTimes.pollMs,
});

/** A request about a machine of this driver. */
export type AwsRequest = MachineRequest<AwsSpec>;

/** A class of this driver. */
export type AwsClass = ClassIdentity<AwsSpec>;

/** A request to make a machine of this driver. */
export type CreateRequest = CreateMachineRequest<AwsSpec>;
