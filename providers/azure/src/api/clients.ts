import type { ComputeManagementClient } from "@azure/arm-compute";
import type { MarketplaceOrderingAgreements } from "@azure/arm-marketplaceordering";
import type { NetworkManagementClient } from "@azure/arm-network";
import type { HttpClient } from "@azure/core-rest-pipeline";
import type { ApiCall, Clock, Random } from "@millwright/core";
import { createRequestSender, type SessionResources } from "@millwright/core/driver-kit";
import { createEgressAgents, type EgressAgents, type Environment } from "@millwright/core/egress";
import type { ApiVersions } from "../spec/api-versions.ts";
import type { Cloud } from "../spec/clouds.ts";
import type { AzureCredentials } from "../spec/secret.ts";
import { apiVersionPolicy } from "./api-version-policy.ts";
import { readAttemptFailure } from "./attempt-failure.ts";
import { credentialFor } from "./credential.ts";
import { boundedHttpClient, operationFailurePolicy } from "./http-policies.ts";
import { sendPolicy } from "./send-policy.ts";
import { createResourceReader, type ResourceReader } from "./read-resource.ts";

/** Options of {@link createClients}. */
export interface ClientOptions {
  readonly cloud: Cloud;
  readonly apiVersions: ApiVersions;
  readonly credentials: AzureCredentials;
  /** Certificates to trust beside those of the system, as PEM. */
  readonly ca?: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Environment variables, which name the proxy, and the identity of the process. */
  readonly env: Environment;
  readonly recorder: SessionResources["recorder"];
  /** Takes every attempt of a request that has ended. Must not throw. */
  readonly reportApiCall?: (call: ApiCall) => void;
  /** What sends requests. Default: the SDK's. */
  readonly httpClient?: HttpClient;
  /** How long Azure may take for one answer, milliseconds. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Requests under way at once. Default 20. */
  readonly maxInFlight?: number;
}

const defaultRequestTimeoutMs = 30_000;

/** The clients of the SDKs for one subscription and credential. */
export interface Clients {
  readonly compute: ComputeManagementClient;
  readonly network: NetworkManagementClient;
  readonly read: ResourceReader;
  /** Only images with a plan need it. */
  readonly marketplace: () => Promise<MarketplaceOrderingAgreements>;
}

/** Clients that are made when they are first needed. */
export interface LazyClients {
  get(): Promise<Clients>;
  /** Closes the connections. Calls that are under way fail. */
  close(): void;
}

/** The SDKs of compute and network and what they are built on, loaded when they are first needed: together they take most of a second. */
async function loadSdks() {
  const [compute, network, identity, pipeline] = await Promise.all([
    import("@azure/arm-compute"),
    import("@azure/arm-network"),
    import("@azure/identity"),
    import("@azure/core-rest-pipeline"),
  ]);
  return { compute, network, identity, pipeline };
}

/** Creates the clients of one subscription and credential. */
export function createClients(options: ClientOptions): LazyClients {
  const { cloud, credentials, clock, random, ca, env, reportApiCall } = options;
  const { subscriptionId } = credentials;
  const send = createRequestSender({
    cloud: "Azure",
    clock,
    random,
    reportApiCall,
    maxInFlight: options.maxInFlight,
    readFailure: readAttemptFailure,
  });
  let clients: Promise<Clients> | undefined;
  let agents: EgressAgents | undefined;
  let isClosed = false;

  const make = async (onRejectedToken: () => void): Promise<Clients> => {
    const { compute, network, identity, pipeline } = await loadSdks();
    agents ??= createEgressAgents({ keepAlive: true, ...(ca === undefined ? {} : { ca }) }, env);
    if (isClosed) agents.destroy();
    const transport = {
      httpClient: boundedHttpClient(options.httpClient ?? pipeline.createDefaultHttpClient(), {
        clock,
        agents,
        recorder: options.recorder,
        timeoutMs: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
      }),
      // `sendPolicy` repeats requests, for all machines together.
      retryOptions: { maxRetries: 0 },
    };
    const credential = credentialFor(identity, credentials, cloud, env, {
      ...transport,
      additionalPolicies: [{ policy: sendPolicy({ send, clock, isForTokens: true }), position: "perCall" as const }],
    });
    const common = {
      ...transport,
      endpoint: cloud.endpoint,
      credentials: { scopes: [cloud.scope] },
      additionalPolicies: [
        { policy: apiVersionPolicy(options.apiVersions), position: "perCall" as const },
        { policy: operationFailurePolicy, position: "perCall" as const },
        { policy: sendPolicy({ send, clock, onRejectedToken }), position: "perCall" as const },
      ],
    };
    const computeClient = new compute.ComputeManagementClient(credential, subscriptionId, common);
    return {
      compute: computeClient,
      read: createResourceReader(pipeline.createPipelineRequest, computeClient.pipeline, transport.httpClient),
      network: new network.NetworkManagementClient(credential, subscriptionId, common),
      marketplace: async () => {
        const sdk = await import("@azure/arm-marketplaceordering");
        return new sdk.MarketplaceOrderingAgreements(credential, subscriptionId, {
          ...common,
          credentialScopes: cloud.scope,
        });
      },
    };
  };

  return {
    get() {
      if (clients !== undefined) return clients;
      const forget = (): void => {
        if (clients === made) clients = undefined;
      };
      // The SDK keeps a token until it ends, also one that was revoked: the next call makes other clients, which ask for another.
      const made = make(forget).catch((error: unknown) => {
        forget();
        throw error;
      });
      clients = made;
      return made;
    },
    close() {
      isClosed = true;
      agents?.destroy();
    },
  };
}
