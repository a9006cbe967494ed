import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** A server that scripts are run against. */
export interface Target {
  readonly url: string;
  /** PEM of the certificates to trust. */
  readonly ca?: string;
  readonly token?: string;
}

/** Sends requests to one server over a pool of connections. */
export interface TargetClient {
  /** Resolves with the response head. */
  send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage>;
  close(): void;
}

/** Creates a client that adds only its user agent and token to a request. */
export function createTargetClient({ url, ca, token }: Target): TargetClient {
  const base = new URL(url);
  const isTls = base.protocol === "https:";
  const agent = isTls ? new HttpsAgent({ keepAlive: true, ca }) : new HttpAgent({ keepAlive: true });
  const open = isTls ? httpsRequest : httpRequest;
  return {
    send(method, path, headers, body, signal) {
      const own = {
        "user-agent": "compat/1.0",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
      };
      return new Promise((resolve, reject) => {
        // The path is sent as it is: a URL object would normalize the deliberate errors of some steps.
        const outgoing = open(
          { host: base.hostname, port: base.port, path, method, agent, signal, headers: { ...own, ...headers } },
          resolve,
        );
        outgoing.once("error", reject);
        outgoing.end(body);
      });
    },
    close: () => agent.destroy(),
  };
}
