import { type handleUnaryCall, Server, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { type Clock, systemClock } from "@millwright/base";
import { type Driver, MachineError } from "@millwright/core";
import type { TlsFiles, TlsLog } from "@millwright/core/tls";
import { formatDriverAddress, readDriverAddress } from "../wire/address.ts";
import type { WireOutcome, WireRequest } from "../wire/messages.ts";
import { driverService, healthService, SERVING } from "../wire/service.ts";
import { createHandlers, type IncomingCall } from "./handlers.ts";
import { handshakeOf } from "./handshake.ts";
import { listen } from "./listen.ts";

/** How a driver is served. */
export interface ServeDriverOptions {
  /** Version of the driver, for logs of the host. Default: none. */
  readonly version?: string;
  /** Required for `grpcs://`. */
  readonly tls?: TlsFiles;
  /** Permissions of a unix socket. Default 0o600: this user only. */
  readonly socketMode?: number;
  readonly clock?: Clock;
  /** Default: nothing is written. */
  readonly log?: TlsLog;
}

/** A driver that is being served. */
export interface DriverServer {
  /** As clients connect to it, with the port that was taken for 0. */
  readonly address: string;
  /** Accepts no calls any more, lets those in flight end for a while, and aborts the rest. */
  close(): Promise<void>;
}

/** How long calls may take to end, milliseconds. */
const CLOSE_MS = 5_000;

/** Longest time of a call without a deadline, milliseconds. */
const CALL_MS = 300_000;

/** The signal and the deadline of a call. */
function incomingCall(
  call: Parameters<handleUnaryCall<unknown, unknown>>[0],
  clock: Clock,
): IncomingCall & { end(): void } {
  const controller = new AbortController();
  const given = Number(call.getDeadline());
  const nowMs = clock.now().getTime();
  const leftMs = Number.isFinite(given) ? given - nowMs : CALL_MS;
  const endMs = clock.monotonicMs() + leftMs;
  const expire = (): void =>
    controller.abort(new MachineError("DeadlineExceeded", "the deadline of the call has passed"));
  const timer = clock.setTimer(leftMs, expire);
  call.on("cancelled", () => controller.abort(new MachineError("Aborted", "the client has canceled the call")));
  return {
    signal: controller.signal,
    remainingMs: () => endMs - clock.monotonicMs(),
    end: () => timer.cancel(),
  };
}

const unary =
  <Request, Response>(
    handle: (request: Request, call: IncomingCall) => Promise<Response>,
    clock: Clock,
  ): handleUnaryCall<Request, Response> =>
  (call, callback) => {
    const incoming = incomingCall(call, clock);
    void (async () => {
      try {
        callback(null, await handle(call.request, incoming));
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)));
      } finally {
        incoming.end();
      }
    })();
  };

/**
 * Serves a driver over gRPC, by `proto/millwright/driver/v1/driver.proto`, with the health service of gRPC.
 *
 * @param address `unix:///path`, `grpcs://host:port`, or `grpc://` with an address of this machine; port 0 takes a free one
 * @throws ConfigError when the address cannot be used
 */
export async function serveDriver(
  driver: Driver,
  address: string,
  options: ServeDriverOptions = {},
): Promise<DriverServer> {
  const { clock = systemClock, version = "", socketMode = 0o600, log = () => undefined } = options;
  const read = readDriverAddress(address);
  const server = new Server({
    "grpc.max_receive_message_length": 16 * 1024 * 1024,
    "grpc.max_send_message_length": 64 * 1024 * 1024,
  });
  const { ValidateClass: validate, ...methods } = createHandlers(driver, clock);
  const implementation: UntypedServiceImplementation = Object.fromEntries(
    Object.entries(methods).map(([name, handle]) => [name, unary<WireRequest, WireOutcome>(handle, clock)]),
  );
  server.addService(driverService, {
    ...implementation,
    Handshake: unary(() => Promise.resolve(handshakeOf(driver, version)), clock),
    ValidateClass: unary(validate, clock),
  });
  server.addService(healthService, { Check: unary(() => Promise.resolve({ status: SERVING }), clock) });
  const { port, stop } = await listen(server, read, { tls: options.tls, socketMode, clock, log });
  return {
    address: formatDriverAddress(read.kind === "tcp" ? { ...read, port } : read),
    close: () =>
      new Promise((resolve) => {
        stop();
        const timer = clock.setTimer(CLOSE_MS, () => server.forceShutdown());
        server.tryShutdown(() => {
          timer.cancel();
          resolve();
        });
      }),
  };
}
