import type { EmulatorReply, EmulatorRequest } from "../server/index.ts";
import { json } from "./call.ts";
import { ArmRefusal } from "./refusal.ts";
import type { ArmWorld } from "./world.ts";

const tokenPath = /^\/([^/]+)\/oauth2\/v2\.0\/token$/;
const configurationPath = /^\/([^/]+)\/v2\.0\/\.well-known\/openid-configuration$/;

/** The Entra ID operation of a request; undefined for a request to ARM. */
export function readLogin(
  pathname: string,
): { readonly kind: "token" | "configuration"; readonly tenant: string } | undefined {
  const [, asksToken] = tokenPath.exec(pathname) ?? [];
  if (asksToken !== undefined) return { kind: "token", tenant: asksToken };
  const [, asksConfiguration] = configurationPath.exec(pathname) ?? [];
  return asksConfiguration === undefined ? undefined : { kind: "configuration", tenant: asksConfiguration };
}

const loginError = (world: ArmWorld, error: string, number: number, text: string): EmulatorReply =>
  json(401, {
    error,
    error_description: `AADSTS${number}: ${text} Trace ID: ${world.random.uuid()} Correlation ID: ${world.random.uuid()} Timestamp: ${world.now().toISOString()}`,
    error_codes: [number],
    timestamp: world.now().toISOString(),
    trace_id: world.random.uuid(),
    correlation_id: world.random.uuid(),
  });

/** Entra ID: its discovery document, and tokens for applications. */
export function answerLogin(world: ArmWorld, request: EmulatorRequest, origin: string): EmulatorReply {
  const login = readLogin(request.url.pathname);
  const tenant = login?.tenant ?? "";
  if (login?.kind === "configuration") {
    return json(200, {
      token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
      authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
      issuer: `${origin}/${tenant}/v2.0`,
      jwks_uri: `${origin}/${tenant}/discovery/v2.0/keys`,
    });
  }
  const form = new URLSearchParams(request.body);
  const clientId = form.get("client_id") ?? "";
  const application = world.applications?.get(clientId);
  if (world.applications !== undefined) {
    if (application === undefined || application.tenant !== tenant) {
      return loginError(
        world,
        "unauthorized_client",
        700016,
        `Application with identifier '${clientId}' was not found.`,
      );
    }
    const assertion = form.get("client_assertion");
    if (assertion !== null && assertion !== application.assertion) {
      return loginError(world, "invalid_client", 700024, "Client assertion is not within its valid time range.");
    }
    if (assertion === null && form.get("client_secret") !== application.secret) {
      return loginError(world, "invalid_client", 7000215, "Invalid client secret provided.");
    }
  }
  const { tokenMs = 3_600_000 } = world.options;
  const token = `token-${world.nextSequence()}-${world.random.hex(8)}`;
  world.tokens.set(token, { clientId, expiresAtMs: world.nowMs() + tokenMs });
  const expiresIn = Math.max(1, Math.floor(tokenMs / 1_000));
  return json(200, { token_type: "Bearer", expires_in: expiresIn, ext_expires_in: expiresIn, access_token: token });
}

/** The application that sends a request; empty where credentials are not checked. */
export const callerOf = (world: ArmWorld, request: Pick<EmulatorRequest, "headers">): string =>
  world.tokens.get((request.headers.authorization ?? "").replace(/^Bearer /, ""))?.clientId ?? "";

/** Rejects a request without a valid token. */
export function authenticate(world: ArmWorld, request: EmulatorRequest, subscription: string): void {
  const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined)
    throw new ArmRefusal("AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.", 401);
  if (world.applications === undefined) return;
  const issued = world.tokens.get(token);
  if (issued === undefined) throw new ArmRefusal("InvalidAuthenticationToken", "The access token is invalid.");
  if (issued.expiresAtMs < world.nowMs()) {
    throw new ArmRefusal(
      "ExpiredAuthenticationToken",
      "The access token expiry is earlier than the current time.",
      401,
    );
  }
  const allowed = world.applications.get(issued.clientId)?.subscriptions;
  if (subscription === "" || allowed === undefined || allowed.includes(subscription)) return;
  throw new ArmRefusal(
    "AuthorizationFailed",
    `The client '${issued.clientId}' does not have authorization to perform the action over scope '/subscriptions/${subscription}'.`,
  );
}
