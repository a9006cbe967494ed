import type { MachineErrorCode } from "@millwright/core";
import { failureWithoutAnswer, fieldOf } from "@millwright/core/driver-kit";

/** The server that hands out credentials. */
export interface CredentialServer {
  /** For messages: `STS`. */
  readonly name: string;
  /** What names the file of the token that it takes, for messages. */
  readonly tokenFile?: string;
  /** What it means when the SDK reports no more than that there are no credentials. */
  readonly unexplained: "Unavailable" | "Unauthenticated";
}

/** There are no credentials: the server that hands them out failed, not EC2. */
export class CredentialsFailure extends Error {
  override readonly name = "CredentialsFailure";
  readonly server: CredentialServer;

  constructor(server: CredentialServer, cause: unknown) {
    super(`no credentials from ${server.name}`, { cause });
    this.server = server;
  }
}

/**
 * What a server of credentials failed of, where its answer is not in the protocol of AWS or did not come: code of the contract and text. The SDK leaves few traces of the servers of containers and instances:
 * `Code` (also an undefined one) of a rejection by a container's, `statusCode` of one by IMDS, and that IMDSv2 gave no token.
 */
export function credentialsFailureText({ server, cause }: CredentialsFailure): readonly [MachineErrorCode, string] {
  const code = fieldOf(cause, "code");
  const errorName = fieldOf(cause, "name");
  const message = cause instanceof Error ? cause.message : String(cause);
  const { name, tokenFile, unexplained } = server;
  if (tokenFile !== undefined && (code === "ENOENT" || code === "EACCES" || code === "EISDIR")) {
    return ["Unauthenticated", `the token file that ${tokenFile} names cannot be read (${code})`];
  }
  if (errorName === "InstanceMetadataV1FallbackError") {
    return ["Unavailable", `${name} is unreachable, or its hop limit is 1 and a pod needs 2`];
  }
  if (fieldOf(cause, "statusCode") === 404) {
    return ["Unauthenticated", `${name} has no credentials: attach an instance profile with a role`];
  }
  if (errorName === "CredentialsProviderError") {
    const isRejected = typeof cause === "object" && cause !== null && "Code" in cause;
    if (isRejected || unexplained === "Unauthenticated") {
      return ["Unauthenticated", `${name} gave no credentials: ${message}`];
    }
    return ["Unavailable", `${name} is unreachable or failed: ${message}`];
  }
  return failureWithoutAnswer(cause, name) ?? ["Unavailable", `${name} sent an unreadable response: ${message}`];
}
