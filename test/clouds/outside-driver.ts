import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectDriver, type DriverConnection } from "@millwright/driver-rpc";
import { findBuilt } from "../../tools/control-plane/build-binary.ts";
import { startMillwright } from "../harness/millwright.ts";
import { type Program, startProgram } from "../harness/program.ts";

/** The command of a driver that listens on a unix socket. */
export interface OutsideCommand {
  readonly path: string;
  readonly args: (socket: string) => readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A driver in a process of another language. */
export interface OutsideDriver {
  /** For `--provider`. */
  readonly address: string;
  connect(): Promise<DriverConnection>;
  /** Kills the process, and starts another one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a driver. */
export async function startOutsideDriver({ path, args, env }: OutsideCommand): Promise<OutsideDriver> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-outside-"));
  const socket = join(folder, "driver.sock");
  const start = (): Program => startProgram(path, path, args(socket), { MILLWRIGHT_DRIVER_SOCKET: socket, ...env });
  let process = start();
  return {
    address: `unix://${socket}`,
    connect: () => connectDriver(`unix://${socket}`),
    async restart() {
      await process.stop("SIGKILL");
      process = start();
    },
    async close() {
      await process.stop("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** MCM's driver of the simulated cloud, in Go; undefined where `npm run control-plane -- build outside-driver` has not built it. */
export async function goDriver(namespace: string): Promise<OutsideCommand | undefined> {
  const path = await findBuilt("outside-driver");
  const flags = ["--provider=mock", `--namespace=${namespace}`];
  return path === undefined ? undefined : { path, args: (socket) => [`--socket=${socket}`, ...flags] };
}

const pythonFolder = join(homedir(), ".cache/millwright/outside-driver-python");
/** The package for drivers in Python. */
export const pythonPackage = fileURLToPath(new URL("../../drivers/python/", import.meta.url));

/** The driver in Python; undefined where `drivers/python/install` has not installed what it needs. */
export function pythonDriver(vms: string): OutsideCommand | undefined {
  if (!existsSync(join(pythonFolder, "complete"))) return undefined;
  return {
    path: join(pythonFolder, "bin/python"),
    args: (socket) => [join(pythonPackage, "examples/folder_driver.py"), vms, socket],
    env: { PYTHONPATH: pythonPackage, PYTHONDONTWRITEBYTECODE: "1" },
  };
}

/** What `millwright conformance` checks of a driver at an address in these tests. The whole suite runs elsewhere. */
const someRules = ["driver", "spec.pure", "create.repeat-returns-same-vm", "status", "delete.repeat-succeeds", "run"];

/** Runs `millwright conformance` as a user does, with manifests of a class and its Secret. */
export async function checkAtAddress(
  address: string,
  providerSpec: unknown,
  secret: Readonly<Record<string, string>>,
  more: readonly string[] = ["--only", ...someRules],
): Promise<{ readonly code: number; readonly output: string }> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-manifests-"));
  const [classFile, secretFile] = [join(folder, "class.yaml"), join(folder, "secret.yaml")];
  await writeFile(classFile, JSON.stringify({ kind: "MachineClass", metadata: { name: "small" }, providerSpec }));
  await writeFile(secretFile, JSON.stringify({ kind: "Secret", stringData: secret }));
  const files = [`--class=${classFile}`, `--secret=${secretFile}`];
  const command = startMillwright(["conformance", `--provider=${address}`, ...files, ...more]);
  const code = await command.ended;
  await rm(folder, { recursive: true });
  return { code, output: command.output() };
}
