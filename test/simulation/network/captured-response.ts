import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { ConnectionRequest } from "@millwright/kube";

/** Receives what the server writes, at once. */
export interface ResponseSink {
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void;
  chunk(bytes: Buffer): void;
  end(): void;
  /** The connection is reset. */
  reset(): void;
}

/** Never connected: the classes of Node.js want one. */
const noSocket = new Socket();

const bytesOf = (chunk: unknown): Buffer => (Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));

/** A response that goes to a sink instead of a socket. */
class CapturedResponse extends ServerResponse {
  readonly #sink: ResponseSink;
  #isHeadSent = false;
  #isOver = false;

  constructor(request: IncomingMessage, sink: ResponseSink) {
    super(request);
    this.#sink = sink;
  }

  #sendHead(): void {
    if (this.#isHeadSent) return;
    this.#isHeadSent = true;
    if (!this.headersSent) this.writeHead(this.statusCode);
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(this.getHeaders()))
      if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
    this.#sink.head(this.statusCode, headers);
  }

  override flushHeaders(): void {
    this.#sendHead();
  }

  override write(chunk: unknown): boolean {
    if (this.#isOver) return false;
    this.#sendHead();
    this.#sink.chunk(bytesOf(chunk));
    return true;
  }

  override end(chunk?: unknown): this {
    if (this.#isOver) return this;
    this.#sendHead();
    if (chunk !== undefined && typeof chunk !== "function") this.#sink.chunk(bytesOf(chunk));
    this.#isOver = true;
    this.#sink.end();
    this.emit("finish");
    this.emit("close");
    return this;
  }

  override destroy(): this {
    if (this.#isOver) return this;
    this.#isOver = true;
    this.destroyed = true;
    this.#sink.reset();
    this.emit("close");
    return this;
  }
}

/** The server's side of a request: as Node.js hands it to a server, without a socket. */
export function serverSideOf(
  { path, method, headers, body }: Pick<ConnectionRequest, "path" | "method" | "headers" | "body">,
  sink: ResponseSink,
): { readonly request: IncomingMessage; readonly response: ServerResponse } {
  const request = new IncomingMessage(noSocket);
  request.method = method;
  request.url = path;
  request.headers = { host: "127.0.0.1" };
  for (const [name, value] of Object.entries(headers)) request.headers[name.toLowerCase()] = value;
  if (body !== null) request.push(body);
  request.push(null);
  request.complete = true;
  return { request, response: new CapturedResponse(request, sink) };
}
