import {
  type Clock,
  type Driver,
  type DriverContext,
  type Random,
  type SecretData,
  defineDriver,
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
import { createEc2Api, type Ec2ApiOptions } from "./api/sdk.ts";
import { createMachine } from "./create-machine.ts";
import { deleteMachine } from "./delete-machine.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { getNodeTemplate } from "./get-node-template.ts";
import { volumeIdOf } from "./get-volume-ids.ts";
import { initializeMachine } from "./initialize-machine.ts";
import { listMachines } from "./list-machines.ts";
import { clusterKeysOf } from "./spec/cluster-keys.ts";
import { type AwsCredentials, awsSecretSchema, readCredentials } from "./spec/secret.ts";
import { type AwsSpec, awsSpecSchema } from "./spec/spec.ts";
import type { AwsClass, MethodCall } from "./vm/method-call.ts";
import { readProviderId } from "./vm/provider-id.ts";
import { createSession } from "./vm/session.ts";

/** Options of {@link createAwsDriver}. */
export interface AwsDriverOptions extends Pick<Ec2ApiOptions, "endpoint" | "requestTimeoutMs" | "maxInFlight"> {
  /** Default: the system's. For how long requests take; the methods use the clock of their context. */
  readonly clock?: Clock;
  /** For jitter. Default: the system's. */
  readonly random?: Random;
  /** Default: 2 min for a VM to become visible, 3 s before another look, 0.5 s to 5 s between looks. */
  readonly patience?: Partial<Patience>;
}

/** Creates the driver of EC2. It holds no state but connections, and what is known of images: every call finds its VMs by their tags. */
export function createAwsDriver(options: AwsDriverOptions = {}): Driver<AwsSpec> {
  const { clock = systemClock, random = systemRandom, endpoint, requestTimeoutMs, maxInFlight } = options;
  const patience = { ...defaultPatience, ...options.patience };
  /** Requests serve several calls at once, and all calls report to the same place. */
  let reportApiCall: DriverContext["reportApiCall"];
  /** Begins with the first call: who waits to lead has not seen what others asked for meanwhile. */
  let launches: RecentLaunches | undefined;
  const pool = createSessionPool((region, credentials: AwsCredentials) =>
    createSession(
      createEc2Api({
        region,
        credentials,
        clock,
        random,
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
        ...(maxInFlight === undefined ? {} : { maxInFlight }),
        reportApiCall: (call) => reportApiCall?.(call),
      }),
      region,
    ),
  );

  /** One call of a method: with a session, and with an error of the contract whatever happens. */
  const answer = async <T>(
    what: string,
    { machineClass, secret, providerId = "" }: AwsSubject,
    context: DriverContext,
    act: (call: MethodCall) => Promise<T>,
  ): Promise<T> => {
    try {
      ({ reportApiCall } = context);
      const recent = (launches ??= createRecentLaunches(context.clock, patience.visibleMs));
      context.signal.throwIfAborted();
      const { spec, name } = machineClass;
      // A VM is where its id says, also when the class has moved on.
      const region = (providerId === "" ? "" : readProviderId(providerId).region) || spec.region;
      return await pool.use(name, region, readCredentials(secret), (session) =>
        act({ session, keys: clusterKeysOf(spec), context, random, patience, launches: recent }),
      );
    } catch (error) {
      throw toMachineError(error, context.signal, what);
    }
  };

  const about = ({ machine, machineClass, secret }: AboutMachine): AwsSubject => ({
    machineClass,
    secret,
    ...(machine.providerId === undefined ? {} : { providerId: machine.providerId }),
  });

  return defineDriver<AwsSpec>({
    name: "aws",
    spec: awsSpecSchema,
    secret: awsSecretSchema,

    createMachine: (request, context) =>
      answer("making the VM", about(request), context, (call) => createMachine(request, call)),
    initializeMachine: (request, context) =>
      answer("initializing the VM", about(request), context, (call) => initializeMachine(request, call)),
    deleteMachine: (request, context) =>
      answer("deleting the VM", about(request), context, (call) => deleteMachine(request, call)),
    getMachineStatus: (request, context) =>
      answer("looking for the VM", about(request), context, (call) => getMachineStatus(request, call)),
    listMachines: (request, context) => answer("listing the VMs", request, context, (call) => listMachines(call)),
    getVolumeIds: (request) => Promise.resolve({ volumeIds: request.volumes.map(volumeIdOf) }),
    findDrift: (request, context) =>
      answer("comparing the VM with its class", about(request), context, (call) => findDrift(request, call)),
    getNodeTemplate: (request, context) =>
      answer("asking for the capacity of the class", request, context, (call) =>
        getNodeTemplate(request.machineClass, call),
      ),
  });
}

interface AwsSubject {
  readonly machineClass: AwsClass;
  readonly secret: SecretData;
  readonly providerId?: string;
}

interface AboutMachine extends Omit<AwsSubject, "providerId"> {
  readonly machine: { readonly providerId?: string };
}
