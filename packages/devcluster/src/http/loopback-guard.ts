import type { IncomingMessage } from "node:http";
import { StatusError } from "../errors/status-error.ts";

const loopbackHosts = new Set(["127.0.0.1", "localhost", "[::1]", "::1"]);

/**
 * Rejects what a web page could send to a server on loopback: a Host with another name (DNS rebinding) and any request with a
 * browser's Origin. By default the server has no authentication, so this is its only protection from web pages.
 */
export function rejectForeignCallers(request: IncomingMessage): void {
  const host = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  if (!loopbackHosts.has(host)) {
    throw new StatusError(
      403,
      "Forbidden",
      `the Host header "${host}" is not a loopback name; use 127.0.0.1 or localhost`,
    );
  }
  if (request.headers.origin !== undefined) {
    throw new StatusError(403, "Forbidden", "requests of web pages (with an Origin header) are not served");
  }
}
