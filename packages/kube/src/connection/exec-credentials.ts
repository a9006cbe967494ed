import { type Clock, ConfigError, isRecord, orAborted, systemClock } from "@millwright/base";
import { parseJson } from "../json/parse-json.ts";
import { firstLine, messageOf } from "../log.ts";
import type { Credentials } from "./cluster-config.ts";
import type { RequestHeaders } from "./impersonation.ts";
import { readProgramOutput } from "./program-output.ts";

/** An `exec` entry of a kubeconfig. Source: client.authentication.k8s.io/v1, `ExecConfig`. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Shown to users who do not have the program. */
  readonly installHint?: string | undefined;
  /** Passed to the program in `KUBERNETES_EXEC_INFO` with `provideClusterInfo`. */
  readonly cluster?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of {@link createExecCredentials}. */
export interface ExecCredentialsOptions {
  readonly plugin: ExecPlugin;
  /** Start of each message. */
  readonly where: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sent with each request in addition to the credentials of the program. */
  readonly headers?: RequestHeaders;
  readonly clock?: Clock | undefined;
  /** Timeout of the program, milliseconds. Default 1 min: it must not be interactive. */
  readonly timeoutMs?: number | undefined;
}

interface Answer {
  readonly credentials: Credentials;
  /** On the wall clock, milliseconds; Infinity without an expiration. */
  readonly expiresMs: number;
  /** From here on a new credential is fetched while this one is still in use. */
  readonly renewMs: number;
}

/** A fifth of its life before it expires, but not more than this. */
const longestEarlinessMs = 5 * 60_000;
/** Delay after a failed renewal. */
const retryMs = 10_000;

/**
 * Credentials from a program (kubeconfig `exec`), by the protocol of client-go.
 *
 * The program runs once for concurrent requests. Its credential is kept until it expires, and renewed before that in the
 * background, so that no request waits; after a failed renewal the old credential is used as long as it is valid. A credential that
 * the server rejected (401) is renewed at once.
 *
 * @throws ConfigError (from the returned function) in one line, which never contains the standard output of the program
 */
export function createExecCredentials(
  options: ExecCredentialsOptions,
): (signal?: AbortSignal, rejected?: Credentials) => Promise<Credentials> {
  const clock = options.clock ?? systemClock;
  let current: Answer | undefined;
  let underway: Promise<Answer> | undefined;
  let notBeforeMs = -Infinity;

  const fetch = (): Promise<Answer> => {
    underway ??= runPlugin(options, clock)
      .then((answer) => (current = answer))
      .finally(() => (underway = undefined));
    return underway;
  };

  return async (signal, rejected) => {
    const nowMs = clock.now().getTime();
    const isUsable = current !== undefined && nowMs < current.expiresMs && current.credentials !== rejected;
    if (current === undefined || !isUsable) {
      return (await orAborted(signal, fetch())).credentials;
    }
    if (nowMs >= current.renewMs && clock.monotonicMs() >= notBeforeMs) {
      notBeforeMs = clock.monotonicMs() + retryMs;
      void fetch().catch(() => {});
    }
    return current.credentials;
  };
}

async function runPlugin(options: ExecCredentialsOptions, clock: Clock): Promise<Answer> {
  const { plugin, where } = options;
  try {
    return readAnswer(parseAnswer(await run(options, clock)), options, clock.now().getTime());
  } catch (cause) {
    const missing = isRecord(cause) || cause instanceof Error ? "code" in cause && cause["code"] === "ENOENT" : false;
    const hint = missing && plugin.installHint !== undefined ? `; ${firstLine(plugin.installHint)}` : "";
    const text = firstLine(messageOf(cause).trim());
    throw new ConfigError(`${where}: the credential plugin failed: ${text}${hint}`, { cause });
  }
}

function run({ plugin, env, timeoutMs = 60_000 }: ExecCredentialsOptions, clock: Clock): Promise<string> {
  const { command, args, cluster } = plugin;
  const info = {
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(cluster === undefined ? {} : { cluster }) },
  };
  const variables = { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  return readProgramOutput({ command, args, env: variables, timeoutMs }, clock);
}

function parseAnswer(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // The parser's message would quote the output, which is a secret.
    throw new Error("the output is not JSON; expected an ExecCredential");
  }
}

function readAnswer(answer: unknown, options: ExecCredentialsOptions, nowMs: number): Answer {
  const status = isRecord(answer) ? answer["status"] : undefined;
  if (!isRecord(answer) || answer["kind"] !== "ExecCredential" || !isRecord(status)) {
    throw new Error("the output is not an ExecCredential with a status");
  }
  if (answer["apiVersion"] !== options.plugin.apiVersion) {
    throw new Error(
      `the output has apiVersion ${JSON.stringify(answer["apiVersion"])}; expected ${JSON.stringify(options.plugin.apiVersion)}`,
    );
  }
  const token = textOf(status["token"]);
  const cert = textOf(status["clientCertificateData"]);
  const key = textOf(status["clientKeyData"]);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error("clientCertificateData and clientKeyData must be set together");
  }
  if (token === undefined && cert === undefined) throw new Error("the status has neither a token nor a certificate");
  const until = textOf(status["expirationTimestamp"]);
  const expiresMs = until === undefined ? Infinity : Date.parse(until);
  if (Number.isNaN(expiresMs)) throw new Error("status.expirationTimestamp must be an RFC 3339 time");
  const earlinessMs = Math.min(longestEarlinessMs, (expiresMs - nowMs) / 5);
  return {
    credentials: {
      headers: { ...options.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
    expiresMs,
    renewMs: expiresMs === Infinity ? Infinity : expiresMs - earlinessMs,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
