import { PassThrough, pipeline, Readable } from "node:stream";
import type { EC2Client } from "@aws-sdk/client-ec2";
import type { Clock } from "@millwright/core";
import {
  beginExchange,
  type ExchangeRecord,
  mostAnswerBytes,
  type SessionResources,
} from "@millwright/core/driver-kit";

/** Records what a client sends over the wire and gets back, and what STS does, which uses the same handler. */
export function recordExchanges({ config }: EC2Client, recorder: SessionResources["recorder"], clock: Clock): void {
  const { requestHandler } = config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = async (request, options) => {
    const record = recorder();
    if (record === undefined) return handle(request, options);
    const { protocol, hostname, port, path, method, headers } = request;
    const exchange = beginExchange(record, clock, () => ({
      method,
      url: `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}`,
      requestHeaders: headers,
      requestBody: typeof request.body === "string" ? request.body : "",
    }));
    try {
      const output = await handle(request, options);
      const body: unknown = output.response.body;
      if (body instanceof Readable) output.response.body = recorded(body, output.response, exchange);
      return output;
    } catch (error) {
      exchange.failed(error);
      throw error;
    }
  };
}

/** The same bytes; they are recorded when the last one has passed. */
function recorded(
  body: Readable,
  { statusCode, headers }: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> },
  exchange: ExchangeRecord,
): Readable {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const copy = new PassThrough();
  copy.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= mostAnswerBytes) chunks.push(chunk);
  });
  // The reader of the response controls the flow.
  copy.pause();
  pipeline(body, copy, (error) => {
    if (error) exchange.failed(error);
    else exchange.answered(statusCode, headers, Buffer.concat(chunks).toString("utf8"));
  });
  return copy;
}
