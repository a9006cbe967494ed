import { execFile } from "node:child_process";
import { copyFile, lutimes, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startLocalRegistry } from "../local-registry.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** Files that no image needs. */
const unneeded = /\.(?:d\.ts|d\.mts|d\.cts|map|md|markdown|flow)$/i;

/** Files that must go wherever the package goes, also as Markdown. */
const legal = /^(?:licen[cs]e|copying|copyright|notice)/i;

/** Name of an image with these drivers, without what the names of images do not allow. */
export const imageName = (drivers: readonly string[]): string =>
  ["millwright", ...drivers.map((driver) => driver.replaceAll(/[^a-z0-9.-]+/g, "-").replace(/^-/, ""))].join("-");

/** Released packages, in place of those of this repository. */
export interface ReleasedPackages {
  /** Of the npm registry. */
  readonly url: string;
  readonly version: string;
}

const packageOf = (driver: string): string => (/^[a-z]+$/.test(driver) ? `@millwright/provider-${driver}` : driver);

/**
 * Writes what an image is built from. Versions of third-party packages are those of package-lock.json, and times of files are fixed, so that two runs give the same layers.
 *
 * @param drivers short names of drivers of this repository, or packages that are installed here
 * @param released default: the packages of this repository, as they would be published
 * @throws Error when the folder is not empty, or an installation fails
 */
export async function stageImage(
  drivers: readonly string[],
  folder: string,
  released?: ReleasedPackages,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`);
  const names = ["@millwright/cli", "@millwright/tracing", ...drivers.map(packageOf)];
  const registry = released === undefined ? await startLocalRegistry(names) : undefined;
  const versioned = released === undefined ? names : names.map((name) => `${name}@${released.version}`);
  const home = await mkdtemp(join(tmpdir(), "millwright-image-"));
  const app = join(folder, "app");
  try {
    await mkdir(app);
    await writeFile(
      join(app, "package.json"),
      `${JSON.stringify({ name: imageName(drivers), version: "0.0.0", private: true, type: "module" })}\n`,
    );
    const env = {
      ...process.env,
      npm_config_registry: registry?.url ?? released?.url,
      npm_config_cache: join(home, "cache"),
      npm_config_userconfig: join(home, "npmrc"),
      npm_config_noproxy: "127.0.0.1",
    };
    const npm = async (...args: readonly string[]): Promise<string> =>
      (await run("npm", args, { cwd: app, env, maxBuffer: 64 << 20 })).stdout;
    await npm("install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", ...versioned);
    const list: unknown = JSON.parse(await npm("sbom", "--sbom-format=cyclonedx", "--omit=dev"));
    const packages = `${JSON.stringify(repeatable(list), undefined, 2)}\n`;
    // Beside the image for scanners, and in it for users who have only the image.
    for (const place of [folder, app]) await writeFile(join(place, "sbom.cdx.json"), packages);
    // They name the registry, which exists no longer.
    for (const name of ["package-lock.json", "node_modules/.package-lock.json"]) await rm(join(app, name));
    await prune(app);
    await copyFile(join(root, "deploy/images/Containerfile"), join(folder, "Containerfile"));
  } finally {
    await registry?.close();
    await rm(home, { recursive: true, force: true });
  }
}

const without = (object: object, name: string): object =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

/** A list of packages without what differs between two runs. */
function repeatable(list: unknown): unknown {
  const metadata = without(Object(Object(list).metadata), "timestamp");
  const text = JSON.stringify({ ...without(Object(list), "serialNumber"), metadata });
  return JSON.parse(text.replaceAll(/http:\/\/127\.0\.0\.1:\d+\//g, ""));
}

/** Removes what no image needs, and then gives all that is left one time. */
async function prune(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && unneeded.test(entry.name) && !legal.test(entry.name))
      await rm(join(entry.parentPath, entry.name));
  for (const name of [...(await readdir(folder, { recursive: true })), ""]) await lutimes(join(folder, name), 0, 0);
}
