import type { ServerResponse } from "node:http";
import type { Clock } from "@millwright/base";

const chunk = Buffer.alloc(64 * 1_024, " ");

/** Writes a body of `bytes` bytes as fast as the client reads it. Ends when the client disconnects. */
export async function sendLarge(
  response: ServerResponse,
  bytes: number,
  onSent: (bytes: number) => void,
): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  for (let sent = 0; sent < bytes && !response.destroyed; sent += chunk.length) {
    if (response.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
    else await new Promise<void>((resolve) => whenReadable(response, resolve));
    onSent(chunk.length);
  }
  response.end();
}

function whenReadable(response: ServerResponse, resolve: () => void): void {
  const done = (): void => {
    response.off("drain", done);
    response.off("close", done);
    resolve();
  };
  response.once("drain", done);
  response.once("close", done);
}

const byteEveryMs = 20;

/** Writes a body byte by byte until the client disconnects. */
export async function sendSlowly(response: ServerResponse, clock: Clock): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  while (!response.destroyed) {
    response.write(" ");
    await clock.sleep(byteEveryMs);
  }
}
