import type { EmulatorRequest, RequestSubject } from "./emulator.ts";

/** How a request ended: a status of HTTP, or without an answer. */
export type RequestEnd = number | "reset" | "hang" | "truncated" | "stalled" | "gone";

/** One request in the log. */
export interface LoggedRequest extends RequestSubject {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: EmulatorRequest["headers"];
  readonly at: Date;
  /** Requests that were under way when it came, itself included. */
  readonly inFlight: number;
  /** Undefined while it is under way. `gone`: the caller left first. */
  readonly end: RequestEnd | undefined;
}

/** What was asked of a server. */
export interface RequestLog {
  /** All of them in the order in which they came, until it is cleared; the newest 100 000. */
  readonly requests: readonly LoggedRequest[];
  /** How many requests of an operation came; of all without one. */
  count(operation?: string): number;
  /** The most requests that were under way at once. */
  readonly peakInFlight: number;
  /** Connections that callers have opened. */
  readonly connections: number;
  clear(): void;
}

/** The side of the log that the server writes. */
export interface RequestLogWriter extends RequestLog {
  begin(subject: RequestSubject, request: EmulatorRequest, at: Date): (end: RequestEnd) => void;
  connected(): void;
}

const KEPT = 100_000;

/** Creates an empty log. */
export function createRequestLog(): RequestLogWriter {
  let requests: LoggedRequest[] = [];
  let inFlight = 0;
  let peakInFlight = 0;
  let connections = 0;
  return {
    get requests() {
      return requests;
    },
    get peakInFlight() {
      return peakInFlight;
    },
    get connections() {
      return connections;
    },
    count: (operation) =>
      operation === undefined ? requests.length : requests.filter((entry) => entry.operation === operation).length,
    clear() {
      requests = [];
      peakInFlight = inFlight;
    },
    connected: () => void connections++,
    begin(subject, { method, url, body, headers }, at) {
      inFlight++;
      peakInFlight = Math.max(peakInFlight, inFlight);
      const entry: { -readonly [key in keyof LoggedRequest]: LoggedRequest[key] } = {
        ...subject,
        method,
        path: url.pathname + url.search,
        body,
        headers,
        at,
        inFlight,
        end: undefined,
      };
      requests.push(entry);
      if (requests.length > KEPT) requests.shift();
      return (end) => {
        if (entry.end !== undefined) return;
        entry.end = end;
        inFlight--;
      };
    },
  };
}
