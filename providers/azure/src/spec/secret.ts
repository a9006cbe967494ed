import { MachineError, type SecretData, userDataKey } from "@millwright/core";
import * as z from "zod";

/** Keys of the class secret; of several, the first that exists counts, also when it is empty (machine-controller-manager-provider-azure, `pkg/azure/api/providerspec.go`). */
const secretKeys = {
  clientId: ["clientID", "azureClientId"],
  clientSecret: ["clientSecret", "azureClientSecret"],
  subscriptionId: ["subscriptionID", "azureSubscriptionId"],
  tenantId: ["tenantID", "azureTenantId"],
  tokenFile: "workloadIdentityTokenFile",
} as const;

const alternatives = (keys: readonly string[]): string => keys.map((key) => `"${key}"`).join(" or ");

/** The value of the first key that exists, without space around it. */
const valueIn = (secret: Readonly<Record<string, string>>, keys: readonly string[]): string =>
  (secret[keys.find((key) => Object.hasOwn(secret, key)) ?? ""] ?? "").trim();

/** Schema of the class secret: an application with a secret, or with a token of a workload identity. User data in both cases. */
export const azureSecretSchema = z.record(z.string(), z.string()).superRefine((secret, check) => {
  const complain = (key: string, message: string): void => check.addIssue({ code: "custom", path: [key], message });
  const demand = (keys: readonly string[]): void => {
    if (valueIn(secret, keys) !== "") return;
    complain(keys[0] ?? "", `is required${keys.length > 1 ? ` (${alternatives(keys)})` : ""} and must not be empty`);
  };
  demand([userDataKey]);
  demand(secretKeys.clientId);
  demand(secretKeys.subscriptionId);
  demand(secretKeys.tenantId);
  const hasTokenFile = valueIn(secret, [secretKeys.tokenFile]) !== "";
  const hasSecret = valueIn(secret, secretKeys.clientSecret) !== "";
  if (hasTokenFile && hasSecret) complain(secretKeys.tokenFile, `must not be given beside "clientSecret"`);
  if (!hasTokenFile && !hasSecret) {
    complain("clientSecret", `is required (${alternatives([...secretKeys.clientSecret, secretKeys.tokenFile])})`);
  }
});

/** How to get tokens. Holds secret values: for the SDK only. */
export interface AzureCredentials {
  readonly clientId: string;
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly proof:
    | { readonly kind: "secret"; readonly secret: string }
    | { readonly kind: "workloadIdentity"; readonly tokenFile: string };
}

/**
 * Reads the credentials of a class secret.
 *
 * @throws MachineError Unauthenticated, naming the key that is missing
 */
export function readCredentials(secret: SecretData): AzureCredentials {
  const find = (keys: readonly string[]): string =>
    secret[keys.find((key) => Object.hasOwn(secret, key)) ?? ""]?.reveal().trim() ?? "";
  const demand = (keys: readonly string[]): string => {
    const value = find(keys);
    if (value !== "") return value;
    throw new MachineError("Unauthenticated", `the class secret has no key ${alternatives(keys)}, or it is empty`);
  };
  const tokenFile = find([secretKeys.tokenFile]);
  return {
    clientId: demand(secretKeys.clientId),
    tenantId: demand(secretKeys.tenantId),
    subscriptionId: demand(secretKeys.subscriptionId),
    proof:
      tokenFile === ""
        ? { kind: "secret", secret: demand(secretKeys.clientSecret) }
        : { kind: "workloadIdentity", tokenFile },
  };
}
