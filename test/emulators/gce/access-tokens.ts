import { createVerify } from "node:crypto";
import type { EmulatorReply, EmulatorRequest } from "../server/index.ts";
import { GceRefusal, jsonReply } from "./refusal.ts";
import type { GceWorld } from "./world.ts";

/** Paths that issue tokens: OAuth, STS and IAM credentials at one address. */
export const tokenPaths = {
  oauth: "/token",
  sts: "/v1/token",
  impersonation: /^\/v1\/projects\/-\/serviceAccounts\/([^/:]+):generateAccessToken$/,
} as const;

const refuse = (status: number, error: string, description: string): EmulatorReply =>
  jsonReply(status, { error, error_description: description });

/** Issues a token. Tests of single requests use it, too. */
export function issueToken(world: GceWorld, user: string): { readonly token: string; readonly expiresInS: number } {
  const token = `ya29.${world.random.hex(16)}`;
  const tokenMs = world.options.tokenMs ?? 3_600_000;
  world.accessTokens.set(token, { user, expiresAtMs: world.nowMs() + tokenMs });
  return { token, expiresInS: Math.floor(tokenMs / 1_000) };
}

/**
 * The caller of a request.
 *
 * @throws GceRefusal when the token is missing, unknown or expired
 */
export function authenticate({ headers }: Pick<EmulatorRequest, "headers">, world: GceWorld): string {
  const [scheme, token = ""] = (headers.authorization ?? "").split(" ");
  const known = world.accessTokens.get(token);
  if (scheme !== "Bearer" || known === undefined || known.expiresAtMs <= world.nowMs()) {
    throw new GceRefusal(
      "authError",
      "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    );
  }
  return known.user;
}

/** `POST /token` with a signed assertion (RFC 7523). */
export function exchangeAssertion({ body, url }: EmulatorRequest, world: GceWorld): EmulatorReply {
  const form = new URLSearchParams(body);
  if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") {
    return refuse(400, "unsupported_grant_type", "Invalid grant_type");
  }
  const [header = "", payload = "", signature = ""] = (form.get("assertion") ?? "").split(".");
  const claims = readJson(payload);
  const issuer = String(claims["iss"]);
  const nowS = world.clock.now().getTime() / 1_000;
  if (readJson(header)["alg"] !== "RS256" || signature === "" || !String(claims["aud"]).endsWith(url.pathname)) {
    return refuse(400, "invalid_grant", "Invalid JWT");
  }
  if (Number(claims["exp"]) <= nowS || Number(claims["iat"]) > nowS + 300 || Number(claims["exp"]) > nowS + 3_900) {
    return refuse(
      400,
      "invalid_grant",
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.",
    );
  }
  if (String(claims["scope"]) !== "https://www.googleapis.com/auth/cloud-platform") {
    return refuse(400, "invalid_scope", "Invalid OAuth scope or ID token audience provided.");
  }
  if (world.serviceAccounts !== undefined) {
    const key = world.serviceAccounts.get(issuer);
    if (key === undefined) return refuse(400, "invalid_grant", "Invalid grant: account not found");
    const isSigned = createVerify("RSA-SHA256").update(`${header}.${payload}`).verify(key, signature, "base64url");
    if (!isSigned) return refuse(400, "invalid_grant", "Invalid JWT Signature.");
  }
  const { token, expiresInS } = issueToken(world, issuer);
  return jsonReply(200, { access_token: token, expires_in: expiresInS, token_type: "Bearer" });
}

/** `POST /v1/token` of STS with a token of a workload identity (RFC 8693). */
export function exchangeIdentity({ body }: EmulatorRequest, world: GceWorld): EmulatorReply {
  const form = new URLSearchParams(body);
  const audience = form.get("audience") ?? "";
  if (
    form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:token-exchange" ||
    form.get("subject_token_type") !== "urn:ietf:params:oauth:token-type:jwt" ||
    form.get("requested_token_type") !== "urn:ietf:params:oauth:token-type:access_token"
  ) {
    return refuse(400, "invalid_request", "Invalid value for a parameter of the exchange");
  }
  const expected = world.workloadIdentities.get(audience);
  if (expected === undefined)
    return refuse(400, "invalid_target", "The target service indicated by the audience parameter is invalid.");
  if (form.get("subject_token") !== expected) {
    return refuse(400, "invalid_grant", "The given credential is rejected by the attribute condition or has expired.");
  }
  const { token, expiresInS } = issueToken(world, `principal:${audience}`);
  return jsonReply(200, {
    access_token: token,
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    token_type: "Bearer",
    expires_in: expiresInS,
  });
}

/** `generateAccessToken` of IAM credentials: a token of a service account for a caller who may impersonate it. */
export function impersonate(request: EmulatorRequest, world: GceWorld): EmulatorReply {
  authenticate(request, world);
  const account = decodeURIComponent(tokenPaths.impersonation.exec(request.url.pathname)?.[1] ?? "");
  const { token, expiresInS } = issueToken(world, account);
  return jsonReply(200, {
    accessToken: token,
    expireTime: new Date(world.clock.now().getTime() + expiresInS * 1_000).toISOString(),
  });
}

function readJson(part: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}
