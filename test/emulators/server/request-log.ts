import type { EmulatorRequest, RequestSubject } from "./emulator.ts";

/** The outcome of a request: an HTTP status, or no response. */
export type RequestEnd = number | "reset" | "hang" | "truncated" | "stalled" | "gone";

/** One request in the log. */
export interface LoggedRequest extends RequestSubject {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: EmulatorRequest["headers"];
  readonly at: Date;
  /** Requests in flight when it arrived, including itself. */
  readonly inFlight: number;
  /** Undefined while it is in flight. `gone`: the client disconnected. */
  readonly end: RequestEnd | undefined;
}

/** The requests to a server. */
export interface RequestLog {
  /** In the order of arrival, until it is cleared; the newest 100 000. */
  readonly requests: readonly LoggedRequest[];
  /** The number of requests of an operation, or of all. */
  count(operation?: string): number;
  /** The greatest number of requests in flight. */
  readonly peakInFlight: number;
  /** Connections that clients have opened. */
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
