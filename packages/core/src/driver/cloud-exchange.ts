/** One request of a driver over HTTP and its answer, as they went over the wire, secrets included. Each attempt is one. */
export interface CloudExchange {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Empty for none. */
  readonly requestBody: string;
  /** Absent when no answer came. */
  readonly status?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
  /** Code of what a request without an answer failed with, such as `ECONNRESET`. */
  readonly error?: string;
  /** From when it was sent until it ended. */
  readonly seconds: number;
}
