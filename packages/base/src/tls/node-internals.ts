import type { Socket } from "node:net";
import { createSecureContext, type SecureContext, type SecureContextOptions, type Server } from "node:tls";

/*
 * What of Node's TLS has no public API (Node 22 to 24). Where another Node lacks it, less works than could, and nothing more is trusted; test/system/node-tls.test.ts fails then, and names what.
 */

/** Lets new connections of a server use these options. A tls.Server passes all of them on but `allowPartialTrustChain`: its context is replaced by one that has it. Without that it would trust fewer certificates. */
export function setServerContext(server: Server, options: SecureContextOptions): void {
  server.setSecureContext(options);
  if ("_sharedCreds" in server) server._sharedCreds = createSecureContext(options);
}

/** The connection that a socket of TLS wraps, which has its address also when the handshake has failed. Without it the address would be unknown. */
export const wrappedBy = (socket: Pick<Socket, "destroy">): object | undefined => {
  const parent: unknown = Reflect.get(socket, "_parent");
  return typeof parent === "object" && parent !== null ? parent : undefined;
};

/** A context that is the current one of `current` for each new connection of a client that was made with it: Node reads the field `context` then. Without that the client would keep its first files. */
export const followingContext = (current: () => SecureContext): SecureContext => ({
  get context(): unknown {
    return current().context;
  },
});
