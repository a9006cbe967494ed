import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

const lost = new WeakSet<ServerResponse>();

/** From here on the answer of a request is lost: its connection is reset where the answer would be sent. */
export function loseResponse(response: ServerResponse): void {
  lost.add(response);
}

/** Resets the connection when the answer is to be lost; tells whether it did. */
export function resetIfLost(response: ServerResponse): boolean {
  if (!lost.has(response)) return false;
  resetConnection(response);
  return true;
}

/** Closes a connection with RST, as a crashed peer or a firewall does. */
export function resetConnection(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null) response.destroy();
  // A TLS socket has no reset of its own, and throws: ending it without the notice of TLS is as abrupt for the other side.
  else if (socket instanceof TLSSocket) socket.destroy();
  else if ("resetAndDestroy" in socket) socket.resetAndDestroy();
}
