import { MachineError, type SecretData, userDataKey } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import * as z from "zod";

/** Keys of the class secret that hold the credentials (machine-controller-manager-provider-gcp, `pkg/api/v1alpha1/provider_spec.go`); the first with a value counts. */
const credentialKeys = ["serviceAccountJSON", "serviceaccount.json", "credentialsConfig"] as const;
const projectKey = "projectID";
const chainKey = "useDefaultCredentialChain";

const alternatives = credentialKeys.map((key) => `"${key}"`).join(", ");

/** Where Gardener mounts the token of a workload identity. */
const identityTokenFile = "/var/run/secrets/gardener.cloud/workload-identity/token";
const stsUrl = "https://sts.googleapis.com/v1/token";
const impersonationPattern =
  /^https:\/\/iamcredentials\.googleapis\.com\/v1\/projects\/-\/serviceAccounts\/[^/:?#]+:generateAccessToken$/;
const defaultUniverse = "googleapis.com";
const defaultTokenUri = "https://oauth2.googleapis.com/token";

/** Whether a text is the id of a project; those of a domain have it before a colon. */
export const isProjectId = (text: string): boolean => /^([a-z0-9.-]+:)?[a-z0-9-]+$/.test(text);

/** How to get access tokens. Holds secret values: for the token source only. */
export type GcpCredentials = {
  /** Empty with `environment` where the secret names none: the metadata server does. */
  readonly project: string;
  /** The cloud: `googleapis.com`, or the domain of a sovereign one. */
  readonly universe: string;
} & (
  | {
      readonly kind: "serviceAccount";
      readonly clientEmail: string;
      readonly privateKey: string;
      readonly privateKeyId: string;
      readonly tokenUri: string;
    }
  | {
      readonly kind: "externalAccount";
      readonly audience: string;
      readonly tokenFile: string;
      readonly tokenUrl: string;
      /** Absent: the token of STS is used as it is. */
      readonly impersonationUrl?: string;
    }
  /** The file of `GOOGLE_APPLICATION_CREDENTIALS`, or the metadata server. */
  | { readonly kind: "environment" }
);

/**
 * The only fields that credentials may have: what else there is could make another library read files, run programs or talk to other hosts. MCM's driver rejects them
 * too.
 */
const serviceAccountFields: ReadonlySet<string> = new Set([
  "type",
  "project_id",
  "client_email",
  "universe_domain",
  "auth_uri",
  "auth_provider_x509_cert_url",
  "client_x509_cert_url",
  "client_id",
  "private_key_id",
  "private_key",
  "token_uri",
]);

/** A problem of credentials; names the field, never a value. */
class CredentialsProblem extends Error {}

type ReadText = (key: string) => string | undefined;

/** What the environment of the process provides; the project may be left to it, too. */
function readEnvironment(text: ReadText): GcpCredentials {
  const given = credentialKeys.find((name) => (text(name)?.trim() ?? "") !== "");
  if (given !== undefined) throw new CredentialsProblem(`key "${given}" and "${chainKey}" exclude each other`);
  const project = text(projectKey)?.trim() ?? "";
  if (project !== "" && !isProjectId(project)) {
    throw new CredentialsProblem(`key "${projectKey}" must be the id of a project`);
  }
  return { kind: "environment", project, universe: defaultUniverse };
}

/** Reads a secret that is given as texts. Throws {@link CredentialsProblem}. */
function read(text: ReadText): GcpCredentials {
  const chain = text(chainKey)?.trim() ?? "";
  if (!["", "true", "false"].includes(chain))
    throw new CredentialsProblem(`key "${chainKey}" must be "true" or "false"`);
  if (chain === "true") return readEnvironment(text);
  const key = credentialKeys.find((name) => (text(name)?.trim() ?? "") !== "");
  const json = key === undefined ? "" : (text(key)?.trim() ?? "");
  if (key === undefined) {
    throw new CredentialsProblem(
      `has none of the keys ${alternatives} with a value, nor "${chainKey}": "true" for the credentials of the controller's environment`,
    );
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new CredentialsProblem(`key "${key}" must be the JSON of a service account or workload identity`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new CredentialsProblem(`key "${key}" must be a JSON object`);
  }
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const at = (field: string): string => `field "${field}" of key "${key}"`;
  const optional = (field: string): string | undefined => {
    const value = fields.get(field);
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") throw new CredentialsProblem(`${at(field)} must be a text`);
    return value.trim();
  };
  const demand = (field: string): string => {
    const value = optional(field);
    if (value === undefined || value === "") throw new CredentialsProblem(`${at(field)} is required`);
    return value;
  };
  const only = (field: string, isAllowed: (value: string) => boolean, expected: string): string => {
    const value = demand(field);
    if (!isAllowed(value)) throw new CredentialsProblem(`${at(field)} must be ${expected}`);
    return value;
  };
  const project = optional("project_id") ?? text(projectKey)?.trim() ?? "";
  if (project === "") throw new CredentialsProblem(`${at("project_id")} is required, or key "${projectKey}"`);
  if (!isProjectId(project)) throw new CredentialsProblem(`${at("project_id")} must be the id of a project`);
  const universe = optional("universe_domain") ?? defaultUniverse;
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(universe)) {
    throw new CredentialsProblem(`${at("universe_domain")} must be a domain`);
  }
  const type = demand("type");
  if (type === "service_account") {
    for (const field of fields.keys()) {
      if (!serviceAccountFields.has(field)) throw new CredentialsProblem(`${at(field)} is not allowed`);
    }
    const tokenUri = optional("token_uri") ?? defaultTokenUri;
    if (!isTokenUri(tokenUri, universe)) {
      throw new CredentialsProblem(`${at("token_uri")} must be an https address of Google`);
    }
    return {
      kind: "serviceAccount",
      project,
      universe,
      clientEmail: demand("client_email"),
      privateKey: demand("private_key"),
      privateKeyId: optional("private_key_id") ?? "",
      tokenUri,
    };
  }
  if (type !== "external_account") {
    throw new CredentialsProblem(`${at("type")} must be service_account or external_account`);
  }
  only("subject_token_type", (value) => value === "urn:ietf:params:oauth:token-type:jwt", "that of a JWT");
  const impersonationUrl = optional("service_account_impersonation_url");
  if (impersonationUrl !== undefined && !impersonationPattern.test(impersonationUrl)) {
    throw new CredentialsProblem(`${at("service_account_impersonation_url")} must be an address of IAM credentials`);
  }
  const file = fieldOf(fields.get("credential_source"), "file");
  if (typeof file !== "string" || file.trim() !== identityTokenFile) {
    throw new CredentialsProblem(`${at("credential_source.file")} must be ${identityTokenFile}`);
  }
  return {
    kind: "externalAccount",
    project,
    universe,
    audience: demand("audience"),
    tokenFile: identityTokenFile,
    tokenUrl: only("token_url", (value) => value === stsUrl, stsUrl),
    ...(impersonationUrl === undefined ? {} : { impersonationUrl }),
  };
}

/** The signed assertion goes there: to Google only. */
function isTokenUri(text: string, universe: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port, username } = new URL(text);
  const isGoogle =
    hostname === "accounts.google.com" ||
    [universe, "googleapis.com"].some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
  return protocol === "https:" && port === "" && username === "" && isGoogle;
}

/** Schema of the class secret: credentials of a service account or workload identity, and user data, which may be empty. */
export const gcpSecretSchema = z.record(z.string(), z.string()).superRefine((secret, check) => {
  const addIssue = (path: string, message: string): void => check.addIssue({ code: "custom", path: [path], message });
  if (!Object.hasOwn(secret, userDataKey)) addIssue(userDataKey, "is required; it may be empty");
  try {
    read((key) => (Object.hasOwn(secret, key) ? secret[key] : undefined));
  } catch (error) {
    if (!(error instanceof CredentialsProblem)) throw error;
    const key = [...credentialKeys, chainKey].find((name) => (secret[name] ?? "").trim() !== "");
    addIssue(key ?? credentialKeys[0], error.message);
  }
});

/**
 * Reads the credentials of a class secret.
 *
 * @throws MachineError Unauthenticated, naming what is wrong with them
 */
export function readCredentials(secret: SecretData): GcpCredentials {
  try {
    return read((key) => (Object.hasOwn(secret, key) ? secret[key]?.reveal() : undefined));
  } catch (error) {
    if (!(error instanceof CredentialsProblem)) throw error;
    throw new MachineError("Unauthenticated", `the class secret: ${error.message}`);
  }
}
