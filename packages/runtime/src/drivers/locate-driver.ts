import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError, nearestName } from "@millwright/base";
import { installRemedy } from "./install-remedy.ts";

/** Drivers of this repository by their short names. */
const shortNames: Readonly<Record<string, string>> = {
  mock: "@millwright/provider-mock",
  aws: "@millwright/provider-aws",
  gcp: "@millwright/provider-gcp",
  azure: "@millwright/provider-azure",
  qemu: "@millwright/provider-qemu",
};

/** The short name of a driver of this repository, as in `--provider` and `MachineClass.provider`, ignoring case; `undefined` when there is none. */
export const shortNameFor = (provider: string): string | undefined =>
  Object.keys(shortNames).find((name) => name === provider.toLowerCase());

/** Whether a name of `--provider` means a driver of this repository, by its short name or its package. */
export const isOwnDriver = (name: string): boolean =>
  shortNameFor(name) !== undefined || Object.values(shortNames).includes(splitVersion(name).name);

const packageFor = (name: string): string => shortNames[shortNameFor(name) ?? ""] ?? name;

const isPath = (name: string): boolean => name.startsWith(".") || name.startsWith("/");

/** A name of `--provider`, and the version that it demands: `@example/driver@1.2.3`. */
export function splitVersion(text: string): { readonly name: string; readonly version?: string } {
  const [, name, version] = /^(@?[^@]+)@(\d[^@/]*)$/.exec(text) ?? [];
  return isPath(text) || name === undefined || version === undefined ? { name: text } : { name, version };
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes(String(Reflect.get(error, "code")));

/** Next to this package, else from the folder, as a person would expect of both. */
function locatePackage(name: string, folder: string): string {
  try {
    return import.meta.resolve(name);
  } catch {
    return pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href;
  }
}

const expected = `expected ${Object.keys(shortNames).join(", ")}, an npm package, or a path that starts with ./ or /`;

/**
 * The file: URL of the module of a driver: an npm package, a path that starts with `.` or `/`, or the short name of a driver of this repository.
 *
 * @param folder where relative paths start and packages are looked for too. Default: the working directory
 * @throws ConfigError in one line when there is none
 */
export function locateDriver(text: string, folder: string = process.cwd()): string {
  const { name, version } = splitVersion(text);
  if (name === "") throw new ConfigError(`--provider : the name is empty; ${expected}`);
  if (isPath(name)) {
    const path = resolve(folder, name);
    if (!existsSync(path)) throw new ConfigError(`--provider ${text}: there is no file ${path}`);
    return pathToFileURL(path).href;
  }
  try {
    const url = locatePackage(packageFor(name), folder);
    if (url.startsWith("file:")) return url;
    throw new Error("it is a module of Node");
  } catch (cause) {
    if (!isMissing(cause)) {
      const [reason] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
      throw new ConfigError(`--provider ${text}: cannot be loaded: ${reason}; ${expected}`, { cause });
    }
    const inFolder = existsSync(resolve(folder, name)) ? `; for the file ./${name} write --provider ./${name}` : "";
    const own = shortNameFor(name) ?? Object.keys(shortNames).find((each) => shortNames[each] === name);
    const short = nearestName(name, Object.keys(shortNames));
    const hint = own !== undefined ? "" : short === undefined ? `; ${expected}` : `; did you mean ${short}?`;
    const wanted = version === undefined ? packageFor(name) : `${name}@${version}`;
    const remedy = installRemedy(wanted, version === undefined ? own : undefined);
    throw new ConfigError(`--provider ${text}: the package is not installed: ${remedy}${inFolder}${hint}`, { cause });
  }
}
