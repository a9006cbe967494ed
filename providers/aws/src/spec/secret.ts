import { MachineError, type SecretData, userDataKey } from "@millwright/core";
import * as z from "zod";

/** Keys of the class secret; of several, the first that exists counts, also when it is empty (provider-drivers.md 1.2). */
const secretKeys = {
  accessKeyId: ["providerAccessKeyId", "accessKeyID"],
  secretAccessKey: ["providerSecretAccessKey", "secretAccessKey"],
  tokenFile: "workloadIdentityTokenFile",
  roleArn: "roleARN",
} as const;

const alternatives = (keys: readonly string[]): string => keys.map((key) => `"${key}"`).join(" or ");

/** Schema of the class secret: static keys, or a web identity when the key of its token file exists. User data in both cases. */
export const awsSecretSchema = z.record(z.string(), z.string()).superRefine((secret, check) => {
  const isGiven = (key: string | undefined): boolean => key !== undefined && (secret[key] ?? "").trim() !== "";
  const demand = (keys: readonly string[]): void => {
    if (isGiven(keys.find((key) => key in secret))) return;
    const message = `is required${keys.length > 1 ? ` (${alternatives(keys)})` : ""} and must not be empty`;
    check.addIssue({ code: "custom", path: [keys[0] ?? ""], message });
  };
  demand([userDataKey]);
  if (secretKeys.tokenFile in secret) {
    demand([secretKeys.tokenFile]);
    demand([secretKeys.roleArn]);
  } else {
    demand(secretKeys.accessKeyId);
    demand(secretKeys.secretAccessKey);
  }
});

/** How to sign requests. Holds secret values: for the SDK only. */
export type AwsCredentials =
  | { readonly kind: "static"; readonly accessKeyId: string; readonly secretAccessKey: string }
  | { readonly kind: "webIdentity"; readonly tokenFile: string; readonly roleArn: string };

/**
 * Reads the credentials of a class secret.
 *
 * @throws MachineError Unauthenticated, naming the key that is missing
 */
export function readCredentials(secret: SecretData): AwsCredentials {
  const valueOf = (...keys: readonly string[]): string => {
    const value = secret[keys.find((key) => Object.hasOwn(secret, key)) ?? ""]?.reveal().trim() ?? "";
    if (value !== "") return value;
    throw new MachineError("Unauthenticated", `the class secret has no key ${alternatives(keys)}, or it is empty`);
  };
  if (Object.hasOwn(secret, secretKeys.tokenFile)) {
    return { kind: "webIdentity", tokenFile: valueOf(secretKeys.tokenFile), roleArn: valueOf(secretKeys.roleArn) };
  }
  return {
    kind: "static",
    accessKeyId: valueOf(...secretKeys.accessKeyId),
    secretAccessKey: valueOf(...secretKeys.secretAccessKey),
  };
}
