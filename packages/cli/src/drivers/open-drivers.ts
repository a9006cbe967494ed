import { fileURLToPath } from "node:url";
import { type Clock, ConfigError, systemClock } from "@millwright/base";
import type { Log } from "@millwright/kube";
import type * as Runtime from "@millwright/runtime";
import { childEnvironment } from "./child-environment.ts";
import {
  collectDrivers,
  type DriverCollection,
  type DriverPlace,
  type DriverToOpen,
  type OpenedDriver,
} from "./collect-drivers.ts";
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

/** Names of drivers, each with its place: those of this repository and trusted ones run in this process, all others in one of their own (docs/project/decisions/driver-isolation.md). */
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

/** A driver to open, and the digest that its files must have. */
interface DriverToLoad extends DriverToOpen {
  readonly digest: string | undefined;
}

const commandFor = (
  { provider, digest }: DriverToLoad,
  { providerMemoryLimit: limit }: ProviderFlags,
): readonly [string, ...string[]] => [
  process.execPath,
  ...nodeFlags,
  `--max-old-space-size=${Math.ceil(limit * HEAP_SHARE)}`,
  bin,
  "driver",
  "serve",
  provider,
  `--memory-limit=${limit}`,
  ...(digest === undefined ? [] : [`--digest=${digest}`]),
];

/** What drivers are opened with. */
export interface OpenDriversOptions {
  readonly runtime: Pick<typeof Runtime, "createOutputLog" | "isOwnDriver" | "loadDriver" | "versionOfDriver">;
  readonly log: Log;
  /** Ends waiting for drivers that are not there yet. */
  readonly signal: AbortSignal;
  /** Default: the system's. */
  readonly clock?: Clock;
}

async function openInProcess(
  { provider, digest }: DriverToLoad,
  { runtime }: OpenDriversOptions,
): Promise<OpenedDriver> {
  const driver = await runtime.loadDriver(provider, digest === undefined ? {} : { digest });
  return { driver, version: await runtime.versionOfDriver(provider), close: () => Promise.resolve() };
}

async function openIsolated(
  driver: DriverToLoad,
  flags: ProviderFlags,
  options: OpenDriversOptions,
): Promise<OpenedDriver> {
  const { log, runtime, signal } = options;
  const { startDriverProcess } = await import("@millwright/driver-rpc");
  const output = runtime.createOutputLog(driver.provider, log, systemClock);
  return startDriverProcess({
    command: commandFor(driver, flags),
    env: childEnvironment(process.env, flags.providerEnv ?? []),
    subject: `--provider ${driver.provider}`,
    unresponsiveMs: flags.providerUnresponsiveTimeout,
    onLine: output.line,
    onSecrets: output.use,
    signal,
    log,
  });
}

async function openDriver(
  toOpen: DriverToLoad,
  flags: ProviderFlags,
  options: OpenDriversOptions,
): Promise<OpenedDriver> {
  const { provider, place } = toOpen;
  if (place === "isolated") return openIsolated(toOpen, flags, options);
  if (place === "inProcess") return openInProcess(toOpen, options);
  const { connectDriver } = await import("@millwright/driver-rpc");
  return connectDriver(provider, { ...tlsOf(flags), signal: options.signal, log: options.log });
}

/**
 * Loads and starts the drivers of the flags, and connects those at addresses; see {@link DriverCollection} for those that are not there yet.
 *
 * @throws ConfigError when one cannot be loaded into this process
 */
export async function openDrivers(flags: ProviderFlags, options: OpenDriversOptions): Promise<DriverCollection> {
  const places = placeDrivers(flags, options.runtime.isOwnDriver);
  const digests = readDigests(flags.providerDigest ?? [], places);
  const toOpen = [...places].map(([provider, place]) => ({ provider, place, digest: digests.get(provider) }));
  const { log, signal, clock = systemClock } = options;
  return collectDrivers(toOpen, {
    open: (each, signal) => openDriver(each, flags, { ...options, signal }),
    clock,
    log,
    signal,
  });
}
