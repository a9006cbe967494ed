import type { IncomingHttpHeaders } from "node:http";

/** One request to an emulator. */
export interface EmulatorRequest {
  readonly method: string;
  /** Path and query; the host is the server's own. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
}

/** One response. */
export interface EmulatorReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The subject of a request, for the log, faults and rate limits. */
export interface RequestSubject {
  /** The cloud's name of the operation, such as `RunInstances`. */
  readonly operation: string;
  /** Names and IDs in it. */
  readonly subjects: readonly string[];
  /** The account of its rate limit. Default: a common one. */
  readonly account?: string;
}

/** A request and its response. */
export interface Exchange {
  /** As in {@link RequestSubject}. */
  readonly operation: string;
  readonly request: EmulatorRequest;
  /** The emulator's own response; undefined where a fault dropped or replaced it. */
  readonly reply: EmulatorReply | undefined;
}

/** An error response, before it is written in the cloud's format. */
export interface Refusal {
  /** The cloud's error code, from which defaults follow. */
  readonly code: string;
  readonly status?: number;
  readonly message?: string;
  /** Seconds for a `Retry-After` header. */
  readonly retryAfterS?: number;
}

/**
 * A cloud behind the server: it reads requests and responds in its protocol. The server has the common parts of all clouds: the log, latency,
 * throttling, faults and lost connections.
 */
export interface Emulator {
  identify(request: EmulatorRequest): RequestSubject;
  /**
   * Executes a request. An exception becomes status 500 and fails tests that check `failures`: an emulator returns errors as responses. A call that waits (a
   * long poll) has to end when the request's signal aborts.
   */
  answer(request: EmulatorRequest): EmulatorReply | Promise<EmulatorReply>;
  /** The response of an error in the format of this cloud. */
  refuse(refusal: Refusal, operation: string): EmulatorReply;
  /** The error of this cloud for throttled requests. */
  readonly throttled: Refusal;
  /**
   * Compares an exchange with the vendor's model of its API, such as that in its SDK: a sentence for each difference. Called before the response is sent. Each difference is
   * recorded once in `failures` of the server, and so fails the test that caused it.
   */
  findDifferences?(exchange: Exchange): readonly string[];
}
