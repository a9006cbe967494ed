import { execFile } from "node:child_process";
import { access, constants, mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { withLock } from "./build-lock.ts";
import { CannotBuildError } from "./cannot-build-error.ts";
import { type ModuleName, modules, sourceHash, versionOf } from "./versions.ts";

/** What a program is built of. */
interface Source {
  readonly module: ModuleName;
  readonly target: string;
  /** Further flags of the build command of drivers/go, which is then run in place of the compiler. */
  readonly driver?: readonly string[];
}

/** The programs, and their modules. */
const programs = {
  etcd: { module: "etcd", target: "." },
  "kube-apiserver": { module: "kubernetes", target: "./kube-apiserver" },
  "kube-controller-manager": { module: "kubernetes", target: "./kube-controller-manager" },
  "machine-controller-manager": { module: "go-mcm", target: "./machine-controller-manager" },
  "machine-controller": { module: "go-mcm", target: "./machine-controller" },
  "otel-collector": { module: "otel-collector", target: "." },
  "health-readers": { module: "health-readers", target: "." },
  "flux-apply": { module: "flux-apply", target: "." },
  "argo-diff": { module: "argo-diff", target: "." },
  kwok: { module: "kwok", target: "." },
  "mcm-specs": { module: "mcm-specs", target: "." },
  "outside-driver": {
    module: "drivers-go",
    target: "./build",
    driver: ["-driver", modules["go-mcm"].folder, "-package", "machine-controller"],
  },
  "openstack-driver": {
    module: "drivers-go",
    target: "./build",
    driver: ["-driver", "github.com/gardener/machine-controller-manager-provider-openstack@v0.27.1"],
  },
} as const satisfies Readonly<Record<string, Source>>;

/** A program of the control plane, of the Go MCM, MCM's integration specs, servers of drivers of MCM, a collector of traces, kwok, or what judges, applies or compares objects as GitOps tools do. */
export type Program = keyof typeof programs;

/** Where builds are kept: outside of the repository, so that a fresh clone does not build again. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const base = env["XDG_CACHE_HOME"];
  return join(base !== undefined && base !== "" ? base : join(homedir(), ".cache"), "millwright", "control-plane");
}

/** How to build. */
export interface BuildOptions {
  /** Default: {@link cacheFolder}. */
  readonly cache?: string;
  /** The Go command. Default `go`. */
  readonly go?: string;
  /** Called once before a build, which takes minutes. */
  readonly onBuild?: (program: Program, version: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * The path of a program; builds it with the machine's Go when the cache does not have it. One build at a time on a machine,
 * and a program appears in the cache only once it is complete. Throws a {@link CannotBuildError} when Go or a module is missing.
 */
export async function builtBinary(program: Program, options: BuildOptions = {}): Promise<string> {
  const version = versionOf(programs[program].module);
  const cache = options.cache ?? cacheFolder();
  const path = join(cache, cacheName(program), program);
  if (await isExecutable(path)) return path;
  return withLock(
    join(cache, "build.lock"),
    async () => {
      if (await isExecutable(path)) return path;
      options.onBuild?.(program, version);
      await build(program, version, path, options);
      return path;
    },
    options.signal,
  );
}

/** Our Go sources that are built into the programs of a module. */
const ownSources: Readonly<Record<ModuleName, readonly ModuleName[]>> = {
  etcd: [],
  kubernetes: [],
  "otel-collector": ["otel-collector"],
  "health-readers": ["health-readers"],
  "flux-apply": ["flux-apply"],
  "argo-diff": ["argo-diff"],
  kwok: ["kwok"],
  "mcm-specs": ["mcm-specs"],
  "go-mcm": ["go-mcm"],
  "drivers-go": ["drivers-go", "go-mcm"],
};

/** The folder of a program in the cache: another one when code of this repository changes that is built into it, or the version of a driver. */
function cacheName(program: Program): string {
  const { module, driver = [] }: Source = programs[program];
  const versions = driver.flatMap((flag) => /@(v[\d.]+)$/.exec(flag)?.[1] ?? []);
  const hashes = ownSources[module].map((each) => sourceHash(modules[each].folder));
  return [module, versionOf(module), ...versions, ...hashes].join("-");
}

/** Where a program is, if it has been built. */
export async function findBuilt(program: Program, cache: string = cacheFolder()): Promise<string | undefined> {
  const path = join(cache, cacheName(program), program);
  return (await isExecutable(path)) ? path : undefined;
}

async function build(program: Program, version: string, path: string, options: BuildOptions): Promise<void> {
  const { module, target, driver }: Source = programs[program];
  const { folder } = modules[module];
  await mkdir(join(path, ".."), { recursive: true });
  const aside = `${path}.${process.pid}`;
  const flags = ["-mod=readonly", "-buildvcs=false", "-p", "2", "-trimpath", "-ldflags", linkerFlags(module, version)];
  const command =
    driver === undefined ? ["build", ...flags, "-o", aside, target] : ["run", target, ...driver, "-o", aside];
  const args = ["-n", "15", options.go ?? "go", ...command];
  try {
    await run("nice", args, folder, options.signal);
    await rename(aside, path);
  } catch (error) {
    if (options.signal?.aborted === true) throw options.signal.reason;
    throw new CannotBuildError(
      `${program} ${version} cannot be built: ${lastLine(error)}; install Go and let it reach its module proxy, or set KUBEBUILDER_ASSETS`,
      { cause: error },
    );
  } finally {
    await rm(aside, { force: true });
  }
}

/** Without its version a Kubernetes binary calls itself v0.0.0, and clients refuse to talk to it. */
function linkerFlags(module: ModuleName, version: string): string {
  if (module !== "kubernetes") return "-s -w";
  const [major, minor] = version.slice(1).split(".");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ["-s", "-w", ...settings].join(" ");
}

function run(command: string, args: readonly string[], cwd: string, signal: AbortSignal | undefined): Promise<void> {
  const env = { ...process.env, CGO_ENABLED: "0" };
  return new Promise((resolve, reject) => {
    execFile(command, [...args], { cwd, env, signal, maxBuffer: 64 << 20 }, (error, _stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(stderr.trim() === "" ? error.message : stderr, { cause: error }));
    });
  });
}

function lastLine(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).trim().split("\n");
  return lines.at(-1) ?? "";
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
