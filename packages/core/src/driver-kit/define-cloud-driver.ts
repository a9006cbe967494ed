import { type Clock, type Random, type SecretData, systemClock, systemRandom } from "@millwright/base";
import type { Environment } from "@millwright/base/egress";
import { defineDriver } from "../driver/define-driver.ts";
import type { Driver, DriverContext } from "../driver/driver.ts";
import type { MachineError } from "../driver/machine-error.ts";
import { deadlineOf, setDeadline } from "./call-deadline.ts";
import type { CloudCall, CloudRequest, ClusterKeys, SessionResources } from "./cloud-call.ts";
import { defaultPollTimes, type PollTimes } from "./poll.ts";
import { createRecentLaunches, type RecentLaunches } from "./recent-launches.ts";
import { createSessionPool, type PooledSession } from "./session-pool.ts";

/** What each method attempts, as messages begin. */
const attempts = {
  createMachine: "creating the VM",
  initializeMachine: "initializing the VM",
  deleteMachine: "deleting the VM",
  getMachineStatus: "looking for the VM",
  listMachines: "listing the VMs",
  findDrift: "comparing the VM with its class",
  getNodeTemplate: "reading the capacity of the class",
  checkClass: "checking the class",
} as const;

type Method = keyof typeof attempts;

/** A method of the driver contract that gets a {@link CloudCall} in place of the context. */
type CloudMethod<Spec, Session, Name extends Method> = (
  request: Parameters<NonNullable<Driver<Spec>[Name]>>[0],
  call: CloudCall<Session>,
) => ReturnType<NonNullable<Driver<Spec>[Name]>>;

type CloudMethods<Spec, Session> = {
  readonly [Name in "createMachine" | "deleteMachine" | "getMachineStatus"]: CloudMethod<Spec, Session, Name>;
} & {
  readonly [
    Name in "initializeMachine" | "listMachines" | "findDrift" | "getNodeTemplate" | "checkClass"
  ]?: CloudMethod<Spec, Session, Name>;
};

/** The parts of a driver that are specific to its cloud. */
export type CloudDriverDefinition<
  Spec,
  Credentials,
  Session extends PooledSession,
  Place extends string = string,
> = Pick<Driver<Spec>, "name" | "spec" | "vmSpec" | "secret" | "matchNode" | "providerIdTemplates"> &
  CloudMethods<Spec, Session> & {
    /** Reads the class secret, which its schema has accepted. May throw `MachineError`, and may read credentials from the environment of the process. */
    readonly credentialsOf: (secret: SecretData, context: DriverContext) => Credentials | Promise<Credentials>;
    /** The place of the call: a region, a project, a subscription. Each place and credential has one session. */
    readonly placeOf: (request: CloudRequest<Spec>, credentials: Credentials) => Place;
    /** Opens a session. Makes no requests: loading an SDK and getting tokens belong to the first one. */
    readonly openSession: (place: Place, credentials: Credentials, resources: SessionResources) => Session;
    readonly clusterKeysOf: (spec: Spec) => ClusterKeys;
    /** The id by which nodes report a volume as attached; undefined for volumes of other clouds. Gets `spec` of a persistent volume. */
    readonly volumeIdOf?: (volume: Readonly<Record<string, unknown>>) => string | undefined;
    /**
     * Converts an error of a method to the error of the contract.
     *
     * @param attempt what the method was doing, for the message: `creating the VM`
     */
    readonly toMachineError: (error: unknown, signal: AbortSignal, attempt: string) => MachineError;
    /** The request ids of the cloud for a failed request. They are logged only: a message must not change with each attempt. */
    readonly requestIdsOf?: (failure: MachineError) => Readonly<Record<string, string>>;
  };

/** Options that all cloud drivers have. */
export interface CloudDriverOptions {
  /** Default: the system's. For how long requests take; the methods use the clock of their context. */
  readonly clock?: Clock;
  /** For jitter. Default: the system's. */
  readonly random?: Random;
  /** Default: 2 min for a VM to become visible, 3 s before another look, 0.5 s to 5 s between looks. */
  readonly pollTimes?: Partial<PollTimes>;
  /** Environment variables that name the proxy of requests: `HTTPS_PROXY` and `NO_PROXY`. Default: those of the process. */
  readonly env?: Environment;
}

/**
 * Creates a driver from the parts that are specific to its cloud. Every method runs with the session of its place and credentials. Its errors name the attempted operation.
 * The driver keeps its sessions and {@link RecentLaunches}, and no state that a restart would lose.
 *
 * @throws ConfigError as `defineDriver`
 */
export function defineCloudDriver<Spec, Credentials, Session extends PooledSession, Place extends string>(
  definition: CloudDriverDefinition<Spec, Credentials, Session, Place>,
  options: CloudDriverOptions = {},
): Driver<Spec> {
  const { name, spec, vmSpec, secret, matchNode, providerIdTemplates, volumeIdOf, requestIdsOf } = definition;
  const { clock = systemClock, random = systemRandom, env = process.env } = options;
  const pollTimes = { ...defaultPollTimes, ...options.pollTimes };
  // One request may serve several calls. All contexts have the same functions, so the newest one is used.
  let reportApiCall: DriverContext["reportApiCall"];
  let recordExchange: DriverContext["recordExchange"];
  // Starts with the first call: a process that waits to become leader does not see what the leader launches.
  let launches: RecentLaunches | undefined;
  const sessions = createSessionPool((place: Place, credentials: Credentials) =>
    definition.openSession(place, credentials, {
      clock,
      random,
      env,
      reportApiCall: (call) => reportApiCall?.(call),
      recorder: () => recordExchange,
    }),
  );

  const method =
    <Request extends CloudRequest<Spec>, Response>(
      attempt: string,
      act: (request: Request, call: CloudCall<Session>) => Promise<Response>,
    ) =>
    async (request: Request, context: DriverContext): Promise<Response> => {
      try {
        ({ reportApiCall, recordExchange } = context);
        const recent = (launches ??= createRecentLaunches(context.clock, pollTimes.visibleMs));
        context.signal.throwIfAborted();
        setDeadline(context.signal, context.remainingMs ?? deadlineOf(context.signal, context.clock));
        const { machineClass } = request;
        const credentials = await definition.credentialsOf(request.secret, context);
        const place = definition.placeOf(request, credentials);
        const keys = definition.clusterKeysOf(machineClass.spec);
        return await sessions.use(machineClass.name, place, credentials, (session) =>
          act(request, { session, keys, context, random, pollTimes, launches: recent }),
        );
      } catch (error) {
        const failure = definition.toMachineError(error, context.signal, attempt);
        const requestIds = requestIdsOf?.(failure) ?? {};
        if (Object.keys(requestIds).length > 0) context.log("warn", "The cloud rejected a request", requestIds);
        throw failure;
      }
    };

  const { initializeMachine, listMachines, findDrift, getNodeTemplate, checkClass } = definition;
  return defineDriver<Spec>({
    name,
    spec,
    ...(vmSpec === undefined ? {} : { vmSpec }),
    ...(secret === undefined ? {} : { secret }),
    createMachine: method(attempts.createMachine, definition.createMachine),
    deleteMachine: method(attempts.deleteMachine, definition.deleteMachine),
    getMachineStatus: method(attempts.getMachineStatus, definition.getMachineStatus),
    ...(matchNode === undefined ? {} : { matchNode }),
    ...(providerIdTemplates === undefined ? {} : { providerIdTemplates }),
    ...(volumeIdOf === undefined
      ? {}
      : { getVolumeIds: ({ volumes }) => Promise.resolve({ volumeIds: volumes.map(volumeIdOf) }) }),
    ...(initializeMachine === undefined
      ? {}
      : { initializeMachine: method(attempts.initializeMachine, initializeMachine) }),
    ...(listMachines === undefined ? {} : { listMachines: method(attempts.listMachines, listMachines) }),
    ...(findDrift === undefined ? {} : { findDrift: method(attempts.findDrift, findDrift) }),
    ...(getNodeTemplate === undefined ? {} : { getNodeTemplate: method(attempts.getNodeTemplate, getNodeTemplate) }),
    ...(checkClass === undefined ? {} : { checkClass: method(attempts.checkClass, checkClass) }),
  });
}
