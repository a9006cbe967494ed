import {
  createEmulatorServer,
  type Emulator,
  type EmulatorReply,
  type EmulatorRequest,
  type EmulatorServer,
} from "../server/index.ts";
import { json } from "./call.ts";
import type { ArmWorld } from "./world.ts";

/** An identity of the VM of the endpoint. */
export interface ManagedIdentity {
  readonly clientId: string;
  /** Whether it is the default identity. Default false. */
  readonly isDefault?: boolean;
}

/** Lifetime of tokens of managed identities, milliseconds. */
const tokenMs = 86_400_000;

const refusal = (status: number, error: string, description: string): EmulatorReply =>
  json(status, { error, error_description: description });

/**
 * The endpoint that issues tokens on a VM (Azure Instance Metadata Service, `/metadata/identity/oauth2/token`), behind a server without TLS. Clients find it by the variable
 * AZURE_POD_IDENTITY_AUTHORITY_HOST. Its tokens are valid for the emulated ARM of the same world.
 */
export function createInstanceMetadata(world: ArmWorld, identities: readonly ManagedIdentity[]): EmulatorServer {
  return createEmulatorServer(emulatorOf(world, identities));
}

function emulatorOf(world: ArmWorld, identities: readonly ManagedIdentity[]): Emulator {
  const answer = ({ method, url, headers }: EmulatorRequest): EmulatorReply => {
    // The SDK adds a slash.
    if (method !== "GET" || url.pathname.replace(/\/$/, "") !== "/metadata/identity/oauth2/token") {
      return refusal(404, "not_found", "Not found");
    }
    if (headers["metadata"] !== "true") {
      return refusal(400, "invalid_request", "Required metadata header not specified");
    }
    const resource = url.searchParams.get("resource") ?? "";
    if (resource === "") return refusal(400, "invalid_request", "Required query parameter 'resource' is missing");
    const clientId = url.searchParams.get("client_id");
    const identity = identities.find((one) => (clientId === null ? one.isDefault === true : one.clientId === clientId));
    if (identity === undefined) return refusal(400, "invalid_request", "Identity not found");
    const token = `token-${world.nextSequence()}-${world.random.hex(8)}`;
    world.tokens.set(token, { clientId: identity.clientId, expiresAtMs: world.nowMs() + tokenMs });
    const nowS = Math.floor(world.now().getTime() / 1_000);
    const expiresInS = tokenMs / 1_000;
    return json(200, {
      access_token: token,
      client_id: identity.clientId,
      expires_in: String(expiresInS),
      expires_on: String(nowS + expiresInS),
      ext_expires_in: String(expiresInS),
      not_before: String(nowS),
      resource,
      token_type: "Bearer",
    });
  };
  return {
    identify: ({ url }) => ({
      operation: "ManagedIdentityToken",
      subjects: [url.searchParams.get("client_id") ?? ""].filter((name) => name !== ""),
    }),
    answer,
    refuse: ({ code, status, message }) => refusal(status ?? 400, code, message ?? ""),
    throttled: { code: "too_many_requests", status: 429, message: "IMDS is throttled" },
  };
}
