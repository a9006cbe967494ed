import { execFile } from "node:child_process";
import { mkdtemp, readFile, realpath, rm, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildStateOf } from "./build-state.ts";
import { withLock } from "./control-plane/build-lock.ts";
import { createPublications, type PublicationRules } from "./publications.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const run = promisify(execFile);

/** The part of a package.json that an installation reads. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package that the registry has. */
interface Source {
  /** Where it is installed. */
  readonly folder: string;
  readonly manifest: Manifest;
}

const manifestIn = async (folder: string): Promise<Manifest | undefined> => {
  try {
    return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
};

/** The folder from which a package in `from` loads another one; undefined if that is not installed. */
async function installedIn(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if ((await manifestIn(candidate)) !== undefined) return realpath(candidate);
    if (folder === dirname(folder)) return undefined;
  }
}

/** Folders of packages and of all that they depend on. Optional parts of other systems are not installed, and missing. */
async function withDependencies(names: readonly string[]): Promise<readonly Source[]> {
  const found = new Map<string, Manifest>();
  const add = async (name: string, from: string): Promise<void> => {
    const folder = await installedIn(name, from);
    const manifest = folder === undefined ? undefined : await manifestIn(folder);
    if (folder === undefined || manifest === undefined || found.has(folder)) return;
    found.set(folder, manifest);
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      await add(next, folder);
  };
  for (const name of names) await add(name, root);
  return [...found].map(([folder, manifest]) => ({ folder, manifest }));
}

/** Builds packages of this repository and what they depend on, unless all are built: nx writes the files of a package again each time, under the processes that have started from them. */
async function buildPackages(own: readonly Source[]): Promise<void> {
  if (own.every(({ folder }) => buildStateOf(folder) === "up to date")) return;
  const nx = await realpath(join(root, "node_modules/.bin/nx"));
  const env = { ...process.env, NX_DAEMON: "false", FORCE_COLOR: "0" };
  const names = own.map(({ manifest }) => manifest.name).join(",");
  await run(process.execPath, [nx, "run-many", "-t", "build", "-p", names], { cwd: root, env });
}

/** Name of the file of a package, as `npm pack` forms it. */
const fileOf = ({ name, version }: Manifest): string => `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;

/** Packs a package as it is installed. */
async function packInstalled({ folder, manifest }: Source, into: string): Promise<void> {
  const place = await mkdtemp(join(into, "link-"));
  await symlink(folder, join(place, "package"));
  const flags = ["--exclude=package/node_modules", "-chzf", join(into, fileOf(manifest))];
  await run("tar", [...flags, "package"], { cwd: place });
}

/** A registry on this machine. */
export interface LocalRegistry {
  readonly url: string;
  /** `name@version` of what was published to it, in this order. */
  published(): readonly string[];
  close(): Promise<void>;
}

/** How a registry is used. */
export interface LocalRegistryOptions {
  /** Packages of this repository are built, but the registry has them only once they are published to it. Default: it has them from the start, as they would be published. */
  readonly publishing?: PublicationRules;
}

/**
 * Starts an npm registry with packages of this repository, built and packed as they would be published, and with what they depend on, as it is installed here. So an installation from it is one of a
 * user, and needs no network.
 */
export async function startLocalRegistry(
  names: readonly string[],
  { publishing }: LocalRegistryOptions = {},
): Promise<LocalRegistry> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-registry-"));
  const installed = await withDependencies(names);
  const own = installed.filter((source) => !source.folder.includes("node_modules"));
  const sources = publishing === undefined ? installed : installed.filter((source) => !own.includes(source));
  const publications = publishing === undefined ? undefined : createPublications(publishing);
  const flags = ["--ignore-scripts", "--pack-destination", folder];
  // Builds of processes side by side would remove each other's files.
  await withLock(join(root, "node_modules/.cache/millwright/packages.lock"), async () => {
    await buildPackages(own);
    if (publishing === undefined)
      await run("npm", ["pack", ...own.map((source) => source.folder), ...flags], { cwd: root, maxBuffer: 64 << 20 });
  });

  /** By file. npm may fetch a file again before its first answer ends: it is written once. */
  const packed = new Map<string, Promise<void>>(own.map(({ manifest }) => [fileOf(manifest), Promise.resolve()]));
  const packOnce = (source: Source): Promise<void> => {
    const file = fileOf(source.manifest);
    const known = packed.get(file);
    if (known !== undefined) return known;
    const packing = packInstalled(source, folder);
    packed.set(file, packing);
    return packing;
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const fail = (error: unknown): void => void response.writeHead(500).end(String(error));
    if (request.method === "PUT" && publications !== undefined) {
      publications.publish(request).then((status) => void response.writeHead(status).end("{}"), fail);
      return;
    }
    const published = publications?.tarball(`/${path}`) ?? publications?.packument(path);
    if (published !== undefined) {
      response.end(Buffer.isBuffer(published) ? published : JSON.stringify(published));
      return;
    }
    const named = sources.find(({ manifest }) => path === `-/${fileOf(manifest)}`);
    if (named !== undefined) {
      packOnce(named)
        .then(() => readFile(join(folder, fileOf(named.manifest))))
        .then((file) => void response.end(file))
        .catch(fail);
      return;
    }
    const versions = sources.filter(({ manifest }) => manifest.name === path).map(({ manifest }) => manifest);
    const entries = versions.map((manifest) => {
      const tarball = `http://${request.headers.host ?? ""}/-/${fileOf(manifest)}`;
      return [manifest.version, { ...manifest, dist: { tarball } }] as const;
    });
    const latest = versions[0]?.version;
    response.writeHead(latest === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ name: path, "dist-tags": { latest }, versions: Object.fromEntries(entries) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    published: () => publications?.list() ?? [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
