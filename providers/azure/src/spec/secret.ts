import { MachineError, type SecretData, userDataKey } from "@millwright/core";
import * as z from "zod";

/** Keys of the class secret; of several names the first with a value counts. */
const secretKeys = {
  clientId: ["clientID", "azureClientId"],
  clientSecret: ["clientSecret", "azureClientSecret"],
  subscriptionId: ["subscriptionID", "azureSubscriptionId"],
  tenantId: ["tenantID", "azureTenantId"],
  tokenFile: ["workloadIdentityTokenFile"],
  defaultChain: ["useDefaultCredentialChain"],
} as const;

type Names = readonly [string, ...string[]];

const alternatives = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(" or ");

/** How an application proves to Entra ID who it is. */
export type Proof =
  | { readonly kind: "secret"; readonly secret: string }
  | { readonly kind: "workloadIdentity"; readonly tokenFile: string }
  /** What the environment of the process provides: a workload identity or a managed identity. */
  | { readonly kind: "environment" };

/** How to get tokens. Holds secret values: for the SDK only. */
export interface AzureCredentials {
  /** Empty only with the proof `environment`, which provides it. */
  readonly clientId: string;
  /** @see clientId */
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly proof: Proof;
}

interface Problem {
  readonly key: string;
  readonly message: string;
}

/** Reads a secret that is given as texts: the credentials, and what is wrong with them. */
function read(text: (key: string) => string | undefined): {
  readonly credentials: AzureCredentials;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const value = (names: Names): string =>
    names.map((name) => text(name)?.trim() ?? "").find((found) => found !== "") ?? "";
  const required = (names: Names): string => {
    const found = value(names);
    const which = names.length > 1 ? ` (${alternatives(names)})` : "";
    if (found === "") problems.push({ key: names[0], message: `is required${which} and must not be empty` });
    return found;
  };

  const chainKey = secretKeys.defaultChain[0];
  const chain = value(secretKeys.defaultChain);
  if (!["", "true", "false"].includes(chain)) problems.push({ key: chainKey, message: 'must be "true" or "false"' });
  const subscriptionId = required(secretKeys.subscriptionId);
  const clientSecret = value(secretKeys.clientSecret);
  const tokenFile = value(secretKeys.tokenFile);
  if (chain === "true") {
    for (const names of [secretKeys.clientSecret, secretKeys.tokenFile]) {
      const given = names.find((name) => value([name]) !== "");
      if (given !== undefined) problems.push({ key: given, message: `excludes "${chainKey}": "true"` });
    }
    const clientId = value(secretKeys.clientId);
    const tenantId = value(secretKeys.tenantId);
    return { credentials: { clientId, tenantId, subscriptionId, proof: { kind: "environment" } }, problems };
  }
  const clientId = required(secretKeys.clientId);
  const tenantId = required(secretKeys.tenantId);
  if (tokenFile !== "" && clientSecret !== "") {
    problems.push({ key: secretKeys.tokenFile[0], message: 'must not be given beside "clientSecret"' });
  }
  if (tokenFile === "" && clientSecret === "") {
    const keys = alternatives([...secretKeys.clientSecret, ...secretKeys.tokenFile]);
    problems.push({
      key: secretKeys.clientSecret[0],
      message: `is required (${keys}), unless "${chainKey}" is "true" and the controller's environment provides an identity`,
    });
  }
  const proof: Proof =
    tokenFile === "" ? { kind: "secret", secret: clientSecret } : { kind: "workloadIdentity", tokenFile };
  return { credentials: { clientId, tenantId, subscriptionId, proof }, problems };
}

/** Schema of the class secret: an application with a secret or a token of a workload identity, or the identity of the environment. User data in every case. */
export const azureSecretSchema = z.record(z.string(), z.string()).superRefine((secret, check) => {
  const addIssue = ({ key, message }: Problem): void => check.addIssue({ code: "custom", path: [key], message });
  if ((secret[userDataKey] ?? "").trim() === "") {
    addIssue({ key: userDataKey, message: "is required and must not be empty" });
  }
  read((key) => (Object.hasOwn(secret, key) ? secret[key] : undefined)).problems.forEach(addIssue);
});

/**
 * Reads the credentials of a class secret.
 *
 * @throws MachineError Unauthenticated, naming the key that is missing or wrong
 */
export function readCredentials(secret: SecretData): AzureCredentials {
  const { credentials, problems } = read((key) => (Object.hasOwn(secret, key) ? secret[key]?.reveal() : undefined));
  const [problem] = problems;
  if (problem === undefined) return credentials;
  throw new MachineError("Unauthenticated", `key "${problem.key}" of the class secret ${problem.message}`);
}
