import type { IncomingHttpHeaders } from "node:http";

/** One request as an emulator sees it. */
export interface EmulatorRequest {
  readonly method: string;
  /** Path and query; the host is the server's own. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Aborted when the caller has gone or the server stops. */
  readonly signal: AbortSignal;
}

/** One answer. */
export interface EmulatorReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request is about: by this it is found in the log, met by faults and counted by the throttle. */
export interface RequestSubject {
  /** Name of the operation in the cloud's own words, such as `RunInstances`. */
  readonly operation: string;
  /** Names and ids that it mentions. */
  readonly subjects: readonly string[];
  /** Whose budget of requests it draws on. Default: everybody shares one. */
  readonly account?: string;
}

/** A request, and the answer to it. */
export interface Exchange {
  /** As in {@link RequestSubject}. */
  readonly operation: string;
  readonly request: EmulatorRequest;
  /** What the emulator itself answered; undefined where a fault left no answer, or put another one in its place. */
  readonly reply: EmulatorReply | undefined;
}

/** A refusal, before it is put into the form of the cloud's protocol. */
export interface Refusal {
  /** The cloud's own code; what is not given follows from it. */
  readonly code: string;
  readonly status?: number;
  readonly message?: string;
  /** Seconds for a `Retry-After` header. */
  readonly retryAfterS?: number;
}

/**
 * A cloud behind the server: it reads requests and answers in its protocol. The server around it does what all clouds have in common: the log, latency,
 * throttling, faults and lost connections.
 */
export interface Emulator {
  identify(request: EmulatorRequest): RequestSubject;
  /**
   * Does what is asked. What it throws becomes status 500 and fails the test that looks at `failures`: an emulator refuses by an answer. A call that waits (a
   * long poll) has to end when the request's signal aborts.
   */
  answer(request: EmulatorRequest): EmulatorReply | Promise<EmulatorReply>;
  /** The answer of this cloud that carries a refusal of an operation. */
  refuse(refusal: Refusal, operation: string): EmulatorReply;
  /** What this cloud says to who asks too often. */
  readonly throttled: Refusal;
  /**
   * Compares an exchange with what the vendor publishes about its API, such as the model that its SDK ships: a sentence for each difference. Called before the answer is sent. Each difference is
   * kept in `failures` of the server once, and so fails the test that caused it.
   */
  findDifferences?(exchange: Exchange): readonly string[];
}
