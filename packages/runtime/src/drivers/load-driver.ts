import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  ConfigError,
  defineDriver,
  type Driver,
  type DriverDefinition,
  isConfigError,
  isDriverFor,
} from "@millwright/core";
import { messageOf } from "@millwright/kube";
import { runInDriverScope } from "./stray-errors.ts";

/** Drivers of this repository by their short names. */
const shortNames: Readonly<Record<string, string>> = {
  mock: "@millwright/provider-mock",
  aws: "@millwright/provider-aws",
  gcp: "@millwright/provider-gcp",
  azure: "@millwright/provider-azure",
  qemu: "@millwright/provider-qemu",
};

/** The short name of a driver of this repository, as in `--provider` and `MachineClass.provider`, ignoring case; `undefined` when there is none. */
const shortNameFor = (provider: string): string | undefined =>
  Object.keys(shortNames).find((name) => name === provider.toLowerCase());

/** Whether a name of `--provider` means a driver of this repository, by its short name or its package. */
export const isOwnDriver = (name: string): boolean =>
  shortNameFor(name) !== undefined || Object.values(shortNames).includes(name);

const packageFor = (name: string): string => shortNames[shortNameFor(name) ?? ""] ?? name;

const expectation = `expected ${Object.keys(shortNames).join(", ")}, or an npm package or file (./driver.ts) that exports a driver by default`;

const ownFile = fileURLToPath(import.meta.url);

/** What is wrong, in one line. The import of the driver by this file is left out; the import of a missing module by the driver is not. */
const reasonOf = (cause: unknown): string =>
  messageOf(cause).split("\n")[0]?.replace(` imported from ${ownFile}`, "") ?? "";

/** Where a package or file is found: next to this package, else from the working directory, as a person would expect of both. */
function locate(name: string, folder: string): string {
  if (name.startsWith(".") || name.startsWith("/")) return pathToFileURL(resolve(folder, name)).href;
  try {
    return import.meta.resolve(name);
  } catch {
    return pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href;
  }
}

/**
 * The file: URL of the module of a driver, named as for {@link loadDriver}.
 *
 * @throws an error of module resolution when it cannot be found
 */
export const locateDriver = (name: string, folder: string = process.cwd()): string => locate(packageFor(name), folder);

/**
 * Loads the driver that a package exports by default. `name` is the name of an npm package, a path that starts with `.` or `/`, or the short name of
 * one of our own drivers (`mock`, `aws`, `gcp`, `azure`, `qemu`), in any case: classes have `AWS` and `Azure`.
 *
 * @param folder where relative paths start and packages are looked for too. Default: the working directory
 * @throws ConfigError in one line when it cannot be found, cannot be loaded, or is no driver
 */
export async function loadDriver(name: string, folder: string = process.cwd()): Promise<Driver> {
  let loaded: unknown;
  const scope = { driver: name, confidential: {} };
  try {
    loaded = await runInDriverScope(scope, () => import(locateDriver(name, folder)));
  } catch (cause) {
    throw new ConfigError(`--provider ${name}: cannot be loaded: ${reasonOf(cause)}; ${expectation}`, { cause });
  }
  const candidate: unknown = typeof loaded === "object" && loaded !== null ? Reflect.get(loaded, "default") : undefined;
  try {
    // defineDriver validates every part of it and rejects anything else.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const driver = defineDriver(candidate as DriverDefinition<unknown>);
    scope.driver = driver.name;
    return driver;
  } catch (cause) {
    if (!isConfigError(cause)) throw cause;
    throw new ConfigError(`--provider ${name}: ${cause.message}`, { cause });
  }
}

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
