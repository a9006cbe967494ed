import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "@millwright/base";

/** Where a run keeps its files. */
export interface Workspace {
  readonly folder: string;
  /** Whether the folder was created for this run and is removed at its end. */
  readonly isTemporary: boolean;
  readonly kubeconfig: string;
  /** Removes the kubeconfig of the stopped server, and a temporary folder. */
  remove(): Promise<void>;
}

const fail = (what: string, cause: unknown): never => {
  throw new ConfigError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
};

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;

/** Creates a folder and those above it. Not by `recursive`, which never ends where a file system like `/proc` denies that a parent exists. */
async function createFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await createFolder(dirname(path));
  await mkdir(path);
}

/**
 * Creates the folder of a run: the configured one, which is kept, or a temporary one. Two runs never share one by accident.
 *
 * @throws ConfigError that names the flag when the folder or file cannot be written
 */
export async function openWorkspace(data: string | undefined, kubeconfig: string | undefined): Promise<Workspace> {
  const isTemporary = data === undefined;
  const folder = isTemporary
    ? await mkdtemp(join(tmpdir(), "millwright-")).catch((cause: unknown) =>
        fail("cannot create a temporary folder; set TMPDIR or --data", cause),
      )
    : resolve(data);
  const file = kubeconfig === undefined ? join(folder, "kubeconfig") : resolve(kubeconfig);
  await createFolder(folder).catch((cause: unknown) =>
    fail(`--data ${data ?? folder}: cannot create the folder`, cause),
  );
  return {
    folder,
    isTemporary,
    kubeconfig: file,
    async remove() {
      await rm(file, { force: true });
      if (isTemporary) await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Writes a kubeconfig that only its owner can read. Its folder must exist: a mistyped one should be noticed, not created.
 *
 * @throws ConfigError that names the flag
 */
export async function writeKubeconfig(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (cause) {
    fail(`--kubeconfig ${file}: cannot be written`, cause);
  }
}
