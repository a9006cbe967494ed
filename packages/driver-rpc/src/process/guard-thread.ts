/* oxlint-disable no-restricted-globals -- there is no injected clock in this thread, and nothing of it runs in virtual time */
/**
 * The thread that ends the process of a driver when its parent has ended or it uses too much memory, also while the driver blocks the event loop. Imports nothing but Node, so
 * that it is small.
 */
import { lstatSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const INTERVAL_MS = 500;

const settings: unknown = workerData;
const property = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
const setting = (name: string): unknown => property(settings, name);

/** The socket that this process listens on, by its file: another process may have replaced it by its own. */
let socket: unknown;
parentPort?.on("message", (message: unknown) => (socket = message));

function removeSocket(): void {
  const path = property(socket, "path");
  if (typeof path !== "string") return;
  try {
    const { dev, ino } = lstatSync(path);
    if (dev === property(socket, "dev") && ino === property(socket, "ino")) unlinkSync(path);
  } catch {
    // It is gone.
  }
}

function end(): void {
  try {
    // With the processes that the driver has started.
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.kill(process.pid, "SIGKILL");
  }
}

const maxBytes = setting("maxBytes");
if (typeof maxBytes === "number")
  setInterval(() => {
    const used = process.memoryUsage.rss();
    if (used <= maxBytes) return;
    const mebibytes = (bytes: number): number => Math.round(bytes / 1_048_576);
    writeSync(2, `the process uses ${mebibytes(used)} MiB of memory, more than ${mebibytes(maxBytes)} MiB: it ends\n`);
    end();
  }, INTERVAL_MS);

// What the parent holds open until it ends.
const input = new Socket({ fd: 0, readable: true, writable: false });
const parentEnded = (): void => {
  removeSocket();
  const folder = setting("privateFolder");
  if (typeof folder === "string") rmSync(folder, { recursive: true, force: true });
  end();
};
input.on("error", parentEnded);
input.on("close", parentEnded);
input.resume();
