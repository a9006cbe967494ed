import type { IncomingMessage, RequestOptions } from "node:http";
import { getBuiltinModule } from "node:process";

// `fetch`, or an `import` of node:http, would load the whole HTTP client of Node a second time: 14 MiB and 60 ms of each process.
const { Agent, request } = getBuiltinModule("node:http");

const agent = new Agent({ keepAlive: true });

/** Sends a request; the body of the response is still to be read. */
export const sendRequest = (
  url: URL,
  {
    body,
    ...options
  }: Pick<RequestOptions, "method" | "headers"> & {
    readonly signal: AbortSignal;
    readonly body?: string | undefined;
  },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request(url, { ...options, agent }, resolve)
      .on("error", reject)
      .end(body);
  });
