import type { IncomingMessage, RequestOptions } from "node:http";
import { getBuiltinModule } from "node:process";

// `fetch`, or an `import` of node:http, would load the whole HTTP client of Node a second time: 14 MiB and 60 ms of each process.
const { Agent, request } = getBuiltinModule("node:http");

const agent = new Agent({ keepAlive: true });

type Sending = Pick<RequestOptions, "method" | "headers"> & {
  readonly signal: AbortSignal;
  readonly body?: string | undefined;
};

/** Sends a request; the body of the response is still to be read. */
export function sendRequest(url: URL, { body, ...options }: Sending): Promise<IncomingMessage> {
  const attempt = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { ...options, agent }, resolve);
      sent.on("error", (error: NodeJS.ErrnoException) => {
        // The server closed an idle connection just before it was used again. A creation might have arrived: only what changes nothing the second time is sent again.
        const isStale = sent.reusedSocket && error.code === "ECONNRESET" && options.method !== "POST";
        if (isStale && !options.signal.aborted) resolve(attempt());
        else reject(error);
      });
      sent.end(body);
    });
  return attempt();
}
