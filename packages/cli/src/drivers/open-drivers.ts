import { fileURLToPath } from "node:url";
import { ConfigError, type Driver, isDriverFor, systemClock } from "@millwright/core";
import type { Log } from "@millwright/kube";
import type * as Runtime from "@millwright/runtime";
import { childEnvironment } from "./child-environment.ts";
import { isAddress, type ProviderTlsFlags, tlsOf } from "./driver-address.ts";

/** Flags about drivers. */
export interface ProviderFlags extends ProviderTlsFlags {
  readonly provider?: readonly string[];
  readonly providerInProcess?: readonly string[];
  readonly providerIsolated?: readonly string[];
  /** Names of environment variables. */
  readonly providerEnv?: readonly string[];
  /** `NAME=sha256:…` */
  readonly providerDigest?: readonly string[];
  /** Mebibytes. */
  readonly providerMemoryLimit: number;
  /** Milliseconds. */
  readonly providerUnresponsiveTimeout: number;
}

/** Where a driver runs. */
export type DriverPlace = "address" | "inProcess" | "isolated";

/** Drivers, with what has to be closed at the end. */
export interface OpenedDrivers {
  /**
   * All of them, once those at addresses are there.
   *
   * @throws ConfigError when one of them cannot be used, or two have the same name
   */
  all(): Promise<readonly Driver[]>;
  close(): Promise<void>;
}

/** Names of drivers, each with its place: those of this repository and trusted ones run in this process, all others in one of their own (docs/decisions/driver-isolation.md). */
export function placeDrivers(
  flags: Pick<ProviderFlags, "provider" | "providerInProcess" | "providerIsolated">,
  isOwnDriver: (name: string) => boolean,
): ReadonlyMap<string, DriverPlace> {
  const { provider = [], providerInProcess = [], providerIsolated = [] } = flags;
  for (const name of [...providerInProcess, ...providerIsolated])
    if (isAddress(name)) throw new ConfigError(`address ${name}: name it with --provider; its driver runs elsewhere`);
  const both = providerInProcess.find((name) => providerIsolated.includes(name));
  if (both !== undefined)
    throw new ConfigError(`driver ${both}: --provider-in-process or --provider-isolated, not both`);
  const places = new Map<string, DriverPlace>();
  for (const name of provider)
    places.set(name, isAddress(name) ? "address" : isOwnDriver(name) ? "inProcess" : "isolated");
  for (const name of providerInProcess) places.set(name, "inProcess");
  for (const name of providerIsolated) places.set(name, "isolated");
  return places;
}

/**
 * The digests of drivers, by their names.
 *
 * @throws ConfigError for one that cannot be read, or of a driver that is not loaded here: it would not be checked
 */
export function readDigests(
  texts: readonly string[],
  places: ReadonlyMap<string, DriverPlace>,
): ReadonlyMap<string, string> {
  const digests = texts.map((text): readonly [string, string] => {
    const [, name, digest] = /^(.+)=(sha256:[0-9a-f]{64})$/.exec(text) ?? [];
    if (name === undefined || digest === undefined)
      throw new ConfigError(
        `--provider-digest ${text}: expected NAME=sha256:…, as millwright driver digest NAME prints it`,
      );
    const place = places.get(name);
    if (place === "address")
      throw new ConfigError(`--provider-digest ${name}: a driver at an address is loaded elsewhere`);
    if (place === undefined)
      throw new ConfigError(`--provider-digest ${name}: no such driver; expected ${[...places.keys()].join(" or ")}`);
    return [name, digest];
  });
  return new Map(digests);
}

const bin = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../bin.ts" : "../bin.js", import.meta.url));

/** Settings of Node that decide which files are loaded. */
const nodeFlags = process.execArgv.filter((flag) => flag.startsWith("--conditions="));

/** How much of the memory of its process a driver may have on the heap: the rest is for buffers and code. */
const HEAP_SHARE = 0.75;

/** A driver to open. */
interface DriverToOpen {
  readonly name: string;
  readonly place: DriverPlace;
  /** What its files must have. */
  readonly digest: string | undefined;
}

const commandFor = (
  { name, digest }: DriverToOpen,
  { providerMemoryLimit: limit }: ProviderFlags,
): readonly [string, ...string[]] => [
  process.execPath,
  ...nodeFlags,
  `--max-old-space-size=${Math.ceil(limit * HEAP_SHARE)}`,
  bin,
  "driver",
  "serve",
  name,
  `--memory-limit=${limit}`,
  ...(digest === undefined ? [] : [`--digest=${digest}`]),
];

/** @throws ConfigError for two drivers of one name, of which classes would get one or the other */
function checkNames(drivers: readonly Driver[]): void {
  for (const [index, driver] of drivers.entries())
    if (drivers.slice(0, index).some((other) => isDriverFor(other, driver.name)))
      throw new ConfigError(`two drivers have the name "${driver.name}": name one of them with --provider`);
}

/** What drivers are opened with. */
export interface OpenDriversOptions {
  readonly runtime: Pick<typeof Runtime, "createOutputLog" | "isOwnDriver" | "loadDriver" | "versionOfDriver">;
  readonly log: Log;
  /** Ends waiting for drivers that are not there yet. */
  readonly signal: AbortSignal;
}

/** A driver, and how to close it. */
interface OpenedDriver {
  readonly driver: Driver;
  /** Of its package; empty where it has none. */
  readonly version: string;
  close(): Promise<void>;
}

async function openInProcess({ name, digest }: DriverToOpen, { runtime }: OpenDriversOptions): Promise<OpenedDriver> {
  const driver = await runtime.loadDriver(name, digest === undefined ? {} : { digest });
  return { driver, version: await runtime.versionOfDriver(name), close: () => Promise.resolve() };
}

async function openIsolated(
  driver: DriverToOpen,
  flags: ProviderFlags,
  options: OpenDriversOptions,
): Promise<OpenedDriver> {
  const { log, runtime, signal } = options;
  const { startDriverProcess } = await import("@millwright/driver-rpc");
  const output = runtime.createOutputLog(driver.name, log, systemClock);
  return startDriverProcess({
    command: commandFor(driver, flags),
    env: childEnvironment(process.env, flags.providerEnv ?? []),
    subject: `--provider ${driver.name}`,
    unresponsiveMs: flags.providerUnresponsiveTimeout,
    onLine: output.line,
    onSecrets: output.use,
    signal,
    log,
  });
}

async function openDriver(
  toOpen: DriverToOpen,
  flags: ProviderFlags,
  options: OpenDriversOptions,
): Promise<OpenedDriver> {
  const { name, place } = toOpen;
  if (place === "isolated") return openIsolated(toOpen, flags, options);
  if (place === "inProcess") return openInProcess(toOpen, options);
  const { connectDriver } = await import("@millwright/driver-rpc");
  return connectDriver(name, { ...tlsOf(flags), signal: options.signal, log: options.log });
}

/**
 * Loads and starts the drivers of the flags, and connects those at addresses: a driver that is not there yet does not keep the process from serving its endpoints.
 *
 * @throws ConfigError when one of them cannot be loaded or started; the others are closed then
 */
export async function openDrivers(flags: ProviderFlags, options: OpenDriversOptions): Promise<OpenedDrivers> {
  const places = placeDrivers(flags, options.runtime.isOwnDriver);
  const digests = readDigests(flags.providerDigest ?? [], places);
  const toOpen = [...places].map(([name, place]): DriverToOpen => ({ name, place, digest: digests.get(name) }));
  const closed = new AbortController();
  const signal = AbortSignal.any([options.signal, closed.signal]);
  const opening = toOpen.map((each) => openDriver(each, flags, { ...options, signal }));
  const local = opening.filter((_, index) => toOpen[index]?.place !== "address");
  const close = async (): Promise<void> => {
    closed.abort(new Error("drivers are closed"));
    const results = await Promise.allSettled(opening);
    await Promise.all(results.flatMap((result) => (result.status === "fulfilled" ? [result.value.close()] : [])));
  };
  // What fails before it is awaited is reported by all().
  for (const each of opening) each.catch(() => undefined);
  try {
    await Promise.all(local);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    close,
    async all() {
      const opened = await Promise.all(opening);
      const drivers = opened.map(({ driver }) => driver);
      checkNames(drivers);
      for (const [index, { driver, version }] of opened.entries()) {
        const { name: provider, place } = toOpen[index] ?? {};
        options.log("info", "Driver is loaded", { driver: driver.name, provider, place, version });
      }
      return drivers;
    },
  };
}
