import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Clock, MachineError } from "@millwright/core";
import { createBatch, fieldOf } from "@millwright/core/driver-kit";
import type { Environment } from "@millwright/core/egress";
import type { GcpCredentials } from "../spec/secret.ts";
import { tokenOfFile } from "./credentials-file.ts";
import type { EgressFetch } from "./egress-fetch.ts";
import { createMetadataServer } from "./metadata-server.ts";
import { askService } from "./send-request.ts";

const scope = "https://www.googleapis.com/auth/cloud-platform";
/** What an assertion is good for, seconds: Google takes an hour at most. */
const assertionS = 3_600;
/** A token is renewed when this much of its life is left, milliseconds, or a quarter of it. */
const renewBeforeMs = 5 * 60_000;
const windowMs = 5;

/** Access tokens of one credential, kept until shortly before they expire. */
export interface TokenSource {
  /** @throws MachineError Unauthenticated when the credentials cannot be used; otherwise as `sendRequest` */
  get(signal: AbortSignal): Promise<string>;
  /** Forgets a token that was rejected: the next call gets another one. */
  forget(token: string): void;
}

/** Options of {@link createTokenSource}. */
export interface TokenSourceOptions {
  readonly clock: Clock;
  readonly fetch: EgressFetch;
  /** Environment variables with the location of credentials. */
  readonly env: Environment;
  readonly timeoutMs: number;
  /** Address of all services, for tests. Default: Google's own. */
  readonly endpoint?: string;
  /** Reads the token of a workload identity. Default: from the file system. */
  readonly readTokenFile?: (path: string) => Promise<string>;
}

interface Token {
  readonly value: string;
  readonly renewAtMs: number;
}

/** Creates the source of tokens of a credential. Asks when the first one is needed. */
export function createTokenSource(credentials: GcpCredentials, options: TokenSourceOptions): TokenSource {
  const { clock, fetch, timeoutMs, endpoint, env } = options;
  let token: Token | undefined;

  /** The services are at one address in tests. */
  const at = (url: string): string => {
    if (endpoint === undefined) return url;
    const { pathname } = new URL(url);
    return new URL(pathname, endpoint).href;
  };

  const post = (url: string, body: string, headers: Headers, signal: AbortSignal): Promise<unknown> =>
    askService(
      `Google's token service ${new URL(url).hostname}`,
      { url: at(url), method: "POST", headers, body },
      { fetch, clock, signal, timeoutMs },
    );

  const postForm = (url: string, form: Readonly<Record<string, string>>, signal: AbortSignal): Promise<unknown> =>
    post(
      url,
      new URLSearchParams(form).toString(),
      new Headers({ "content-type": "application/x-www-form-urlencoded" }),
      signal,
    );

  const remember = (value: unknown, lifeS: unknown): string => {
    if (typeof value !== "string" || value === "") {
      throw new MachineError("Unavailable", "Google's token service returned no token");
    }
    const lifeMs = (typeof lifeS === "number" && lifeS > 0 ? lifeS : 60) * 1_000;
    token = { value, renewAtMs: clock.monotonicMs() + lifeMs - Math.min(renewBeforeMs, lifeMs / 4) };
    return value;
  };

  const forServiceAccount = async (
    account: GcpCredentials & { readonly kind: "serviceAccount" },
    signal: AbortSignal,
  ): Promise<string> => {
    const answer = await postForm(
      account.tokenUri,
      { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: assertionOf(account, clock) },
      signal,
    );
    return remember(fieldOf(answer, "access_token"), fieldOf(answer, "expires_in"));
  };

  const forExternalAccount = async (
    account: GcpCredentials & { readonly kind: "externalAccount" },
    signal: AbortSignal,
  ): Promise<string> => {
    const subject = await readSubjectToken(account.tokenFile, options.readTokenFile);
    const answer = await postForm(
      account.tokenUrl,
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        audience: account.audience,
        scope,
        requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
        subject_token: subject,
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      },
      signal,
    );
    const federated = fieldOf(answer, "access_token");
    if (account.impersonationUrl === undefined) return remember(federated, fieldOf(answer, "expires_in"));
    const headers = new Headers({ "content-type": "application/json", authorization: `Bearer ${String(federated)}` });
    const body = JSON.stringify({ scope: [scope], lifetime: "3600s" });
    const impersonated = await post(account.impersonationUrl, body, headers, signal);
    const expireTime = Date.parse(String(fieldOf(impersonated, "expireTime")));
    return remember(fieldOf(impersonated, "accessToken"), (expireTime - clock.now().getTime()) / 1_000);
  };

  const forEnvironment = async (signal: AbortSignal): Promise<string> => {
    const hasFile = (env["GOOGLE_APPLICATION_CREDENTIALS"] ?? "") !== "";
    const { value, lifeS } = hasFile
      ? await tokenOfFile(scope, fetch, clock, signal)
      : await createMetadataServer(clock, env).token(signal);
    return remember(value, lifeS);
  };

  const fetchToken = (signal: AbortSignal): Promise<string> => {
    switch (credentials.kind) {
      case "serviceAccount":
        return forServiceAccount(credentials, signal);
      case "externalAccount":
        return forExternalAccount(credentials, signal);
      case "environment":
        return forEnvironment(signal);
    }
  };

  // Calls that start together ask once.
  const ask = createBatch<string>({
    maxKeys: Number.POSITIVE_INFINITY,
    windowMs,
    ask: async (keys, signal) => {
      const value = await fetchToken(signal);
      return new Map(keys.map((key) => [key, value]));
    },
  });

  return {
    async get(signal) {
      if (token !== undefined && clock.monotonicMs() < token.renewAtMs) return token.value;
      return (await ask("token", { clock, signal })) ?? "";
    },
    forget(value) {
      if (token?.value === value) token = undefined;
    },
  };
}

async function readSubjectToken(
  path: string,
  read: (path: string) => Promise<string> = (file) => readFile(file, "utf8"),
): Promise<string> {
  let text: string;
  try {
    text = (await read(path)).trim();
  } catch (cause) {
    const code = fieldOf(cause, "code");
    throw new MachineError(
      "Unauthenticated",
      `the token file of the workload identity, ${path}, cannot be read (${typeof code === "string" ? code : "unknown"})`,
      { cause },
    );
  }
  if (text === "")
    throw new MachineError("Unauthenticated", `the token file of the workload identity, ${path}, is empty`);
  return text;
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A signed statement of who asks (RFC 7523). */
function assertionOf(account: GcpCredentials & { readonly kind: "serviceAccount" }, clock: Clock): string {
  const { clientEmail, privateKey, privateKeyId, tokenUri } = account;
  let key: KeyObject;
  try {
    key = createPrivateKey(privateKey);
  } catch (cause) {
    throw new MachineError(
      "Unauthenticated",
      'field "private_key" of the service account in the class secret is not a private key',
      {
        cause,
      },
    );
  }
  const issuedAtS = Math.floor(clock.now().getTime() / 1_000);
  const header = { alg: "RS256", typ: "JWT", ...(privateKeyId === "" ? {} : { kid: privateKeyId }) };
  const claims = { iss: clientEmail, scope, aud: tokenUri, iat: issuedAtS, exp: issuedAtS + assertionS };
  const unsigned = `${base64url(header)}.${base64url(claims)}`;
  return `${unsigned}.${createSign("RSA-SHA256").update(unsigned).sign(key, "base64url")}`;
}
