import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, ConfigError, systemClock } from "@millwright/base";
import { status } from "@grpc/grpc-js";
import { statusOf } from "../client/call.ts";
import { type DriverConnection, type DriverRpcLog, openDriver, type OpenDriver } from "../client/connect-driver.ts";
import { healthCheck } from "../wire/service.ts";
import { type Child, type ChildOptions, startChild } from "./child.ts";

/** How a driver runs in a process of its own. */
export interface DriverProcessOptions {
  /** The program that serves the driver, without the address; gets `--listen ADDRESS --until-stdin-closes --private-folder FOLDER` as its last arguments. */
  readonly command: readonly [string, ...(readonly string[])];
  /** All of its environment, apart from HOME and TMPDIR, which are its private folder. */
  readonly env: Readonly<Record<string, string>>;
  /** The driver in messages. */
  readonly subject: string;
  /** A process that does not respond for so long is killed and started again, milliseconds; one that starts has a minute. Default 30 s. */
  readonly unresponsiveMs?: number;
  /** Called with each line that the process prints. Lines may hold secrets. */
  readonly onLine: ChildOptions["onLine"];
  /** Called with the secrets of each call, before it is made. */
  readonly onSecrets?: OpenDriver["onSecrets"];
  /** Ends the start. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly log: DriverRpcLog;
}

const UNRESPONSIVE_MS = 30_000;
/** How long a process may take to start, milliseconds: a busy computer is slow. */
const START_MS = 60_000;
/** Probes within the time of an unresponsive process: one that is lost must not kill it. */
const PROBES = 6;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 60_000;
/** A process that ran for so long is started again without a long delay, milliseconds. */
const STABLE_MS = 300_000;
/** How long a process may take to end by itself, milliseconds. */
const END_MS = 3_000;

/** How `millwright` reports an error with which it ends. */
const ownMessage = /^millwright: (.*)/;

/** A process that is replaced when it ends. */
interface Supervised {
  child: Child;
}

/** Whether the process behind a connection responds in time. */
async function responds(
  { connection }: OpenedDriver,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await connection.call(healthCheck, {}, { signal, deadlineMs: clock.now().getTime() + timeoutMs });
    return true;
  } catch (error) {
    // A server without the health service responds as well.
    return statusOf(error) === status.UNIMPLEMENTED;
  }
}

type OpenedDriver = Awaited<ReturnType<typeof openDriver>>;

/** Kills a process that does not respond, until the signal aborts. */
async function killUnresponsive(
  supervised: Supervised,
  opened: OpenedDriver,
  { clock = systemClock, log, subject, unresponsiveMs = UNRESPONSIVE_MS }: DriverProcessOptions,
  signal: AbortSignal,
): Promise<void> {
  const periodMs = unresponsiveMs / PROBES;
  const probesOfStart = Math.max(PROBES, Math.ceil(START_MS / periodMs));
  for (let failures = 0, isStarting = false, last = supervised.child; ;) {
    const startMs = clock.monotonicMs();
    const isAlive = await responds(opened, clock, periodMs, signal);
    const { child } = supervised;
    failures = isAlive || child !== last ? 0 : failures + 1;
    isStarting = !isAlive && (isStarting || child !== last);
    last = child;
    if (failures >= (isStarting ? probesOfStart : PROBES)) {
      const afterMs = isStarting ? START_MS : unresponsiveMs;
      log("error", "The process of a driver does not respond and is killed", { subject, durationMs: afterMs });
      child.kill();
      failures = 0;
    }
    await clock.sleep(Math.max(0, periodMs - (clock.monotonicMs() - startMs)), signal);
  }
}

/** Starts the process again whenever it ends, with backoff, until the signal aborts. */
async function restart(
  supervised: Supervised,
  start: () => Child,
  { clock = systemClock, log, subject }: DriverProcessOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(MAX_DELAY_MS, delayMs * 2)) {
    const startMs = clock.monotonicMs();
    const { how } = await supervised.child.ended;
    signal.throwIfAborted();
    if (clock.monotonicMs() - startMs >= STABLE_MS) delayMs = FIRST_DELAY_MS;
    log("error", "The process of a driver ended and is started again", { subject, because: how, delayMs });
    await clock.sleep(delayMs, signal);
    supervised.child = start();
  }
}

/** Ends a process: by itself, or else by a signal. */
async function endChild(child: Child, clock: Clock): Promise<void> {
  child.closeInput();
  const timer = clock.setTimer(END_MS, () => child.kill());
  await child.ended;
  timer.cancel();
}

/** The driver of a process that was just started. */
async function firstConnection(child: Child, address: string, options: DriverProcessOptions): Promise<OpenedDriver> {
  const { signal, clock = systemClock, subject } = options;
  const ended = new AbortController();
  const late = clock.setTimer(START_MS, () =>
    ended.abort(new ConfigError(`${subject}: its process did not serve a driver within ${START_MS / 1_000} s`)),
  );
  void (async () => {
    const { how, lastLine } = await child.ended;
    const own = ownMessage.exec(lastLine)?.[1];
    ended.abort(new ConfigError(own ?? `${subject}: its process ended with ${how}: ${lastLine.slice(0, 1_000)}`));
  })();
  const signals = signal === undefined ? [ended.signal] : [ended.signal, signal];
  try {
    return await openDriver(address, {
      signal: AbortSignal.any(signals),
      clock,
      ...(options.onSecrets === undefined ? {} : { onSecrets: options.onSecrets }),
    });
  } finally {
    late.cancel();
  }
}

/**
 * Runs a driver in a process of its own, on a socket in a private folder. A process that ends or does not respond is started again with backoff; calls fail with `Unavailable`
 * meanwhile. The process ends with this one, however that ends.
 *
 * @throws ConfigError in one line when the first process serves no driver; the reason of the signal
 */
export async function startDriverProcess(options: DriverProcessOptions): Promise<DriverConnection> {
  const { clock = systemClock, command, env } = options;
  const folder = await mkdtemp(join(tmpdir(), "millwright-driver-"));
  const address = `unix://${join(folder, "driver.sock")}`;
  let isStarted = false;
  const start = (): Child =>
    startChild({
      command: [...command, "--listen", address, "--until-stdin-closes", "--private-folder", folder],
      env: { ...env, HOME: folder, TMPDIR: folder },
      onLine(stream, line) {
        // The reason why the first process did not start is the message of the error.
        if (isStarted || !ownMessage.test(line)) options.onLine(stream, line);
      },
      clock,
    });
  const supervised: Supervised = { child: start() };
  const stop = new AbortController();
  const end = async (): Promise<void> => {
    stop.abort(new Error("stopped"));
    await endChild(supervised.child, clock);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const opened = await firstConnection(supervised.child, address, options);
    isStarted = true;
    const supervision = Promise.allSettled([
      restart(supervised, start, options, stop.signal),
      killUnresponsive(supervised, opened, options, stop.signal),
    ]);
    return {
      driver: opened.driver,
      version: opened.version,
      async close() {
        await end();
        await supervision;
        opened.connection.close();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}
