import type { HttpClient } from "@azure/core-rest-pipeline";
import type { TokenCredential, TokenCredentialOptions } from "@azure/identity";
import { MachineError } from "@millwright/core";
import type { Environment } from "@millwright/core/egress";
import type { Cloud } from "../spec/clouds.ts";
import type { AzureCredentials } from "../spec/secret.ts";
import { TokenFailure } from "./token-failure.ts";

/** Options of the SDK for requests for tokens. */
export type TokenTransport = TokenCredentialOptions & { readonly httpClient: HttpClient };

/** The variables that the mutating webhook of Azure Workload Identity sets in pods. */
const variables = {
  tenantId: "AZURE_TENANT_ID",
  clientId: "AZURE_CLIENT_ID",
  tokenFile: "AZURE_FEDERATED_TOKEN_FILE",
} as const;

/**
 * The credential of the SDK for a class secret. With the environment's identity it is that of the workload where a token file is named, and otherwise that of the VM or service that the process runs on.
 * Developer tools are never looked at.
 *
 * @throws MachineError Unauthenticated for an incomplete environment
 */
export function credentialFor(
  { ClientSecretCredential, WorkloadIdentityCredential, ManagedIdentityCredential }: typeof import("@azure/identity"),
  { tenantId, clientId, proof }: AzureCredentials,
  { authorityHost }: Cloud,
  env: Environment,
  { httpClient, ...transport }: TokenTransport,
): TokenCredential {
  const variable = (name: string): string => (env[name] ?? "").trim();
  const observed = observeFailures(httpClient);
  const failingWith = (source: TokenFailure["source"], credential: TokenCredential): TokenCredential => ({
    async getToken(scopes, options) {
      try {
        return await credential.getToken(scopes, options);
      } catch (error) {
        const host = source === "entra" ? new URL(authorityHost).host : "";
        throw new TokenFailure(source, host, error, observed.lastFailure());
      }
    },
  });
  // The authority is one of a fixed list, or that of a test: nothing to ask the internet about.
  const options = { ...transport, httpClient: observed.httpClient, authorityHost, disableInstanceDiscovery: true };
  const workload = (ids: { readonly tenantId: string; readonly clientId: string }, tokenFilePath: string) =>
    failingWith("entra", new WorkloadIdentityCredential({ ...options, ...ids, tokenFilePath }));
  switch (proof.kind) {
    case "secret":
      return failingWith("entra", new ClientSecretCredential(tenantId, clientId, proof.secret, options));
    case "workloadIdentity":
      return workload({ tenantId, clientId }, proof.tokenFile);
    case "environment": {
      const tokenFile = variable(variables.tokenFile);
      const ownClientId = clientId === "" ? variable(variables.clientId) : clientId;
      if (tokenFile === "") {
        const identity = ownClientId === "" ? {} : { clientId: ownClientId };
        return failingWith("managedIdentity", new ManagedIdentityCredential({ ...options, ...identity }));
      }
      const ids = {
        tenantId: tenantId === "" ? variable(variables.tenantId) : tenantId,
        clientId: ownClientId,
      };
      for (const key of ["clientId", "tenantId"] as const) {
        if (ids[key] !== "") continue;
        throw new MachineError(
          "Unauthenticated",
          `${variables.tokenFile} is set without ${variables[key]}: set it in the controller's environment, or key "${key.replace("Id", "ID")}" of the class secret`,
        );
      }
      return workload(ids, tokenFile);
    }
  }
}

/** Sends requests, and keeps what the last one failed of that got no answer. */
function observeFailures(inner: HttpClient) {
  let lastFailure: unknown;
  const httpClient: HttpClient = {
    async sendRequest(request) {
      try {
        const response = await inner.sendRequest(request);
        lastFailure = undefined;
        return response;
      } catch (error) {
        lastFailure = error;
        throw error;
      }
    },
  };
  return { httpClient, lastFailure: () => lastFailure };
}
