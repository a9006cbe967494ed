import { type Clock, isConfigError, orAborted, systemClock } from "@millwright/base";
import { type Driver, type DriverLogLevel, isMachineError, MachineError } from "@millwright/core";
import { abortedCall } from "@millwright/core/driver-kit";
import type { TlsFiles } from "@millwright/core/tls";
import { formatDriverAddress, readDriverAddress } from "../wire/address.ts";
import { wireMethod } from "../wire/service.ts";
import { fromStatus, statusOf } from "./call.ts";
import { type Connection, openConnection } from "./connection.ts";
import { type DriverInfo, shakeHands } from "./handshake.ts";
import { createRemoteDriver, type DriverChannel, type SecretsOfCall } from "./remote-driver.ts";

/** Writes a log line, as the `log` of a driver context. */
export type DriverRpcLog = (level: DriverLogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** How a driver is connected. */
export interface ConnectDriverOptions {
  /** Required for `grpcs://`. */
  readonly tls?: TlsFiles;
  /** Ends waiting for a driver that is not there yet. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Default: nothing is written. */
  readonly log?: DriverRpcLog;
}

/** What opening a driver needs beyond that. */
export interface OpenDriver extends ConnectDriverOptions {
  /** Called with the secrets of each call, before it is made. */
  readonly onSecrets?: (secrets: SecretsOfCall) => void;
}

/** A driver of another process. */
export interface DriverConnection {
  /** Frozen, as one of `defineDriver`. While its process cannot be reached, calls fail with `Unavailable`. */
  readonly driver: Driver;
  /** As the driver reports it; may be empty. */
  readonly version: string;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

/** Waits until the driver is there. */
async function firstHandshake(
  connection: Connection,
  where: string,
  { clock = systemClock, log, signal }: ConnectDriverOptions,
): Promise<DriverInfo> {
  let isReported = false;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(MAX_DELAY_MS, delayMs * 2)) {
    try {
      return await shakeHands(connection, where, clock, signal);
    } catch (error) {
      if (isConfigError(error) || signal?.aborted === true || statusOf(error) === undefined) throw error;
      if (!isReported)
        log?.("warn", "Waiting for a driver", { address: where, error: fromStatus(error, "the driver").message });
      isReported = true;
      await clock.sleep(delayMs, signal);
    }
  }
}

/** Calls a driver, after a handshake on every new connection: another driver may be there by now. */
function createChannel(connection: Connection, where: string, first: DriverInfo, clock: Clock): DriverChannel {
  const what = `driver "${first.name}" at ${where}`;
  /** Invariant: the process behind the connection is the driver `first`, if the connection was lost as often as this. */
  let verified = connection.losses();
  let generation = 0;
  const shake = async (losses: number): Promise<void> => {
    const { name } = await shakeHands(connection, where, clock);
    if (name !== first.name)
      throw new MachineError(
        "Unavailable",
        `${where} serves driver "${name}" in place of "${first.name}": restart Millwright, or start the former driver there`,
      );
    verified = losses;
    generation++;
  };
  /** One handshake for all calls that need it. */
  let shaking: Promise<void> | undefined;
  const verify = async (signal: AbortSignal | undefined): Promise<void> => {
    const losses = connection.losses();
    if (losses === verified) return;
    shaking ??= shake(losses).finally(() => (shaking = undefined));
    await orAborted(signal, shaking);
  };
  return {
    generation: () => generation,
    nowMs: () => clock.now().getTime(),
    async call(name, request, limits) {
      try {
        await verify(limits.signal);
        return await connection.call(wireMethod(name), request, limits);
      } catch (error) {
        if (limits.signal?.aborted === true && !isMachineError(error))
          throw abortedCall(limits.signal, `${what}: ${name}`);
        if (isConfigError(error)) throw new MachineError("Unavailable", error.message);
        throw statusOf(error) === undefined ? error : fromStatus(error, what);
      }
    },
  };
}

/** As {@link connectDriver}, with the connection itself. */
export async function openDriver(address: string, options: OpenDriver) {
  const read = readDriverAddress(address);
  const where = formatDriverAddress(read);
  const connection = openConnection(read, options.tls, options.log ?? (() => undefined));
  try {
    const info = await firstHandshake(connection, where, options);
    const channel = createChannel(connection, where, info, options.clock ?? systemClock);
    return { driver: createRemoteDriver(info, channel, options.onSecrets), version: info.version, connection };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Connects a driver of another process. Waits for one that is not there yet; after that a lost connection is opened again with backoff, and calls fail with `Unavailable`
 * meanwhile. What the driver reports in its first handshake holds until the end.
 *
 * @param address `unix:///path`, `grpcs://host:port`, or `grpc://` with an address of this machine
 * @throws ConfigError for an address that cannot be used, and a server that does not serve this contract; the reason of the signal
 */
export async function connectDriver(address: string, options: ConnectDriverOptions = {}): Promise<DriverConnection> {
  const { driver, version, connection } = await openDriver(address, options);
  return {
    driver,
    version,
    close() {
      connection.close();
      return Promise.resolve();
    },
  };
}
