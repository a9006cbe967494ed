import { AsyncLocalStorage } from "node:async_hooks";
import type { google } from "@google-cloud/compute/build/protos/protos.js";
import type { ApiCall, Clock, Random } from "@millwright/core";
import { createInFlightLimit, fieldOf, type InFlightLimit } from "@millwright/core/driver-kit";
import { createTokenSource, type TokenSourceOptions } from "./access-token.ts";
import type { ApiService } from "./api-call.ts";
import { GceFailure, isMissing, unreadable } from "./gce-failure.ts";
import { type Operation, readOperation } from "./operation.ts";
import type { Place } from "./provider-id.ts";
import { outcomeOf, pauseBefore } from "./repetition.ts";
import type { GcpCredentials } from "./secret.ts";
import { sendRequest } from "./send-request.ts";

/** An instance in the types of the SDK. */
export type InstanceResource = google.cloud.compute.v1.IInstance;
/** A machine type in the types of the SDK. */
export type MachineTypeResource = google.cloud.compute.v1.IMachineType;

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string | undefined;
}

/** The requests that the driver makes. They reject with `GceFailure`, with what broke the connection, and with the signal's reason when it aborts. */
export interface GceApi {
  /** Undefined when there is no such instance. */
  getInstance(place: Place, name: string, signal: AbortSignal): Promise<InstanceResource | undefined>;
  listInstances(place: Place, pageToken: string | undefined, signal: AbortSignal): Promise<Page<InstanceResource>>;
  insertInstance(place: Place, instance: InstanceResource, requestId: string, signal: AbortSignal): Promise<Operation>;
  deleteInstance(place: Place, name: string, requestId: string, signal: AbortSignal): Promise<Operation>;
  /** Returns when the operation is done, or earlier, as it is then. */
  waitForOperation(place: Place, name: string, signal: AbortSignal): Promise<Operation>;
  listOperations(
    place: Place,
    operationType: string,
    pageToken: string | undefined,
    signal: AbortSignal,
  ): Promise<Page<Operation>>;
  getMachineType(place: Place, name: string, signal: AbortSignal): Promise<MachineTypeResource>;
}

/** Options of {@link createGceApi}. */
export interface GceApiOptions extends Pick<TokenSourceOptions, "endpoint" | "readTokenFile"> {
  readonly credentials: GcpCredentials;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of every request, with its repetitions as one, when it has ended. */
  readonly reportApiCall?: (call: ApiCall) => void;
  /** How long Google may take for one answer, milliseconds. Default 30 s. Waiting for operations takes two minutes longer. */
  readonly requestTimeoutMs?: number;
  /** Requests under way at once. Default 20; waiting for operations does not count, and has a limit of 50. */
  readonly maxInFlight?: number;
}

const defaultRequestTimeoutMs = 30_000;
/** Google answers a wait after two minutes at the latest. */
const longestWaitMs = 120_000;
const defaultMaxInFlight = 20;
/** Operations go on while nobody waits for them: who comes to wait late gets his answer at once. */
const maxWaits = 50;
/** How much later than ours the SDK's own deadline is. */
const graceMs = 2_000;
/** Google's limit for one page. */
const pageSize = 500;

/** The SDK, loaded when it is first needed, by the clients that are used: it takes 0.4 s and 60 MB, all of it 1.4 s and 240 MB. */
async function loadSdk() {
  const [{ InstancesClient }, { ZoneOperationsClient }, { MachineTypesClient }, { PassThroughClient }] =
    await Promise.all([
      import("@google-cloud/compute/build/src/v1/instances_client.js"),
      import("@google-cloud/compute/build/src/v1/zone_operations_client.js"),
      import("@google-cloud/compute/build/src/v1/machine_types_client.js"),
      import("google-auth-library"),
    ]);
  return { InstancesClient, ZoneOperationsClient, MachineTypesClient, PassThroughClient };
}

/** What the SDK does not carry from a call to its request and back. */
interface CallState {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What the request failed of: the SDK keeps only a part of it. */
  failure?: unknown;
}

const isUnauthenticated = (error: unknown): boolean => error instanceof GceFailure && error.status === 401;

interface RequestOptions {
  readonly turn?: InFlightLimit;
  /** How much longer than others it may take. */
  readonly extraMs?: number;
  /** Whether a refusal is an answer like any other, for metrics. */
  readonly isAnswer?: (failure: unknown) => boolean;
}

/** Creates the requests of one credential. The clients behind them are made with the first one. */
export function createGceApi(options: GceApiOptions): GceApi {
  const { credentials, clock, random, reportApiCall, endpoint, readTokenFile } = options;
  const timeoutMs = options.requestTimeoutMs ?? defaultRequestTimeoutMs;
  const limit = createInFlightLimit(options.maxInFlight ?? defaultMaxInFlight);
  const waitLimit = createInFlightLimit(maxWaits);
  const calls = new AsyncLocalStorage<CallState>();
  const tokens = createTokenSource(credentials, {
    clock,
    timeoutMs,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(readTokenFile === undefined ? {} : { readTokenFile }),
  });

  /** What the SDK sends its requests with: our token, signal and deadline. */
  const fetchForSdk: typeof fetch = async (input, init = {}) => {
    const state = calls.getStore();
    if (state === undefined) throw new Error("a request of the SDK outside of a call");
    const send = async (token: string): Promise<string> => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${token}`);
      const { body } = init;
      return sendRequest(
        {
          url: input instanceof Request ? input.url : String(input),
          method: init.method ?? "GET",
          headers,
          ...(typeof body === "string" ? { body } : {}),
        },
        { clock, ...state },
      );
    };
    try {
      const token = await tokens.get(state.signal);
      return new Response(
        await send(token).catch(async (error: unknown) => {
          if (!isUnauthenticated(error)) throw error;
          // It may have been withdrawn, or a key was replaced.
          tokens.forget(token);
          return send(await tokens.get(state.signal));
        }),
        { headers: { "content-type": "application/json" } },
      );
    } catch (error) {
      state.failure = error;
      throw error;
    }
  };

  let clients: ReturnType<typeof makeClients> | undefined;
  const makeClients = async () => {
    const sdk = await loadSdk();
    const clientOptions = {
      projectId: credentials.project,
      authClient: new sdk.PassThroughClient({
        universeDomain: credentials.universe,
        transporterOptions: { fetchImplementation: fetchForSdk },
      }),
      ...(endpoint === undefined ? { universeDomain: credentials.universe } : addressOf(endpoint)),
    };
    // Each takes 30 ms to make.
    return {
      instances: once(() => new sdk.InstancesClient({ ...clientOptions })),
      operations: once(() => new sdk.ZoneOperationsClient({ ...clientOptions })),
      machineTypes: once(() => new sdk.MachineTypesClient({ ...clientOptions })),
    };
  };

  /** One request: in its turn, reported, repeated where that may help, and over as soon as the signal aborts. */
  const request = <Output>(
    service: ApiService,
    signal: AbortSignal,
    send: (sdk: Awaited<ReturnType<typeof makeClients>>, callOptions: typeof oneTry) => Promise<Output>,
    { turn = limit, extraMs = 0, isAnswer = () => false }: RequestOptions = {},
  ): Promise<Output> =>
    turn(signal, async () => {
      clients ??= makeClients();
      const sdk = await clients;
      const startMs = clock.monotonicMs();
      const oneTimeoutMs = timeoutMs + extraMs;
      for (let attempts = 1; ; attempts++) {
        signal.throwIfAborted();
        const state: CallState = { signal, timeoutMs: oneTimeoutMs };
        const report = (outcome: string): void =>
          reportApiCall?.({ service, outcome, seconds: (clock.monotonicMs() - startMs) / 1_000 });
        try {
          // Our own deadline comes first.
          const callOptions = { ...oneTry, timeout: oneTimeoutMs + graceMs };
          const output = await calls.run(state, () => send(sdk, callOptions));
          report("ok");
          return output;
        } catch (error) {
          const failure = state.failure ?? unreadable(200, { cause: error });
          const pauseMs = signal.aborted ? undefined : pauseBefore(attempts + 1, failure, random);
          if (pauseMs === undefined) report(signal.aborted ? "aborted" : isAnswer(failure) ? "ok" : outcomeOf(failure));
          signal.throwIfAborted();
          if (pauseMs === undefined) throw failure;
          await clock.sleep(pauseMs, signal);
        }
      }
    });

  return {
    async getInstance(place, instance, signal) {
      const isNone = (failure: unknown): boolean => isMissing(failure, `instances/${instance}`);
      try {
        const [found] = await request(
          "instance_get",
          signal,
          (sdk, callOptions) => sdk.instances().get({ ...place, instance }, callOptions),
          { isAnswer: isNone },
        );
        return found;
      } catch (error) {
        if (isNone(error)) return undefined;
        throw error;
      }
    },
    async listInstances(place, pageToken, signal) {
      const [items, , answer] = await request("instance_list", signal, (sdk, callOptions) =>
        sdk.instances().list({ ...place, ...pageOf(pageToken) }, { ...callOptions, autoPaginate: false }),
      );
      return { items, nextPageToken: nextOf(answer) };
    },
    async insertInstance(place, instanceResource, requestId, signal) {
      const [answer] = await request("instance_create", signal, (sdk, callOptions) =>
        sdk.instances().insert({ ...place, instanceResource, requestId }, callOptions),
      );
      return readOperation(answer.latestResponse);
    },
    async deleteInstance(place, instance, requestId, signal) {
      const [answer] = await request("instance_delete", signal, (sdk, callOptions) =>
        sdk.instances().delete({ ...place, instance, requestId }, callOptions),
      );
      return readOperation(answer.latestResponse);
    },
    async waitForOperation(place, operation, signal) {
      const [answer] = await request(
        "operations_get",
        signal,
        (sdk, callOptions) => sdk.operations().wait({ ...place, operation }, callOptions),
        { turn: waitLimit, extraMs: longestWaitMs },
      );
      return readOperation(answer);
    },
    async listOperations(place, operationType, pageToken, signal) {
      const [items, , answer] = await request("operations_list", signal, (sdk, callOptions) =>
        sdk
          .operations()
          .list(
            { ...place, ...pageOf(pageToken), filter: `operationType="${operationType}"` },
            { ...callOptions, autoPaginate: false },
          ),
      );
      return { items: items.map(readOperation), nextPageToken: nextOf(answer) };
    },
    async getMachineType(place, machineType, signal) {
      const [type] = await request("machine_type_get", signal, (sdk, callOptions) =>
        sdk.machineTypes().get({ ...place, machineType }, callOptions),
      );
      return type;
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The SDK does not repeat by itself: it would go on for ten minutes. */
const oneTry = { retry: null, timeout: 0 };

const pageOf = (pageToken: string | undefined): { readonly maxResults: number; readonly pageToken?: string } => ({
  maxResults: pageSize,
  ...(pageToken === undefined ? {} : { pageToken }),
});

function nextOf(answer: unknown): string | undefined {
  const token = fieldOf(answer, "nextPageToken");
  return typeof token === "string" && token !== "" ? token : undefined;
}

/** The address of an emulator in the options of a client. */
function addressOf(endpoint: string) {
  const { protocol, hostname, port } = new URL(endpoint);
  const scheme = protocol.slice(0, -1);
  return {
    apiEndpoint: hostname,
    protocol: scheme,
    port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port),
  };
}
