import { lstatSync } from "node:fs";
import { Worker } from "node:worker_threads";

/** What the process of a driver is guarded with. */
export interface GuardOptions {
  /** More resident memory ends the process, bytes; absent: any amount. */
  readonly maxBytes?: number;
  /** Removed when the parent has ended, which has made it for this process; absent: none. A process that used too much memory leaves it for the next one. */
  readonly privateFolder?: string;
}

/** The guard of this process. */
export interface ProcessGuard {
  /** Removes this socket, which this process listens on, when the parent has ended. */
  removeSocketAtEnd(path: string): void;
}

/**
 * Kills this process, and the processes that it started, when its standard input closes or it uses too much memory. A thread does this, so that it happens even while the driver
 * blocks the event loop. For processes that another one has started with a pipe as standard input; never returns to anything else.
 */
export function guardProcess(options: GuardOptions): ProcessGuard {
  const isSource = import.meta.url.endsWith(".ts");
  const source = new URL("./guard-thread.ts", import.meta.url);
  const worker = new Worker(isSource ? source : new URL("./guard-thread.js", import.meta.url), {
    workerData: options,
    execArgv: [],
  });
  worker.unref();
  worker.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
  return {
    removeSocketAtEnd(path) {
      const { dev, ino } = lstatSync(path);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows
      worker.postMessage({ path, dev, ino });
    },
  };
}
