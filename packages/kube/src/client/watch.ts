import { type Clock, isRecord, type Random } from "@millwright/base";
import { startDeadline } from "../deadline.ts";
import { readLines } from "../json/json-lines.ts";
import { parseJson } from "../json/parse-json.ts";
import { messageOf } from "../log.ts";
import { isApiObject } from "../objects/kube-object.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { createSlices } from "../slices.ts";
import { ApiError, apiErrorFromStatus, isApiError } from "./api-error.ts";
import type { LocalReason } from "./api-error.ts";
import { textWithoutManagedFields } from "./managed-fields.ts";
import type { Transport, TransportStream } from "./transport.ts";

/**
 * One event of a watch. A `BOOKMARK` carries only a resource version. An `ERROR` of the server does not appear: it is
 * thrown as {@link ApiError}.
 */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: KubeObject;
}

/**
 * How long a watch may be silent before its connection is closed, milliseconds: half-open connections are detected
 * within 60 s, including the time to reconnect. TCP keep-alive detects a dead host sooner (see
 * connection/connections.ts), but not a dead process, nor a load balancer that keeps the connection.
 *
 * A kube-apiserver sends bookmarks every minute only, but also two seconds before it ends a watch: see {@link watchTimeoutSeconds}.
 */
export const defaultInactivityMs = 50_000;

/** How long before that a watch without events is to end at the latest, seconds: its last bookmark may be late. */
const marginSeconds = 4;

/** etcd rejects objects beyond 1.5 MiB; JSON escapes can make six bytes of one. */
const maxLineBytes = 16 * 1024 * 1024;

/** What {@link openWatch} needs. */
export interface WatchStreamOptions {
  readonly transport: Pick<Transport, "stream">;
  readonly path: string;
  readonly clock: Clock;
  readonly inactivityMs: number;
  /** See `WatchOptions`. Default false. */
  readonly omitManagedFields?: boolean | undefined;
  /** Sent along. Default none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** See `WatchOptions`. */
  readonly onAnswer?: (() => void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * A duration after which the server is to end a watch, so chosen that they do not all end together.
 *
 * A watch that only continues another one ends before its silence could mean a dead connection. The server then ends it in good order, with
 * a bookmark, and the next one takes its connection, without a TLS handshake. One that begins with a list may take five to ten minutes.
 */
export function watchTimeoutSeconds(
  { inactivityMs, isList }: { readonly inactivityMs: number; readonly isList: boolean },
  random: Random,
): number {
  if (isList) return 300 + Math.floor(random.next() * 300);
  const latest = inactivityMs / 1_000 - marginSeconds;
  return Math.max(1, Math.floor(latest - random.next() * (latest / 8)));
}

/**
 * Reads one watch on a connection of its own. Ends without an error when the server ends the watch in good order; the
 * caller then continues from the last resource version it saw.
 *
 * @throws ApiError for an error status, an ERROR event (410: list afresh), a broken connection, silence, an unreadable or
 *   truncated line. In all these cases the events before are valid.
 * @throws the reason of `signal` when that aborts
 */
export async function* openWatch(options: WatchStreamOptions): AsyncGenerator<WatchEvent> {
  const { clock, path, signal } = options;
  const toText = (line: Buffer): string =>
    options.omitManagedFields === true ? textWithoutManagedFields(line, ["object"]) : line.toString("utf8");
  function readLine(line: Buffer): WatchEvent {
    try {
      return readEvent(toText(line), path);
    } catch (error) {
      if (isApiError(error)) throw error;
      throw failure("MalformedResponse", path, messageOf(error), error);
    }
  }

  signal.throwIfAborted();
  const idle = startDeadline(clock, options.inactivityMs, signal);
  // A socket that always has more to read would keep the event loop for itself.
  const slices = createSlices({ clock, signal });
  let stream: TransportStream | undefined;
  idle.signal.addEventListener("abort", () => stream?.close(), { once: true });
  try {
    stream = await options.transport.stream({
      method: "GET",
      path,
      headers: options.headers ?? {},
      signal: idle.signal,
    });
    idle.signal.throwIfAborted();
    options.onAnswer?.();
    for await (const line of readLines(notingLife(stream.chunks, idle.extend), maxLineBytes)) {
      yield readLine(line);
      const pause = slices.pauseIfDue();
      if (pause !== undefined) await pause;
      // A slow consumer is not a silent server.
      idle.extend();
    }
    idle.signal.throwIfAborted();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (idle.expired()) {
      throw new ApiError({
        status: 0,
        reason: "WatchSilent",
        message: `GET ${path}: the watch was silent for ${options.inactivityMs} ms`,
        cause: error,
      });
    }
    if (isApiError(error)) throw error;
    throw failure("WatchInterrupted", path, messageOf(error), error);
  } finally {
    idle.clear();
    stream?.close();
  }
}

async function* notingLife(chunks: AsyncIterable<Uint8Array>, extend: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    extend();
    yield chunk;
  }
}

function parseLine(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    // The parser's message would quote the line, which may be about a Secret.
    throw new Error("a line is not JSON");
  }
}

function readEvent(line: string, path: string): WatchEvent {
  const event = parseLine(line);
  if (!isRecord(event)) throw new Error("a line is not a watch event");
  const { type, object } = event;
  switch (type) {
    case "ERROR":
      throw apiErrorFromStatus(isRecord(object) ? object : {}, { request: `GET ${path}` });
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      if (!isApiObject(object)) throw new Error(`a ${type} event carries no object`);
      return { type, object };
    default:
      throw new Error(`a watch event has the unknown type ${JSON.stringify(type)}`);
  }
}

function failure(reason: LocalReason, path: string, what: string, cause: unknown): ApiError {
  return new ApiError({ status: 0, reason, message: `GET ${path}: the watch was interrupted: ${what}`, cause });
}
