import type { IncomingMessage } from "node:http";
import type { Clock, Secret } from "@millwright/core";
import { ConfigError, isMachineErrorCode, systemClock } from "@millwright/core";
import { isAnswerTooLong, mostAnswerBytes, readAnswer } from "@millwright/core/driver-kit";
import * as z from "zod";
import { CloudError, type CloudErrorCode } from "./cloud-error.ts";
import type { CallOptions, MockCloud } from "./cloud.ts";
import { endpointRule, isCloudEndpoint } from "./endpoint.ts";
import { faultSchema } from "./fault.ts";
import { sendRequest } from "./send-request.ts";
import { vmSchema } from "./vm.ts";

/** Options of {@link createCloudClient}. */
export interface CloudClientOptions {
  /** Address of the cloud server: an http URL on this machine. */
  readonly endpoint: string;
  /** The token that the server asks for. */
  readonly token?: Secret;
  readonly clock?: Clock;
  /** How long a call may take, in milliseconds, besides the time that it asks the server to wait; 10 000 by default. */
  readonly timeoutMs?: number;
}

const vmReply = z.object({ vm: vmSchema });
const vmsReply = z.object({ vms: z.array(vmSchema) });
const changesReply = z.object({
  cursor: z.object({ epoch: z.string(), revision: z.number() }),
  reset: z.boolean(),
  vms: z.array(vmSchema),
});
const countsReply = z.object({
  counts: z.object({
    create: z.number(),
    get: z.number(),
    list: z.number(),
    delete: z.number(),
    tag: z.number(),
    power: z.number(),
    userData: z.number(),
    changes: z.number(),
  }),
});
const errorReply = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    retryAfterMs: z.number().optional(),
  }),
});

interface Call extends CallOptions {
  readonly body?: unknown;
  readonly extraMs?: number;
}

/**
 * The simulated cloud over HTTP. Holds no connection state of its own. A server that is unreachable, hangs or answers nonsense gives `Unavailable`,
 * one that takes too long `DeadlineExceeded`.
 *
 * Throws `ConfigError` for an endpoint that is not on this machine.
 */
export function createCloudClient(options: CloudClientOptions): MockCloud {
  const { clock = systemClock, timeoutMs = 10_000, token } = options;
  const endpoint = options.endpoint.trim();
  if (!isCloudEndpoint(endpoint)) throw new ConfigError(`endpoint of the simulated cloud ${endpointRule}`);
  const base = new URL(endpoint);

  const call = async <T>(schema: z.ZodType<T>, method: string, path: string, given: Call = {}): Promise<T> => {
    const deadline = new AbortController();
    const timer = clock.setTimer(timeoutMs + (given.extraMs ?? 0), () => deadline.abort());
    const signals = given.signal === undefined ? [deadline.signal] : [deadline.signal, given.signal];
    try {
      const response = await sendRequest(new URL(path, base), {
        method,
        signal: AbortSignal.any(signals),
        headers: {
          accept: "application/json",
          ...(given.body === undefined ? {} : { "content-type": "application/json" }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
        },
        body: given.body === undefined ? undefined : JSON.stringify(given.body),
      });
      const text = await readAnswer(response);
      return readReply(schema, response, text);
    } catch (error) {
      if (error instanceof CloudError) throw error;
      given.signal?.throwIfAborted();
      if (deadline.signal.aborted) {
        throw new CloudError(
          "DeadlineExceeded",
          `the simulated cloud did not answer ${method} ${path.split("?")[0] ?? ""} in time`,
          { cause: error },
        );
      }
      if (isAnswerTooLong(error)) {
        const text = `the simulated cloud sent a response of more than ${mostAnswerBytes} bytes`;
        throw new CloudError("Unavailable", text, { cause: error });
      }
      throw new CloudError("Unavailable", `the simulated cloud at ${base.host} is unreachable: ${reasonOf(error)}`, {
        cause: error,
      });
    } finally {
      timer.cancel();
    }
  };

  return {
    createVm: async (input, given) => {
      const { userData, ...rest } = input;
      const body = {
        ...rest,
        ...(userData === undefined ? {} : { userData: Buffer.from(userData).toString("base64") }),
      };
      return (await call(vmReply, "POST", "/v1/vms", { ...given, body })).vm;
    },
    getVm: async (ref, given) => (await call(vmReply, "GET", vmPath(ref), given)).vm,
    listVms: async (filter, given) => {
      const query =
        filter === undefined ? "" : `?${new URLSearchParams({ filter: JSON.stringify(filter) }).toString()}`;
      return (await call(vmsReply, "GET", `/v1/vms${query}`, given)).vms;
    },
    deleteVm: async (ref, given) => (await call(vmReply, "DELETE", vmPath(ref), given)).vm,
    tagVm: async (ref, tags, given) =>
      (await call(vmReply, "PATCH", vmPath(ref, "/tags"), { ...given, body: { tags } })).vm,
    powerVm: async (ref, action, given) =>
      (await call(vmReply, "POST", vmPath(ref, "/power"), { ...given, body: { action } })).vm,
    readUserData: async (ref, given) => {
      const reply = await call(z.object({ userData: z.base64() }), "GET", vmPath(ref, "/user-data"), given);
      return Uint8Array.from(Buffer.from(reply.userData, "base64"));
    },
    changes: (since, given = {}) => {
      const { waitMs = 0, ...rest } = given;
      const query = new URLSearchParams({ waitMs: String(waitMs) });
      if (since.epoch !== undefined) query.set("epoch", since.epoch);
      if (since.revision !== undefined) query.set("revision", String(since.revision));
      return call(changesReply, "GET", `/v1/changes?${query.toString()}`, { ...rest, extraMs: waitMs });
    },
    addFault: async (rule, given) =>
      (await call(z.object({ fault: faultSchema }), "POST", "/v1/faults", { ...given, body: rule })).fault,
    listFaults: async (given) =>
      (await call(z.object({ faults: z.array(faultSchema) }), "GET", "/v1/faults", given)).faults,
    clearFaults: async (given) => {
      await call(z.object({}), "DELETE", "/v1/faults", given);
    },
    countCalls: async (given) => (await call(countsReply, "GET", "/v1/calls", given)).counts,
  };
}

function vmPath(ref: string, rest = ""): string {
  return `/v1/vms/${encodeURIComponent(ref)}${rest}`;
}

function readReply<T>(schema: z.ZodType<T>, { statusCode = 0, headers }: IncomingMessage, text: string): T {
  if (statusCode < 200 || statusCode > 299) throw rejection(statusCode, text, headers["retry-after"]);
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new CloudError("Unavailable", "the simulated cloud sent a reply that cannot be read");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Codes of statuses that a proxy may answer with as well. */
const codeOfStatus: Readonly<Record<number, CloudErrorCode>> = { 401: "Unauthenticated", 403: "PermissionDenied" };

function rejection(status: number, text: string, retryAfter: string | undefined): CloudError {
  const parsed = errorReply.safeParse(parseJson(text));
  const code = parsed.data?.error.code;
  if (parsed.data === undefined || !isMachineErrorCode(code) || code === "OK") {
    const seconds = Number(retryAfter ?? Number.NaN);
    return new CloudError(
      codeOfStatus[status] ?? "Unavailable",
      `the simulated cloud answered with HTTP status ${status}`,
      Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {},
    );
  }
  const { message, retryAfterMs } = parsed.data.error;
  return new CloudError(code, message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  const code: unknown = typeof cause === "object" && cause !== null ? Reflect.get(cause, "code") : undefined;
  if (typeof code === "string") return code;
  return cause instanceof Error ? cause.message : String(cause);
}
