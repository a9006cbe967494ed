import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, ConfigError, type Timer } from "@millwright/core";
import type { SimulatedCloud } from "./simulated-cloud.ts";

/** A file that follows the state of a cloud. */
export interface SnapshotFile {
  /** Writes the last state and stops following. */
  close(): Promise<void>;
}

/** Changes within this time are written together. */
const settleMs = 50;

/** Reads a stored state; undefined when there is no such file. Fails with `ConfigError` when it cannot be read or is no JSON. */
export async function readSnapshotFile(file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "ENOENT") return undefined;
    throw new ConfigError(`file ${file} with the state of the simulated cloud cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`file ${file} with the state of the simulated cloud is not JSON; delete it to start again`, {
      cause: error,
    });
  }
}

/**
 * Keeps the state of a cloud in a file that only its owner can read. The file is replaced as a whole, so it is never half written; what happened in
 * the last 50 ms before a crash is lost. Fails with `ConfigError` when the file cannot be written at first; a later failure is passed to `onError`, and the next change retries
 * again.
 */
export async function keepSnapshot(
  cloud: SimulatedCloud,
  file: string,
  clock: Clock,
  onError: (error: unknown) => void,
): Promise<SnapshotFile> {
  await mkdir(dirname(file), { recursive: true }).catch(reject(file));
  await write(cloud, file).catch(reject(file));
  let timer: Timer | undefined;
  let written: Promise<void> = Promise.resolve();
  const writeNext = (): void => {
    timer = undefined;
    written = written.then(() => write(cloud, file)).catch(onError);
  };
  const unsubscribe = cloud.subscribe(() => {
    timer ??= clock.setTimer(settleMs, writeNext);
  });
  return {
    close: async () => {
      unsubscribe();
      timer?.cancel();
      writeNext();
      await written;
    },
  };
}

async function write(cloud: SimulatedCloud, file: string): Promise<void> {
  const next = `${file}.next`;
  const handle = await open(next, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(cloud.snapshot())}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
}

function reject(file: string): (error: unknown) => never {
  return (error) => {
    throw new ConfigError(`file ${file} for the state of the simulated cloud cannot be written: ${messageOf(error)}`, {
      cause: error,
    });
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
