import type { Clock, ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { isApiError } from "../client/api-error.ts";
import type { Scope } from "../client/call-options.ts";
import type { WatchEvent } from "../client/watch.ts";
import { startDeadline } from "../deadline.ts";
import type { ApiObject } from "../objects/kube-object.ts";

/** The server ignored the request for a streaming list. */
export class StreamingIgnored extends Error {
  override readonly name = "StreamingIgnored";
}

/** The streaming list did not come in time: the server, or a proxy, is slow at the moment, or ignored the request. */
export class StreamingSilent extends Error {
  override readonly name = "StreamingSilent";
}

/** Marks the bookmark with which the list ends and the watch begins. Written by kube-apiserver (KEP-3157). */
const initialEventsEnd = "k8s.io/initial-events-end";

/** A streaming list starts within some seconds, and never pauses for long until its end. */
const silentListMs = 10_000;

/** What {@link streamList} needs. */
export interface StreamingListOptions {
  readonly api: Pick<ApiClient, "watch">;
  readonly type: ResourceType;
  readonly scope: Scope;
  /** Of the watch that follows. */
  readonly inactivityMs: number | undefined;
  /** When the server is to end it. */
  readonly timeoutSeconds: number;
  readonly omitManagedFields: boolean;
  readonly metadataOnly: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A watch that starts with all objects. Read the list first, then the events. */
export interface StreamingList<T extends ApiObject> {
  /**
   * Passes each object of the list to `add`.
   *
   * @returns the version of the list
   * @throws StreamingIgnored when the response is not a streaming list: changes before its end, or a plain bookmark
   * @throws StreamingSilent when there is silence for 10 s before its end
   * @throws the errors of `ApiClient.watch`
   */
  readonly readList: (add: (object: T) => void) => Promise<string | undefined>;
  /** Whether an object of the list came. */
  readonly hasBegun: () => boolean;
  /** The events after the version of the list. */
  readonly events: AsyncIterable<WatchEvent>;
  /** Must be called in the end, also after an error. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a streaming list: `sendInitialEvents=true`, `resourceVersionMatch=NotOlderThan` and no version, which means the most
 * recent one. Objects arrive one by one, so that a list of any size neither blocks the event loop nor fills the memory.
 */
export function streamList<T extends ApiObject>(options: StreamingListOptions): StreamingList<T> {
  const { api, type, scope, inactivityMs, timeoutSeconds, omitManagedFields, metadataOnly, clock, signal } = options;
  const silence = startDeadline(clock, silentListMs, signal);
  const request = {
    ...scope,
    resourceVersion: "",
    resourceVersionMatch: "NotOlderThan",
    sendInitialEvents: true,
    inactivityMs,
    timeoutSeconds,
    omitManagedFields,
    metadataOnly,
  } as const;
  const stream = api.watch(type, request, silence.signal)[Symbol.asyncIterator]();

  let hasBegun = false;

  async function readList(add: (object: T) => void): Promise<string | undefined> {
    try {
      for (;;) {
        const next = await stream.next();
        silence.extend();
        if (next.done === true) throw new StreamingIgnored("the stream ended before the list did");
        const { type: kind, object } = next.value;
        if (kind === "BOOKMARK" && object.metadata.annotations?.[initialEventsEnd] === "true") {
          silence.stop();
          return object.metadata.resourceVersion;
        }
        if (kind !== "ADDED") throw new StreamingIgnored(`a ${kind} event came before the end of the list`);
        hasBegun = true;
        // The server holds the objects of this type to its schema; see ApiClient.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        add(object as ApiObject as T);
      }
    } catch (error) {
      if (silence.expired()) throw new StreamingSilent(`no end of the list, and nothing for ${silentListMs} ms`);
      throw error;
    }
  }

  async function close(): Promise<void> {
    silence.clear();
    await stream.return?.(undefined);
  }

  async function* events(): AsyncGenerator<WatchEvent> {
    for (;;) {
      const next = await stream.next();
      if (next.done === true) return;
      yield next.value;
    }
  }

  return { readList, hasBegun: () => hasBegun, events: events(), close };
}

/** Whether a server does not support streaming lists: older ones forbid `resourceVersionMatch` for a watch. */
export function isStreamingRejected(error: unknown): boolean {
  return isApiError(error) && [400, 405, 422, 501].includes(error.status);
}
