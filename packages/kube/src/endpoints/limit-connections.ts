import type { Server, Socket } from "node:net";
import { type ConnectionLimits, selectConnectionToClose } from "./select-connection.ts";

/** The open connections of a server. */
export interface LimitedConnections {
  /** Marks a connection while it has a request. Returns false when it has one already, or is closed. */
  begin(socket: Socket): boolean;
  end(socket: Socket): void;
}

/** Limits the connections of a server: for another one, {@link selectConnectionToClose} selects which is closed. */
export function limitConnections(server: Server, limits: ConnectionLimits): LimitedConnections {
  /** Invariant: the longest idle first. */
  const held = new Map<Socket, { readonly socket: Socket; readonly peer: string; isBusy: boolean }>();
  server.on("connection", (socket: Socket) => {
    held.set(socket, { socket, peer: socket.remoteAddress ?? "", isBusy: false });
    socket.on("close", () => held.delete(socket));
    const excess = selectConnectionToClose([...held.values()], limits);
    if (excess === undefined) return;
    // It counts no more, even if the event of its end is late.
    held.delete(excess.socket);
    excess.socket.destroy();
  });
  return {
    begin(socket) {
      const connection = held.get(socket);
      if (connection === undefined || connection.isBusy) return false;
      connection.isBusy = true;
      return true;
    },
    end(socket) {
      const connection = held.get(socket);
      if (connection === undefined) return;
      connection.isBusy = false;
      held.delete(socket);
      held.set(socket, connection);
    },
  };
}
