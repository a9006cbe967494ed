import { MachineError, type SecretData, userDataKey } from "@millwright/core";
import * as z from "zod";

/** Keys of the class secret; of several names the first with a value counts. */
const secretKeys = {
  // The published example of MCM's driver has `accessKeyId` (kubernetes/secret.yaml), its code `accessKeyID` (pkg/aws/apis).
  accessKeyId: ["providerAccessKeyId", "accessKeyID", "accessKeyId"],
  secretAccessKey: ["providerSecretAccessKey", "secretAccessKey"],
  tokenFile: ["workloadIdentityTokenFile"],
  roleArn: ["roleARN"],
  defaultChain: ["useDefaultCredentialChain"],
} as const;

type Names = readonly [string, ...string[]];

const alternatives = (names: Names): string => names.map((name) => `"${name}"`).join(" or ");

/** How to sign requests. Holds secret values: for the SDK only. */
export type AwsCredentials =
  | { readonly kind: "static"; readonly accessKeyId: string; readonly secretAccessKey: string }
  | { readonly kind: "webIdentity"; readonly tokenFile: string; readonly roleArn: string }
  /** What the environment of the process provides. */
  | { readonly kind: "environment" };

interface Problem {
  readonly key: string;
  readonly message: string;
}

/** Reads a secret that is given as texts: the credentials, and what is wrong with them. */
function read(text: (key: string) => string | undefined): {
  readonly credentials: AwsCredentials;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const value = (names: Names): string =>
    names.map((name) => text(name)?.trim() ?? "").find((found) => found !== "") ?? "";
  const required = (names: Names, instead = ""): string => {
    const found = value(names);
    const which = names.length > 1 ? ` (${alternatives(names)})` : "";
    if (found === "") problems.push({ key: names[0], message: `is required${which} and must not be empty${instead}` });
    return found;
  };

  const chain = value(secretKeys.defaultChain);
  const chainKey = secretKeys.defaultChain[0];
  if (!["", "true", "false"].includes(chain)) problems.push({ key: chainKey, message: 'must be "true" or "false"' });
  if (chain === "true") {
    for (const names of [secretKeys.accessKeyId, secretKeys.secretAccessKey, secretKeys.tokenFile]) {
      const given = names.find((name) => value([name]) !== "");
      if (given !== undefined) problems.push({ key: given, message: `excludes "${chainKey}": "true"` });
    }
    return { credentials: { kind: "environment" }, problems };
  }
  if (text(secretKeys.tokenFile[0]) !== undefined) {
    const tokenFile = required(secretKeys.tokenFile);
    return { credentials: { kind: "webIdentity", tokenFile, roleArn: required(secretKeys.roleArn) }, problems };
  }
  const instead = `, unless "${chainKey}" is "true" and the controller's environment provides credentials`;
  const accessKeyId = required(secretKeys.accessKeyId, instead);
  const secretAccessKey = required(secretKeys.secretAccessKey, instead);
  return { credentials: { kind: "static", accessKeyId, secretAccessKey }, problems };
}

/** Schema of the class secret: static keys, a web identity, or the credentials of the environment. User data in every case. */
export const awsSecretSchema = z.record(z.string(), z.string()).superRefine((secret, check) => {
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
export function readCredentials(secret: SecretData): AwsCredentials {
  const { credentials, problems } = read((key) => (Object.hasOwn(secret, key) ? secret[key]?.reveal() : undefined));
  const [problem] = problems;
  if (problem === undefined) return credentials;
  throw new MachineError("Unauthenticated", `key "${problem.key}" of the class secret ${problem.message}`);
}
