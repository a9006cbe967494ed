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
import { createSessionPool } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { requestIdsOf } from "./api/request-ids.ts";
import { type AzureApiOptions, createAzureApi } from "./api/sdk.ts";
import { createMachine } from "./create-machine.ts";
import { deleteMachine } from "./delete-machine.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { getNodeTemplate } from "./get-node-template.ts";
import { volumeIdOf } from "./get-volume-ids.ts";
import { listMachines } from "./list-machines.ts";
import { cloudAt, type CloudName } from "./spec/clouds.ts";
import { clusterKeysOf } from "./spec/cluster-keys.ts";
import { type AzureCredentials, azureSecretSchema, readCredentials } from "./spec/secret.ts";
import { type AzureSpec, azureSpecSchema } from "./spec/spec.ts";
import type { AzureClass, MethodCall } from "./vm/method-call.ts";
import { createSession } from "./vm/session.ts";

/** Options of {@link createAzureDriver}. */
export interface AzureDriverOptions extends Pick<
  AzureApiOptions,
  "requestTimeoutMs" | "maxInFlight" | "retryDelayMs" | "ca" | "pollMs"
> {
  /** Address of Azure Resource Manager and of Entra ID, for tests and private clouds. Default: those of the class's cloud. */
  readonly endpoint?: string;
  /** Default: the system's. For how long requests take; the methods use the clock of their context. */
  readonly clock?: Clock;
  /** For jitter. Default: the system's. */
  readonly random?: Random;
}

const defaultPollMs = 2_000;

/** Creates the driver of Azure. It holds no state but connections, tokens, and what is known of images and sizes: every call finds its VMs by name and tags. */
export function createAzureDriver(options: AzureDriverOptions = {}): Driver<AzureSpec> {
  const { clock = systemClock, random = systemRandom, endpoint, ...apiOptions } = options;
  // Requests that several calls share are reported with the newest one's: a host gives all of them the same.
  let reportApiCall: DriverContext["reportApiCall"];
  const pool = createSessionPool((cloudName: CloudName, credentials: AzureCredentials) =>
    createSession(
      createAzureApi({
        ...apiOptions,
        cloud: cloudAt(cloudName, endpoint),
        credentials,
        clock,
        reportApiCall: (call) => reportApiCall?.(call),
      }),
      credentials.subscriptionId,
    ),
  );

  /** One call of a method: with a session, and with an error of the contract whatever happens. */
  const answer = async <T>(
    what: string,
    { machineClass, secret }: { readonly machineClass: AzureClass; readonly secret: SecretData },
    context: DriverContext,
    act: (call: MethodCall) => Promise<T>,
  ): Promise<T> => {
    try {
      context.signal.throwIfAborted();
      ({ reportApiCall } = context);
      const { spec, name } = machineClass;
      const cloud = spec.cloudConfiguration?.name ?? "AzurePublic";
      const pollMs = options.pollMs ?? defaultPollMs;
      return await pool.use(name, cloud, readCredentials(secret), (session) =>
        act({ session, keys: clusterKeysOf(spec), context, random, pollMs }),
      );
    } catch (error) {
      const failure = toMachineError(error, context.signal, what);
      const ids = requestIdsOf(failure);
      // Not in the message: they differ from try to try.
      if (Object.keys(ids).length > 0) context.log("warn", "Azure refused a request", ids);
      throw failure;
    }
  };

  return defineDriver<AzureSpec>({
    name: "azure",
    spec: azureSpecSchema,
    secret: azureSecretSchema,

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
