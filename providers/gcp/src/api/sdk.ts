import type { ApiCall, Clock, Random } from "@millwright/core";
import { createRequestSender, fieldOf, type SessionResources } from "@millwright/core/driver-kit";
import type { Environment } from "@millwright/core/egress";
import type { GcpCredentials } from "../spec/secret.ts";
import { createTokenSource, type TokenSourceOptions } from "./access-token.ts";
import type { ApiService } from "./api-call.ts";
import { readAttemptFailure } from "./attempt-failure.ts";
import { createEgressFetch } from "./egress-fetch.ts";
import { GceFailure, isMissing, unreadable } from "./gce-failure.ts";
import { readOperation } from "./operation.ts";
import type { GceApi } from "./requests.ts";
import { callSdk, type SdkClients, sdkClients, sdkOrigin } from "./sdk-clients.ts";
import { type OutgoingRequest, sendRequest } from "./send-request.ts";

/** Options of {@link createGceApi}. */
export interface GceApiOptions extends Pick<TokenSourceOptions, "endpoint" | "readTokenFile"> {
  readonly credentials: GcpCredentials;
  readonly clock: Clock;
  readonly random: Random;
  /** Environment variables, which name the proxy. */
  readonly env: Environment;
  readonly recorder: SessionResources["recorder"];
  /** Takes every attempt of a request that has ended. Must not throw. */
  readonly reportApiCall?: (call: ApiCall) => void;
  /** How long Google may take for one answer, milliseconds. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Requests under way at once. Default 20. */
  readonly maxInFlight?: number;
}

const defaultRequestTimeoutMs = 30_000;
/** How much later than ours the SDK's own deadline is. */
const graceMs = 2_000;
/** Google's limit for one page. */
const pageSize = 500;

const isUnauthenticated = (error: unknown): boolean => error instanceof GceFailure && error.status === 401;

interface RequestOptions {
  /** Whether a rejection is an answer like any other, for metrics. */
  readonly isAnswer?: (failure: unknown) => boolean;
}

/** Creates the requests of one credential. */
export function createGceApi(options: GceApiOptions): GceApi {
  const { credentials, clock, random, reportApiCall, endpoint, readTokenFile } = options;
  const timeoutMs = options.requestTimeoutMs ?? defaultRequestTimeoutMs;
  const sendRequests = createRequestSender({
    cloud: "Compute Engine",
    clock,
    random,
    reportApiCall,
    maxInFlight: options.maxInFlight,
    readFailure: readAttemptFailure,
  });
  const fetch = createEgressFetch(options);
  const tokens = createTokenSource(credentials, {
    clock,
    fetch,
    env: options.env,
    timeoutMs,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(readTokenFile === undefined ? {} : { readTokenFile }),
  });

  const origin = endpoint ?? `https://compute.${credentials.universe}`;

  /** Sends what the SDK has put together, with our token, to our address. */
  const sendWithToken = async (request: OutgoingRequest, signal: AbortSignal): Promise<string> => {
    const url = request.url.replace(sdkOrigin, origin);
    const send = (token: string): Promise<string> => {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${token}`);
      return sendRequest({ ...request, url, headers }, { fetch, clock, signal, timeoutMs });
    };
    const token = await tokens.get(signal);
    try {
      return await send(token);
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      // It may have been withdrawn, or a key was replaced.
      tokens.forget(token);
      return send(await tokens.get(signal));
    }
  };

  /** One request. */
  const request = async <Output>(
    service: ApiService,
    signal: AbortSignal,
    call: (sdk: SdkClients, callOptions: typeof oneAttempt) => Promise<Output>,
    { isAnswer = () => false }: RequestOptions = {},
  ): Promise<Output> => {
    const sdk = await sdkClients();
    // Our own deadline comes first.
    const callOptions = { ...oneAttempt, timeout: timeoutMs + graceMs };
    return sendRequests({ service, signal, isAnswer }, async () => {
      // The SDK keeps only a part of what a request failed of.
      let failed: unknown;
      const send = (outgoing: OutgoingRequest): Promise<string> =>
        sendWithToken(outgoing, signal).catch((error: unknown) => {
          failed = error;
          throw error;
        });
      return callSdk(send, () => call(sdk, callOptions)).catch((error: unknown) => {
        throw failed ?? unreadable(200, { cause: error });
      });
    });
  };

  /** One request without the SDK: its clients for few resources take tens of megabytes each. */
  const plain = (service: ApiService, outgoing: OutgoingRequest, signal: AbortSignal): Promise<unknown> =>
    sendRequests({ service, signal }, async () => readJson(await sendWithToken(outgoing, signal)));

  return {
    async getResource(service, path, signal) {
      const url = `${origin}/compute/v1/projects/${path}`;
      try {
        return await plain(service, { url, method: "GET", headers: new Headers() }, signal);
      } catch (error) {
        if (error instanceof GceFailure && error.status === 404 && error.reason !== "") return undefined;
        throw error;
      }
    },
    async testPermissions(project, permissions, signal) {
      const host = endpoint ?? `https://cloudresourcemanager.${credentials.universe}`;
      const answer = await plain(
        "permissions_test",
        {
          url: `${host}/v3/projects/${project}:testIamPermissions`,
          method: "POST",
          headers: new Headers({ "content-type": "application/json" }),
          body: JSON.stringify({ permissions }),
        },
        signal,
      );
      const granted = fieldOf(answer, "permissions");
      return new Set(Array.isArray(granted) ? granted.filter((each) => typeof each === "string") : []);
    },
    async getInstance(place, instance, signal) {
      const found = await orMissing(`instances/${instance}`, (isAnswer) =>
        request("instance_get", signal, (sdk, callOptions) => sdk.instances.get({ ...place, instance }, callOptions), {
          isAnswer,
        }),
      );
      return found?.[0];
    },
    async listInstances(place, pageToken, signal) {
      const [items, , answer] = await request("instance_list", signal, (sdk, callOptions) =>
        sdk.instances.list({ ...place, ...pageOf(pageToken) }, { ...callOptions, autoPaginate: false }),
      );
      return { items, nextPageToken: nextOf(answer) };
    },
    async insertInstance(place, instanceResource, requestId, signal) {
      const [answer] = await request("instance_create", signal, (sdk, callOptions) =>
        sdk.instances.insert({ ...place, instanceResource, requestId }, callOptions),
      );
      return readOperation(answer.latestResponse);
    },
    async deleteInstance(place, instance, requestId, signal) {
      const [answer] = await request("instance_delete", signal, (sdk, callOptions) =>
        sdk.instances.delete({ ...place, instance, requestId }, callOptions),
      );
      return readOperation(answer.latestResponse);
    },
    async listDisks(place, label, pageToken, signal) {
      const [items, , answer] = await request("disk_list", signal, (sdk, callOptions) =>
        sdk.disks.list(
          { ...place, ...pageOf(pageToken), filter: `labels.${label.key}="${label.value}"` },
          { ...callOptions, autoPaginate: false },
        ),
      );
      return { items, nextPageToken: nextOf(answer) };
    },
    async deleteDisk(place, disk, requestId, signal) {
      const [answer] = await request("disk_delete", signal, (sdk, callOptions) =>
        sdk.disks.delete({ ...place, disk, requestId }, callOptions),
      );
      return readOperation(answer.latestResponse);
    },
    async getOperation(place, operation, signal) {
      const found = await orMissing(`operations/${operation}`, (isAnswer) =>
        request(
          "operations_get",
          signal,
          (sdk, callOptions) => sdk.operations.get({ ...place, operation }, callOptions),
          {
            isAnswer,
          },
        ),
      );
      return found === undefined ? undefined : readOperation(found[0]);
    },
    async listOperations(place, filter, pageToken, signal) {
      const [items, , answer] = await request("operations_list", signal, (sdk, callOptions) =>
        sdk.operations.list({ ...place, ...pageOf(pageToken), filter }, { ...callOptions, autoPaginate: false }),
      );
      return { items: items.map(readOperation), nextPageToken: nextOf(answer) };
    },
    async getMachineType(place, machineType, signal) {
      const [type] = await request("machine_type_get", signal, (sdk, callOptions) =>
        sdk.machineTypes.get({ ...place, machineType }, callOptions),
      );
      return type;
    },
    close: () => fetch.close(),
  };
}

/** Reads JSON of an answer that is a success. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(200, { cause });
  }
}

/** The answer about one thing; undefined when there is none of that path. */
async function orMissing<Output>(
  path: string,
  ask: (isMissing: (failure: unknown) => boolean) => Promise<Output>,
): Promise<Output | undefined> {
  const isNone = (failure: unknown): boolean => isMissing(failure, path);
  try {
    return await ask(isNone);
  } catch (error) {
    if (isNone(error)) return undefined;
    throw error;
  }
}

/** The SDK does not repeat by itself: it would go on for ten minutes. */
const oneAttempt = { retry: null, timeout: 0 };

const pageOf = (pageToken: string | undefined): { readonly maxResults: number; readonly pageToken?: string } => ({
  maxResults: pageSize,
  ...(pageToken === undefined ? {} : { pageToken }),
});

function nextOf(answer: unknown): string | undefined {
  const token = fieldOf(answer, "nextPageToken");
  return typeof token === "string" && token !== "" ? token : undefined;
}
