import { fileURLToPath } from "node:url";
import { type Clock, ConfigError, isConfigError, isRecord, systemClock } from "@millwright/base";
import { defineDriver, type Driver, type DriverDefinition } from "@millwright/core";
import { isDriverFor } from "@millwright/core/driver-host";
import { messageOf } from "@millwright/kube";
import { describeDriverFiles, packageOf } from "./driver-files.ts";
import { locateDriver, shortNameFor, splitVersion } from "./locate-driver.ts";
import { runInDriverScope } from "./stray-errors.ts";

/** How a driver is loaded. */
export interface LoadDriverOptions {
  /** Where relative paths start and packages are looked for too. Default: the working directory. */
  readonly folder?: string;
  /** What its files must have, as {@link describeDriverFiles} makes it. Default: anything. */
  readonly digest?: string;
  /** Longest time, milliseconds. Default 60 s. */
  readonly timeoutMs?: number;
  readonly clock?: Pick<Clock, "setTimer">;
}

const LOAD_MS = 60_000;

const ownFile = fileURLToPath(import.meta.url);

/** Why a module cannot be loaded, in one line. The import of the driver by this file is left out; the import of a missing module by the driver is not. */
function reasonOf(cause: unknown): string {
  const reason = messageOf(cause).split("\n")[0]?.replace(` imported from ${ownFile}`, "") ?? "";
  const missing = /^Cannot find package '([^']+)'/.exec(reason)?.[1];
  return missing === undefined ? reason : `${reason}: npm install ${missing}`;
}

/** @throws ConfigError for another version than the demanded one, or other files */
async function checkFiles(text: string, file: string, { digest }: LoadDriverOptions): Promise<void> {
  const { name, version } = splitVersion(text);
  if (version !== undefined) {
    const installed = (await packageOf(file))?.version;
    if (installed !== version)
      throw new ConfigError(
        `--provider ${text}: version ${installed ?? "unknown"} is installed: npm install ${name}@${version}`,
      );
  }
  if (digest === undefined) return;
  const { digest: actual } = await describeDriverFiles(file);
  if (actual !== digest)
    throw new ConfigError(
      `--provider ${text}: its files have changed: the digest is ${actual}, expected ${digest}; install the expected version, or change --provider-digest`,
    );
}

/** Imports a module. One whose top level never ends would end this process without a message. */
async function importWithin(url: string, { timeoutMs = LOAD_MS, clock = systemClock }: LoadDriverOptions) {
  const late = Promise.withResolvers<never>();
  const timer = clock.setTimer(timeoutMs, () =>
    late.reject(
      new Error(`its module did not load within ${timeoutMs / 1_000} s: a promise at its top level never settles`),
    ),
  );
  try {
    const loaded: unknown = await Promise.race([import(url), late.promise]);
    return loaded;
  } finally {
    timer.cancel();
  }
}

const write = "write export default defineDriver({ … })";

/**
 * The driver of a module: its default export.
 *
 * @throws ConfigError with what to write for exports that are none
 */
function driverOf(loaded: unknown): unknown {
  const exports: Readonly<Record<string, unknown>> = isRecord(loaded) ? loaded : {};
  const candidate = exports["default"];
  if (isRecord(candidate) && candidate["__esModule"] === true && "default" in candidate)
    throw new ConfigError(
      'it is a CommonJS module, compiled from ES modules: set "type": "module" in its package.json and compile to ES modules',
    );
  if (candidate instanceof Promise)
    throw new ConfigError("the default export is a promise: write export default await …");
  if (typeof candidate === "function") {
    const isClass = /^class\b/.test(Function.prototype.toString.call(candidate));
    const remedy = isClass ? `write export default defineDriver(new ${candidate.name || "Driver"}())` : write;
    throw new ConfigError(`the default export is a ${isClass ? "class" : "function"}: ${remedy}`);
  }
  if (candidate === undefined || (isRecord(candidate) && Object.keys(candidate).length === 0)) {
    const named = Object.keys(exports).find((key) => {
      const value = exports[key];
      return isRecord(value) && typeof value["createMachine"] === "function";
    });
    throw new ConfigError(
      `it has no default export: ${named === undefined ? write : `the driver is its export "${named}"; write export default ${named}`}`,
    );
  }
  return candidate;
}

/**
 * Loads the driver that a package exports by default. `name` is the name of an npm package, also with a version (`@example/driver@1.2.3`), a path that starts with `.` or `/`, or the
 * short name of one of our own drivers (`mock`, `aws`, `gcp`, `azure`, `qemu`), in any case: classes have `AWS` and `Azure`.
 *
 * @throws ConfigError in one line when it cannot be found, has other files or another version than expected, cannot be loaded, or is no driver
 */
export async function loadDriver(name: string, options: LoadDriverOptions = {}): Promise<Driver> {
  const url = locateDriver(name, options.folder);
  await checkFiles(name, fileURLToPath(url), options);
  let loaded: unknown;
  const scope = { driver: name, confidential: {} };
  try {
    loaded = await runInDriverScope(scope, () => importWithin(url, options));
  } catch (cause) {
    throw new ConfigError(`--provider ${name}: cannot be loaded: ${reasonOf(cause)}`, { cause });
  }
  try {
    // defineDriver validates every part of it and rejects anything else.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const driver = defineDriver(driverOf(loaded) as DriverDefinition<unknown>);
    scope.driver = driver.name;
    return driver;
  } catch (cause) {
    if (!isConfigError(cause)) throw cause;
    throw new ConfigError(`--provider ${name}: ${cause.message}`, { cause });
  }
}

/** The version of the package of a driver; empty for a file in no published package. Loads nothing. */
export const versionOfDriver = async (name: string): Promise<string> =>
  (await packageOf(fileURLToPath(locateDriver(name))))?.version ?? "";

/**
 * Loads the named drivers, and makes what finds the driver of a class by its provider: among them, else among those of this repository.
 *
 * @param load loads a named one. Default: {@link loadDriver}
 * @throws ConfigError when one of the named cannot be loaded; so does the result, for a provider without a driver
 */
export async function createDriverFinder(
  names: readonly string[],
  load: (name: string) => Promise<Driver> = (name) => loadDriver(name),
): Promise<(provider: string) => Promise<Driver>> {
  const named = await Promise.all(names.map(load));
  return async (provider) => {
    const driver = named.find((each) => isDriverFor(each, provider));
    if (driver !== undefined) return driver;
    const short = shortNameFor(provider);
    if (short !== undefined) return loadDriver(short);
    throw new ConfigError(`no driver "${provider}" is known; name its package with --provider`);
  };
}
