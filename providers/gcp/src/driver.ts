import {
  type Clock,
  defineDriver,
  type Driver,
  type DriverContext,
  type Random,
  type SecretData,
  systemClock,
  systemRandom,
} from "@millwright/core";
import {
  createRecentLaunches,
  createSessionPool,
  defaultPatience,
  type Patience,
  type RecentLaunches,
} from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { createGceApi, type GceApiOptions } from "./api/sdk.ts";
import { createMachine } from "./create-machine.ts";
import { deleteMachine } from "./delete-machine.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { getNodeTemplate } from "./get-node-template.ts";
import { volumeIdOf } from "./get-volume-ids.ts";
import { listMachines } from "./list-machines.ts";
import { clusterKeysOf } from "./spec/cluster-keys.ts";
import { type GcpCredentials, gcpSecretSchema, readCredentials } from "./spec/secret.ts";
import { type GcpSpec, gcpSpecSchema } from "./spec/spec.ts";
import type { GcpClass, MethodCall } from "./vm/method-call.ts";
import { createSession } from "./vm/session.ts";

/** Options of {@link createGcpDriver}. */
export interface GcpDriverOptions extends Pick<GceApiOptions, "requestTimeoutMs" | "maxInFlight" | "readTokenFile"> {
  /** Address of Compute Engine and of all that gives out tokens, for tests. Default: Google's own. */
  readonly endpoint?: string;
  /** Default: the system's. For how long requests take; the methods use the clock of their context. */
  readonly clock?: Clock;
  /** For jitter, and for the ids of deletions. Default: the system's. */
  readonly random?: Random;
  /** Default: 2 min for a VM to become visible, 3 s before another look, 0.5 s to 5 s between looks. */
  readonly patience?: Partial<Patience>;
}

/** Creates the driver of Compute Engine. It holds no state but access tokens: every call finds its VMs by name, tags and labels. */
export function createGcpDriver(options: GcpDriverOptions = {}): Driver<GcpSpec> {
  const { clock = systemClock, random = systemRandom, patience: given, ...api } = options;
  const patience = { ...defaultPatience, ...given };
  /** Requests serve several calls at once, and all calls report to the same place. */
  let reportApiCall: DriverContext["reportApiCall"];
  /** Begins with the first call: who waits to lead has not seen what others asked for meanwhile. */
  let launches: RecentLaunches | undefined;
  const pool = createSessionPool((_, credentials: GcpCredentials) =>
    createSession(createGceApi({ ...api, credentials, clock, random, reportApiCall: (call) => reportApiCall?.(call) })),
  );

  /** One call of a method: with a session, and with an error of the contract whatever happens. */
  const answer = async <T>(
    what: string,
    { machineClass, secret }: GcpSubject,
    context: DriverContext,
    act: (call: MethodCall) => Promise<T>,
  ): Promise<T> => {
    try {
      ({ reportApiCall } = context);
      const recent = (launches ??= createRecentLaunches(context.clock, patience.visibleMs));
      context.signal.throwIfAborted();
      const { spec, name } = machineClass;
      const credentials = readCredentials(secret);
      const { project } = credentials;
      return await pool.use(name, project, credentials, (session) =>
        act({ session, project, keys: clusterKeysOf(spec.tags), context, random, patience, launches: recent }),
      );
    } catch (error) {
      throw toMachineError(error, context.signal, what);
    }
  };

  return defineDriver<GcpSpec>({
    name: "gcp",
    spec: gcpSpecSchema,
    secret: gcpSecretSchema,

    createMachine: (request, context) =>
      answer("making the VM", request, context, (call) => createMachine(request, call)),
    deleteMachine: (request, context) =>
      answer("deleting the VM", request, context, (call) => deleteMachine(request, call)),
    getMachineStatus: (request, context) =>
      answer("looking for the VM", request, context, (call) => getMachineStatus(request, call)),
    listMachines: (request, context) =>
      answer("listing the VMs", request, context, (call) => listMachines(request.machineClass, call)),
    getVolumeIds: (request) => Promise.resolve({ volumeIds: request.volumes.map(volumeIdOf) }),
    findDrift: (request, context) =>
      answer("comparing the VM with its class", request, context, (call) => findDrift(request, call)),
    getNodeTemplate: (request, context) =>
      answer("asking for the capacity of the class", request, context, (call) =>
        getNodeTemplate(request.machineClass, call),
      ),
  });
}

interface GcpSubject {
  readonly machineClass: GcpClass;
  readonly secret: SecretData;
}
