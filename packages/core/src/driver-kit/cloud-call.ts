import type { Clock, Random, SecretData } from "@millwright/base";
import type { Environment } from "@millwright/base/egress";
import type { ApiCall } from "../driver/api-call.ts";
import type { DriverContext } from "../driver/driver.ts";
import type { ClassIdentity, MachineIdentity } from "../driver/messages.ts";
import type { PollTimes } from "./poll.ts";
import type { RecentLaunches } from "./recent-launches.ts";

/** The tags, tag keys or labels by which the VMs of a cluster and role are known. Each cloud has its own spelling. */
export interface ClusterKeys {
  readonly cluster: string;
  readonly role: string;
}

/** Fields that the requests of all methods have in common. */
export interface CloudRequest<Spec> {
  readonly machineClass: ClassIdentity<Spec>;
  readonly secret: SecretData;
  /** Absent for methods about a class. */
  readonly machine?: MachineIdentity;
}

/** What a method of a cloud driver works with, besides its request. */
export interface CloudCall<Session> {
  readonly session: Session;
  /** Those of the class. */
  readonly keys: ClusterKeys;
  readonly context: DriverContext;
  readonly random: Random;
  readonly pollTimes: PollTimes;
  readonly launches: RecentLaunches;
}

/** What all sessions of a driver share. */
export interface SessionResources {
  /** For how long requests take; methods use the clock of their context. */
  readonly clock: Clock;
  /** For jitter. */
  readonly random: Random;
  /** Environment variables, which name the proxy. */
  readonly env: Environment;
  /** Reports a completed request for metrics. Never throws. */
  readonly reportApiCall: (call: ApiCall) => void;
  /** Records exchanges at the moment; undefined while none are recorded. */
  readonly recorder: () => DriverContext["recordExchange"];
}
