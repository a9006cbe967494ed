import {
  createEmulatorServer,
  type Emulator,
  type EmulatorReply,
  type EmulatorRequest,
  type EmulatorServer,
  type EmulatorServerOptions,
} from "../server/index.ts";
import { type IssuedCredentials, issueCredentials } from "./issue-credentials.ts";
import type { Ec2World } from "./world.ts";

/** The credentials of the link-local servers of a node. A test may change them. */
export interface NodeIdentity {
  /** Role of the instance profile. Absent: the instance has none. */
  role?: string;
  /** Service account token that the Pod Identity agent accepts. Absent: it accepts none. */
  podToken?: string;
}

/** The credential servers of a node, at one address. */
export interface CredentialServer extends EmulatorServer {
  readonly identity: NodeIdentity;
}

const text = (status: number, body: string): EmulatorReply => ({
  status,
  headers: { "content-type": "text/plain" },
  body,
});

const json = (value: object): EmulatorReply => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

const fieldsOf = ({ accessKeyId, secretAccessKey, sessionToken, expiration }: IssuedCredentials): object => ({
  AccessKeyId: accessKeyId,
  SecretAccessKey: secretAccessKey,
  Token: sessionToken,
  Expiration: expiration,
});

const operations: Readonly<Record<string, string>> = {
  "/latest/api/token": "Token",
  "/latest/meta-data/iam/security-credentials/": "Role",
  "/v1/credentials": "PodIdentity",
};
const operationOf = ({ url }: EmulatorRequest): string => operations[url.pathname] ?? "Credentials";

/**
 * The instance metadata service, with its session tokens only (IMDSv2), and the EKS Pod Identity agent (`/v1/credentials`), for {@link createEmulatorServer}. Their credentials are valid for the EC2 of the same world.
 * Written from the EC2 user guide ("Retrieve security credentials from instance metadata") and the EKS one ("How EKS Pod Identity works").
 */
export function createCredentialServer(
  world: Ec2World,
  initial: NodeIdentity,
  options: EmulatorServerOptions = {},
): CredentialServer {
  const identity: NodeIdentity = { ...initial };
  const tokens = new Set<string>();

  const imds = (request: EmulatorRequest): EmulatorReply => {
    const { method, url, headers } = request;
    if (operationOf(request) === "Token") {
      if (method !== "PUT") return text(405, "Method Not Allowed");
      if (!/^\d+$/.test(String(headers["x-aws-ec2-metadata-token-ttl-seconds"]))) return text(400, "Bad Request");
      const token = world.random.hex(16);
      tokens.add(token);
      return text(200, token);
    }
    if (!tokens.has(String(headers["x-aws-ec2-metadata-token"]))) return text(401, "Unauthorized");
    const { role } = identity;
    if (role === undefined) return text(404, "Not Found");
    if (operationOf(request) === "Role") return text(200, role);
    if (!url.pathname.endsWith(`/${role}`)) return text(404, "Not Found");
    const LastUpdated = world.now().toISOString();
    return json({ Code: "Success", Type: "AWS-HMAC", LastUpdated, ...fieldsOf(issueCredentials(world)) });
  };

  const podIdentity = ({ headers }: EmulatorRequest): EmulatorReply =>
    identity.podToken !== undefined && headers.authorization === identity.podToken
      ? json({ AccountId: "123456789012", ...fieldsOf(issueCredentials(world)) })
      : text(400, "AccessDeniedException: the service account token is not valid");

  const emulator: Emulator = {
    identify: (request) => ({ operation: operationOf(request), subjects: [] }),
    answer: (request) => (operationOf(request) === "PodIdentity" ? podIdentity(request) : imds(request)),
    refuse: ({ status = 500, code }) => text(status, code),
    throttled: { code: "Too Many Requests", status: 429 },
  };
  return { ...createEmulatorServer(emulator, options), identity };
}
