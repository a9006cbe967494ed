import type { MachineErrorCode } from "@millwright/core";
import { failureWithoutAnswer, fieldOf } from "@millwright/core/driver-kit";

/** A token that could not be had. The cause is what the SDK threw. */
export class TokenFailure extends Error {
  override readonly name = "TokenFailure";
  /** Entra ID, or the endpoint that gives the machine its identity. */
  readonly source: "entra" | "managedIdentity";
  /** Host of Entra ID; empty for a managed identity. */
  readonly host: string;
  /** What the last request for the token failed of, where it got no answer: the SDK keeps it to itself. */
  readonly connectionFailure: unknown;

  constructor(source: "entra" | "managedIdentity", host: string, cause: unknown, connectionFailure: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.source = source;
    this.host = host;
    this.connectionFailure = connectionFailure;
  }
}

/** Whether something that was thrown is a {@link TokenFailure}; of another copy of this package, too. */
export const isTokenFailure = (error: unknown): error is TokenFailure =>
  error instanceof Error && error.name === "TokenFailure" && typeof fieldOf(error, "source") === "string";

/** Codes of Entra ID for failures of its own, which pass. */
const passing = new Set(["90033", "90024", "90025", "50196", "90012"]);

/** An error and its causes. They are few; a circle is not followed. */
function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let at = error; at !== undefined && at !== null && chain.length < 6; at = fieldOf(at, "cause")) chain.push(at);
  return chain;
}

const isFileFailure = (message: string): boolean =>
  /\b(ENOENT|EACCES|EISDIR)\b|No content on the file|Invalid file path/.test(message);

/** The code of the contract and the text for a token that could not be had. */
export function explainTokenFailure(failure: TokenFailure): readonly [MachineErrorCode, string] {
  const { message, source, host } = failure;
  const [, number] = /AADSTS(\d+)/.exec(message) ?? [];
  if (number !== undefined) {
    if (passing.has(number)) return ["Unavailable", `Entra ID issues no token for now (AADSTS${number})`];
    return [
      "Unauthenticated",
      `Entra ID issues no token: ${message}; check keys "clientID", "tenantID" and "clientSecret" or "workloadIdentityTokenFile" of the class secret, or the environment where it has "useDefaultCredentialChain"`,
    ];
  }
  if (source === "entra" && isFileFailure(message)) {
    return [
      "Unauthenticated",
      'the file that key "workloadIdentityTokenFile" of the class secret, or AZURE_FEDERATED_TOKEN_FILE, names cannot be read',
    ];
  }
  if (source === "managedIdentity" && /identity not found|invalid_request/i.test(message)) {
    return [
      "Unauthenticated",
      'the managed identity endpoint has no such identity: assign one to the VM or service that the controller runs on; key "clientID" of the class secret, or AZURE_CLIENT_ID, names one of several',
    ];
  }
  const server =
    source === "entra" ? `the token server of Entra ID (${host})` : "the managed identity endpoint of this machine";
  const remedy = source === "entra" ? "" : "; outside of Azure set AZURE_FEDERATED_TOKEN_FILE for a workload identity";
  if (source === "managedIdentity" && /IMDS endpoint, but it is not available|Network unreachable/.test(message)) {
    return ["Unavailable", `${server} is unreachable${remedy}`];
  }
  for (const error of [...chainOf(failure.connectionFailure), ...chainOf(failure)]) {
    const found = failureWithoutAnswer(error, server);
    // A fault of the SDK is not one of the driver.
    if (found !== undefined && found[0] !== "Internal") return [found[0], `${found[1]}${remedy}`];
  }
  return ["Unavailable", `${server} gave no token: ${message}`];
}
