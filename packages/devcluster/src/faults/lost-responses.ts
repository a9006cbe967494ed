import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

const lost = new WeakSet<ServerResponse>();

/** Marks the response of a request as lost: its connection is reset instead of the response. */
export function loseResponse(response: ServerResponse): void {
  lost.add(response);
}

/** Resets the connection when the response is marked as lost. Returns whether it is. */
export function resetIfLost(response: ServerResponse): boolean {
  if (!lost.has(response)) return false;
  resetConnection(response);
  return true;
}

/** Closes a connection with RST, as a crashed peer or a firewall does. */
export function resetConnection(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null) response.destroy();
  // A TLS socket has no reset of its own and throws. Destroying it without a TLS close notification is as abrupt for the client.
  else if (socket instanceof TLSSocket) socket.destroy();
  else if ("resetAndDestroy" in socket) socket.resetAndDestroy();
}
