import { type Clock, ConfigError, type Driver, isDriverFor, orAborted } from "@millwright/core";
import { type Log, messageOf } from "@millwright/kube";

/** Where a driver runs. */
export type DriverPlace = "address" | "inProcess" | "isolated";

/** A driver to open. */
export interface DriverToOpen {
  /** As it is named by a flag. */
  readonly provider: string;
  readonly place: DriverPlace;
}

/** A driver, and how to close it. */
export interface OpenedDriver {
  readonly driver: Driver;
  /** Of its package; empty where it has none. */
  readonly version: string;
  close(): Promise<void>;
}

/** Drivers that are being opened. */
export interface DriverCollection {
  /**
   * The drivers that are there after ten seconds, or as soon as all are; waits longer for the first one.
   *
   * @throws ConfigError when no driver can be used, or two have the same name; the reason of the signal
   */
  first(): Promise<readonly Driver[]>;
  /**
   * Calls `add` with each driver that comes after those of `first()`. What `add` throws is logged.
   */
  later(add: (driver: Driver) => void): void;
  close(): Promise<void>;
}

/** How drivers are collected. */
export interface CollectDriversOptions<ToOpen extends DriverToOpen> {
  readonly open: (driver: ToOpen, signal: AbortSignal) => Promise<OpenedDriver>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** How long the others wait for a driver that is not there yet, milliseconds: most come within a second. */
const FIRST_DRIVERS_MS = 10_000;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** @throws ConfigError for two drivers of one name, of which classes would get one or the other */
function checkNames(drivers: readonly Driver[]): void {
  for (const [index, driver] of drivers.entries())
    if (drivers.slice(0, index).some((other) => isDriverFor(other, driver.name)))
      throw new ConfigError(`two drivers have the name "${driver.name}": name one of them with --provider`);
}

/**
 * Opens drivers side by side. One that runs elsewhere and cannot be opened is tried again with backoff, so that it never keeps the others from their machines; only when none
 * of them can be opened, the first failure is final.
 *
 * @throws ConfigError when one cannot be loaded into this process; the others are closed then
 */
export async function collectDrivers<ToOpen extends DriverToOpen>(
  toOpen: readonly ToOpen[],
  { open, clock, log, signal: stopped }: CollectDriversOptions<ToOpen>,
): Promise<DriverCollection> {
  const closed = new AbortController();
  const signal = AbortSignal.any([stopped, closed.signal]);
  /** In the order of their arrival. */
  const opened: OpenedDriver[] = [];
  let arrive = (): void => undefined;
  /** Resolves when the first one is there. */
  const arrival = new Promise<void>((resolve) => (arrive = resolve));
  let deliver: ((one: OpenedDriver) => void) | undefined;

  const openOne = async (each: ToOpen): Promise<void> => {
    const one = await open(each, signal);
    opened.push(one);
    const { driver, version } = one;
    log("info", "Driver is loaded", { driver: driver.name, provider: each.provider, place: each.place, version });
    arrive();
    deliver?.(one);
  };
  const attempts = toOpen.map(openOne);
  /** Ends when the driver is there. */
  const openAgain = async (each: ToOpen, firstAttempt: Promise<void> | undefined): Promise<void> => {
    let attempt = firstAttempt;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(MAX_DELAY_MS, delayMs * 2)) {
      try {
        return await attempt;
      } catch (error) {
        if (signal.aborted) return;
        const fields = { provider: each.provider, error: messageOf(error), retryAfterMs: delayMs };
        log("error", "A driver cannot be used; its machines wait", fields);
      }
      await clock.sleep(delayMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      attempt = openOne(each);
    }
  };
  let following: readonly Promise<void>[] = [];
  const close = async (): Promise<void> => {
    closed.abort(new Error("drivers are closed"));
    await Promise.allSettled([...attempts, ...following]);
    await Promise.all(opened.map((one) => one.close()));
  };

  // What fails before it is awaited is reported by first().
  for (const attempt of attempts) attempt.catch(() => undefined);
  try {
    await Promise.all(attempts.filter((_, index) => toOpen[index]?.place === "inProcess"));
  } catch (error) {
    await close();
    throw error;
  }
  let delivered = 0;
  return {
    close,
    async first() {
      const settled = new AbortController();
      const wait = clock.sleep(FIRST_DRIVERS_MS, AbortSignal.any([signal, settled.signal]));
      const results = await Promise.race([Promise.allSettled(attempts), wait]).finally(() =>
        settled.abort(new Error("not needed")),
      );
      const failures = results?.filter((result) => result.status === "rejected") ?? [];
      if (failures[0] !== undefined && failures.length === attempts.length) throw failures[0].reason;
      following = toOpen.map((each, index) => openAgain(each, attempts[index]));
      if (opened.length === 0) await orAborted(signal, arrival);
      checkNames(opened.map(({ driver }) => driver));
      delivered = opened.length;
      return opened.map(({ driver }) => driver);
    },
    later(add) {
      deliver = (one) => {
        try {
          add(one.driver);
        } catch (error) {
          log("error", "A driver cannot be used", { driver: one.driver.name, error: messageOf(error) });
        }
      };
      for (const one of opened.slice(delivered)) deliver(one);
    },
  };
}
