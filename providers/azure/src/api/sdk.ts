import type { ComputeManagementClient } from "@azure/arm-compute";
import type { MarketplaceOrderingAgreements } from "@azure/arm-marketplaceordering";
import type { NetworkManagementClient } from "@azure/arm-network";
import type { TokenCredential } from "@azure/identity";
import { type ApiCall, type Clock, MachineError } from "@millwright/core";
import { createInFlightLimit, orAborted } from "@millwright/core/driver-kit";
import { createEgressAgents, type EgressAgents, type Environment } from "@millwright/core/egress";
import type { ApiVersions } from "../spec/api-versions.ts";
import type { Cloud } from "../spec/clouds.ts";
import type { AzureCredentials } from "../spec/secret.ts";
import { apiVersionPolicy } from "./api-version-policy.ts";
import { isMissing } from "./errors.ts";
import { limitedHttpClient, operationFailurePolicy, patiencePolicy } from "./http-policies.ts";
import { withProxyFailures } from "./login-failure.ts";
import type { AzureApi } from "./requests.ts";

/** Options of {@link createAzureApi}. */
export interface AzureApiOptions {
  readonly cloud: Cloud;
  readonly apiVersions: ApiVersions;
  readonly credentials: AzureCredentials;
  /** Certificates to trust beside those of the system, as PEM. */
  readonly ca?: string;
  readonly clock: Clock;
  readonly reportApiCall?: (call: ApiCall) => void;
  /** How long Azure may take for one answer, milliseconds. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Requests under way at once. Default 20. */
  readonly maxInFlight?: number;
  /** First pause before the SDK repeats a request, milliseconds. Default 200. */
  readonly retryDelayMs?: number;
  /** Between two looks at an operation where Azure does not say how long to wait, milliseconds. Default 2 s. */
  readonly pollMs?: number;
  /** Environment variables, which name the proxy. */
  readonly env: Environment;
}

const defaultRequestTimeoutMs = 30_000;
const defaultMaxInFlight = 20;
const defaultRetryDelayMs = 200;
const defaultPollMs = 2_000;
/** How often the SDK repeats a request at most. Beyond that the controller repeats the call, and shows why. */
const maxRetries = 2;

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

/** A list of the SDKs. */
interface Paged<T> {
  byPage(): AsyncIterable<readonly T[] & { readonly continuationToken?: string }>;
}

interface Clients {
  readonly compute: ComputeManagementClient;
  readonly network: NetworkManagementClient;
  /** Only images with a plan need it. */
  readonly marketplace: () => Promise<MarketplaceOrderingAgreements>;
}

/** Creates the requests of one subscription and credential. The clients behind them are made with the first one. */
export function createAzureApi(options: AzureApiOptions): AzureApi {
  const { cloud, credentials, clock, ca, reportApiCall, pollMs = defaultPollMs } = options;
  const limit = createInFlightLimit(options.maxInFlight ?? defaultMaxInFlight);
  const { subscriptionId } = credentials;
  let clients: Promise<Clients> | undefined;
  let agents: EgressAgents | undefined;
  let isClosed = false;

  const makeClients = async (): Promise<Clients> => {
    const { compute, network, identity, pipeline } = await loadSdks();
    agents = createEgressAgents({ keepAlive: true, ...(ca === undefined ? {} : { ca }) }, options.env);
    if (isClosed) agents.destroy();
    const retryDelayInMs = options.retryDelayMs ?? defaultRetryDelayMs;
    const transport = {
      httpClient: limitedHttpClient(pipeline.createDefaultHttpClient(), {
        clock,
        limit,
        agents,
        timeoutMs: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
        ...(reportApiCall === undefined ? {} : { reportApiCall }),
      }),
      retryOptions: { maxRetries, retryDelayInMs, maxRetryDelayInMs: retryDelayInMs * 10 },
    };
    const patience = { policy: patiencePolicy(clock), position: "perRetry" as const };
    const credential = withProxyFailures(transport.httpClient, (httpClient) =>
      credentialFor(identity, credentials, cloud, { ...transport, httpClient, additionalPolicies: [patience] }),
    );
    const common = {
      ...transport,
      endpoint: cloud.endpoint,
      credentials: { scopes: [cloud.scope] },
      additionalPolicies: [
        { policy: apiVersionPolicy(options.apiVersions), position: "perCall" as const },
        { policy: operationFailurePolicy, position: "perCall" as const },
        patience,
      ],
    };
    return {
      compute: new compute.ComputeManagementClient(credential, subscriptionId, common),
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

  const request = async <T>(signal: AbortSignal, send: (clients: Clients) => PromiseLike<T>): Promise<T> => {
    signal.throwIfAborted();
    try {
      // The SDK does not hand the signal to requests for tokens.
      return await orAborted(
        signal,
        (clients ??= makeClients()).then((made) => send(made)),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };

  const orMissing = async <T>(found: Promise<T>): Promise<T | undefined> => {
    try {
      return await found;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  /** All pages, or an error: a list that was cut short would let a VM leak. A resource group that does not exist has nothing in it. */
  const all = async <T>(signal: AbortSignal, list: (clients: Clients) => Paged<T>): Promise<readonly T[]> => {
    const found = await orMissing(
      request(signal, async (made) => {
        const items: T[] = [];
        const links = new Set<string>();
        for await (const page of list(made).byPage()) {
          items.push(...page);
          const next = page.continuationToken ?? "";
          if (links.has(next)) throw new MachineError("Unavailable", "Azure gave the same page of a list twice");
          if (next !== "") links.add(next);
        }
        return items;
      }),
    );
    return found ?? [];
  };

  return {
    getVm: (group, name, abortSignal, isExpanded = false) =>
      orMissing(
        request(abortSignal, ({ compute }) =>
          compute.virtualMachines.get(group, name, {
            abortSignal,
            ...(isExpanded ? { expand: "instanceView" as const } : {}),
          }),
        ),
      ),
    listVms: (group, abortSignal) =>
      all(abortSignal, ({ compute }) => compute.virtualMachines.list(group, { abortSignal })),
    createVm: (group, name, input, abortSignal) =>
      request(abortSignal, ({ compute }) =>
        compute.virtualMachines.createOrUpdate(group, name, input, {
          abortSignal,
          ifNoneMatch: "*",
          updateIntervalInMs: pollMs,
        }),
      ),
    async updateVm(group, name, input, abortSignal) {
      await request(abortSignal, ({ compute }) =>
        compute.virtualMachines.update(group, name, input, { abortSignal, updateIntervalInMs: pollMs }),
      );
    },
    async deleteVm(group, name, abortSignal) {
      await orMissing(
        request(abortSignal, ({ compute }) =>
          compute.virtualMachines.delete(group, name, { abortSignal, updateIntervalInMs: pollMs }),
        ),
      );
    },
    listNics: (group, abortSignal) =>
      all(abortSignal, ({ network }) => network.networkInterfaces.list(group, { abortSignal })),
    putNic: (group, name, input, abortSignal) =>
      request(abortSignal, ({ network }) =>
        network.networkInterfaces.createOrUpdate(group, name, input, { abortSignal, updateIntervalInMs: pollMs }),
      ),
    async deleteNic(group, name, abortSignal) {
      await orMissing(
        request(abortSignal, ({ network }) =>
          network.networkInterfaces.delete(group, name, { abortSignal, updateIntervalInMs: pollMs }),
        ),
      );
    },
    listDisks: (group, abortSignal) =>
      all(abortSignal, ({ compute }) => compute.disks.listByResourceGroup(group, { abortSignal })),
    async putDisk(group, name, input, abortSignal) {
      await request(abortSignal, ({ compute }) =>
        compute.disks.createOrUpdate(group, name, input, { abortSignal, updateIntervalInMs: pollMs }),
      );
    },
    async deleteDisk(group, name, abortSignal) {
      await orMissing(
        request(abortSignal, ({ compute }) =>
          compute.disks.delete(group, name, { abortSignal, updateIntervalInMs: pollMs }),
        ),
      );
    },
    async getImage(location, { publisher, offer, sku, version }, abortSignal) {
      const image = await orMissing(
        request(abortSignal, ({ compute }) =>
          compute.virtualMachineImages.get(location, publisher, offer, sku, version, { abortSignal }),
        ),
      );
      return image === undefined ? undefined : { plan: image.plan };
    },
    async acceptTerms({ publisher, product, name }, abortSignal) {
      const terms = (clientsMade: Clients) =>
        clientsMade
          .marketplace()
          .then(({ marketplaceAgreements }) =>
            marketplaceAgreements.get("virtualmachine", publisher, product, name, { abortSignal }),
          );
      const found = await request(abortSignal, terms);
      if (found.accepted === true) return;
      await request(abortSignal, (clientsMade) =>
        clientsMade
          .marketplace()
          .then(({ marketplaceAgreements }) =>
            marketplaceAgreements.create(
              "virtualmachine",
              publisher,
              product,
              name,
              { ...found, accepted: true },
              { abortSignal },
            ),
          ),
      );
    },
    async listSizes(location, abortSignal) {
      const skus = await all(abortSignal, ({ compute }) =>
        compute.resourceSkus.list({ filter: `location eq '${location}'`, abortSignal }),
      );
      return skus.filter(({ resourceType }) => resourceType === "virtualMachines");
    },
    close() {
      isClosed = true;
      agents?.destroy();
    },
  };
}

function credentialFor(
  { ClientSecretCredential, WorkloadIdentityCredential }: typeof import("@azure/identity"),
  { tenantId, clientId, proof }: AzureCredentials,
  { authorityHost }: Cloud,
  transport: object,
): TokenCredential {
  // The authority is one of a fixed list, or that of a test: nothing to ask the internet about.
  const options = { ...transport, authorityHost, disableInstanceDiscovery: true };
  return proof.kind === "secret"
    ? new ClientSecretCredential(tenantId, clientId, proof.secret, options)
    : new WorkloadIdentityCredential({ ...options, tenantId, clientId, tokenFilePath: proof.tokenFile });
}
