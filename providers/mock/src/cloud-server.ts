import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { getBuiltinModule } from "node:process";
import { ConfigError, type Secret } from "@millwright/core";
import { CloudError, isCloudError } from "./cloud-error.ts";
import { handleCloudRequest } from "./cloud-routes.ts";
import type { MockCloud } from "./cloud.ts";

/** Options of {@link createCloudServer}. */
export interface CloudServerOptions {
  /** What callers must send as a bearer token, or a function that returns the present one; nothing by default. */
  readonly token?: Secret | (() => Secret);
}

/** A cloud that can be reached over HTTP. */
export interface CloudServer {
  /**
   * Begins to listen on the loopback address. Port 0, the default, takes a free one. Resolves to the address; rejects with `ConfigError` when the port is
   * taken.
   */
  listen(options?: { readonly port?: number }): Promise<{ readonly url: string }>;
  /** Ends calls that wait, closes all connections and resolves when nothing is left. */
  close(): Promise<void>;
}

const maxBodyBytes = 1024 * 1024;

const statusOf: Readonly<Record<string, number>> = {
  InvalidArgument: 400,
  Unauthenticated: 401,
  PermissionDenied: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Aborted: 409,
  FailedPrecondition: 412,
  ResourceExhausted: 429,
  Unimplemented: 501,
  Unavailable: 503,
  DeadlineExceeded: 504,
};

/** Puts a cloud behind an HTTP server; the README of the package describes the requests. */
export function createCloudServer(cloud: MockCloud, options: CloudServerOptions = {}): CloudServer {
  const closing = new AbortController();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      authorize(request, options.token);
      const body = await readBody(request);
      const signal = AbortSignal.any([gone.signal, closing.signal]);
      const url = new URL(request.url ?? "/", "http://cloud.invalid");
      send(response, 200, await handleCloudRequest(cloud, { method: request.method ?? "GET", url, body, signal }));
    } catch (error) {
      const failure = isCloudError(error) ? error : failureOf(error, closing.signal);
      const { code, message, retryAfterMs } = failure;
      if (retryAfterMs !== undefined) response.setHeader("retry-after", String(Math.ceil(retryAfterMs / 1000)));
      send(response, statusOf[code] ?? 500, {
        error: { code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
      });
    }
  };
  const server = getBuiltinModule("node:http").createServer((request, response) => {
    void answer(request, response);
  });

  return {
    listen: ({ port = 0 } = {}) =>
      new Promise((resolve, reject) => {
        server.once("error", (error: NodeJS.ErrnoException) => {
          const why =
            error.code === "EADDRINUSE"
              ? "is in use by another process; choose another one"
              : `cannot be used: ${error.message}`;
          reject(new ConfigError(`port ${port} for the simulated cloud ${why}`, { cause: error }));
        });
        server.listen(port, "127.0.0.1", () => {
          const address = server.address();
          const bound = typeof address === "object" && address !== null ? address.port : port;
          resolve({ url: `http://127.0.0.1:${bound}` });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeIdleConnections();
        // Answers that are under way get a turn to be sent.
        setImmediate(() => server.closeAllConnections());
      }),
  };
}

function failureOf(error: unknown, closing: AbortSignal): CloudError {
  if (closing.aborted) return new CloudError("Unavailable", "the simulated cloud is stopping");
  return new CloudError("Internal", error instanceof Error ? error.message : String(error));
}

function authorize(request: IncomingMessage, required: CloudServerOptions["token"]): void {
  // A page in a browser can reach loopback ports, also through a name of its own; it cannot choose these headers.
  const host = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  if (!["127.0.0.1", "localhost", "[::1]"].includes(host)) {
    throw new CloudError("PermissionDenied", "the simulated cloud answers on loopback addresses only");
  }
  if (request.headers.origin !== undefined) {
    throw new CloudError("PermissionDenied", "the simulated cloud does not answer web pages (an Origin header)");
  }
  const token = typeof required === "function" ? required() : required;
  if (token === undefined) return;
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token.reveal()}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new CloudError("Unauthenticated", 'the token is missing or wrong: key "token" of the class secret');
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    const chunk: Buffer = part;
    size += chunk.length;
    if (size > maxBodyBytes) throw new CloudError("InvalidArgument", `the request has more than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new CloudError("InvalidArgument", "the request is not JSON");
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
