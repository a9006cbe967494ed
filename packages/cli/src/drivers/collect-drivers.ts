import { type Clock, ConfigError, orAborted } from "@millwright/base";
import type { Driver } from "@millwright/core";
import { isDriverFor } from "@millwright/core/driver-host";
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
   * The drivers that are there after another ten seconds, or as soon as all are; waits longer for the first one.
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

const report = ({ driver, provider, place, version }: OpenedDriver & DriverToOpen, log: Log): void =>
  log("info", "Driver is loaded", { driver: driver.name, provider, place, version });

/** Ends when the others should not wait any longer. A single driver of this machine keeps none waiting: its failure is final, however late it comes. */
function patience(toOpen: readonly DriverToOpen[], clock: Clock, signal: AbortSignal): Promise<unknown> {
  const isAlone = toOpen.length === 1 && toOpen[0]?.place !== "address";
  return isAlone ? orAborted(signal, new Promise<never>(() => undefined)) : clock.sleep(FIRST_DRIVERS_MS, signal);
}

/**
 * Opens drivers side by side, and waits up to ten seconds for those of this machine. One that runs elsewhere and cannot be opened is tried again with backoff, so that it never keeps the others from their machines; only when none
 * of them can be opened, the first failure is final.
 *
 * @throws ConfigError when one cannot be loaded into this process, or none can be opened; the others are closed then
 */
export async function collectDrivers<ToOpen extends DriverToOpen>(
  toOpen: readonly ToOpen[],
  { open, clock, log, signal: stopped }: CollectDriversOptions<ToOpen>,
): Promise<DriverCollection> {
  const closed = new AbortController();
  const signal = AbortSignal.any([stopped, closed.signal]);
  /** In the order of their arrival. */
  const opened: (OpenedDriver & DriverToOpen)[] = [];
  let arrive = (): void => undefined;
  /** Resolves when the first one is there. */
  const arrival = new Promise<void>((resolve) => (arrive = resolve));
  let deliver: ((one: OpenedDriver & DriverToOpen) => void) | undefined;

  const openOne = async (each: ToOpen): Promise<void> => {
    const one = { ...(await open(each, signal)), ...each };
    opened.push(one);
    arrive();
    deliver?.(one);
  };
  const attempts = toOpen.map(openOne);
  const failures: unknown[] = [];
  // What fails before it is awaited is reported when none is left.
  for (const attempt of attempts) attempt.catch((error: unknown) => failures.push(error));
  /** Waits until some are there or have failed, but not long. */
  const settled = async (some: readonly Promise<void>[]): Promise<void> => {
    const done = new AbortController();
    const wait = patience(toOpen, clock, AbortSignal.any([signal, done.signal]));
    await Promise.race([Promise.allSettled(some), wait]).finally(() => done.abort(new Error("not needed")));
    if (failures.length === attempts.length) throw failures[0];
  };
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

  const placedIn = (...places: readonly DriverPlace[]): readonly Promise<void>[] =>
    attempts.filter((_, index) => places.includes(toOpen[index]?.place ?? "address"));
  try {
    await Promise.all(placedIn("inProcess"));
    await settled(placedIn("inProcess", "isolated"));
  } catch (error) {
    await close();
    throw error;
  }
  let delivered = 0;
  return {
    close,
    async first() {
      await settled(attempts);
      following = toOpen.map((each, index) => openAgain(each, attempts[index]));
      if (opened.length === 0) await orAborted(signal, arrival);
      checkNames(opened.map(({ driver }) => driver));
      delivered = opened.length;
      for (const one of opened) report(one, log);
      return opened.map(({ driver }) => driver);
    },
    later(add) {
      deliver = (one) => {
        report(one, log);
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
