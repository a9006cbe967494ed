import { Client, type ClientOptions, connectivityState, type MethodDefinition } from "@grpc/grpc-js";
import { explainTlsFailure, type TlsFiles, type TlsLog } from "@millwright/core/tls";
import { type DriverAddress, grpcTarget } from "../wire/address.ts";
import { clientCredentials } from "../wire/credentials.ts";
import { assertTrustedFolder } from "../wire/socket-folder.ts";
import { type CallLimits, callUnary, isServiceError } from "./call.ts";

/** A connection to a driver that reconnects by itself, with backoff. */
export interface Connection {
  /** @throws the reason of the signal, the `ServiceError` of gRPC, or a ConfigError for a socket that is not trusted */
  call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    limits: CallLimits,
  ): Promise<Response>;
  /** How often the connection was lost. Another process may be the server after each. */
  losses(): number;
  close(): void;
}

const options = (address: DriverAddress): ClientOptions => ({
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
  "grpc.max_send_message_length": 16 * 1024 * 1024,
  // A driver that is restarted is back soon; calls fail meanwhile, and their controllers back off by themselves.
  "grpc.initial_reconnect_backoff_ms": 250,
  "grpc.max_reconnect_backoff_ms": 5_000,
  // Attempts are those of the controllers.
  "grpc.enable_retries": 0,
  // The proxy of the environment is for the cloud.
  ...(address.kind === "tcp" && address.tls ? {} : { "grpc.enable_http_proxy": 0 }),
});

/** @throws ConfigError when files of TLS are missing or cannot be used */
export function openConnection(address: DriverAddress, tls: TlsFiles | undefined, log: TlsLog): Connection {
  const client = new Client(grpcTarget(address), clientCredentials(address, tls, log), options(address));
  const channel = client.getChannel();
  let losses = 0;
  /** How often the connection had been lost when a call reached a socket that was looked at before. */
  let trustedAt: number | undefined;
  let isClosed = false;
  const watch = (): void => {
    const before = channel.getConnectivityState(false);
    channel.watchConnectivityState(before, Number.POSITIVE_INFINITY, () => {
      if (isClosed) return;
      if (before === connectivityState.READY) losses++;
      watch();
    });
  };
  watch();
  return {
    async call(method, request, limits) {
      const lossesBefore = losses;
      // Once for each connection.
      if (trustedAt !== lossesBefore) await assertTrustedFolder(address);
      try {
        const response = await callUnary(client, method, request, limits);
        trustedAt = lossesBefore;
        return response;
      } catch (error) {
        if (tls === undefined || !isServiceError(error)) throw error;
        throw Object.assign(error, { details: explainTlsFailure(error.details, tls.ca) });
      }
    },
    losses: () => losses,
    close() {
      isClosed = true;
      client.close();
    },
  };
}
