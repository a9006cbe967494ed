import { Worker } from "node:worker_threads";
import { messageOf } from "../log.ts";
import type {
  ElectionReport,
  ElectionThreadMessage,
  ElectionThreadRequest,
  ThreadElection,
} from "./thread-messages.ts";

/** Receives what happens to an election in its thread. */
export interface ElectionHandlers {
  onReport(report: ElectionReport): void;
  /** Called once when the thread has nothing of the election any more, for whatever reason. */
  onEnd(because: string): void;
}

/** An election in a thread. */
export interface HostedElection {
  /** Resolves when the thread has nothing of it any more, its Leases released where it held them. */
  stop(): Promise<void>;
}

/** A thread that takes part in elections, with its own event loop. It runs while there is one. */
export interface ElectionThread {
  start(election: Omit<ThreadElection, "id">, handlers: ElectionHandlers): HostedElection;
}

/** An election that has not ended. */
interface RunningElection {
  readonly handlers: ElectionHandlers;
  readonly ended: PromiseWithResolvers<void>;
  readonly worker: Worker;
}

/** Makes a thread. It starts with its first election. */
export function createElectionThread(): ElectionThread {
  const running = new Map<number, RunningElection>();
  let worker: Worker | undefined;
  let lastId = 0;

  function end(id: number, because: string): void {
    const election = running.get(id);
    running.delete(id);
    election?.handlers.onEnd(because);
    election?.ended.resolve();
  }

  function endAll(of: Worker, because: string): void {
    if (worker === of) worker = undefined;
    for (const [id, election] of running) if (election.worker === of) end(id, because);
  }

  function startWorker(): Worker {
    const started = startThread();
    started.on("message", ({ id, report }: ElectionThreadMessage) => {
      if (report !== undefined) return running.get(id)?.handlers.onReport(report);
      end(id, "the election has ended");
      // It closes its port when nothing is left: what is started now needs another one.
      if (running.size === 0 && worker === started) worker = undefined;
    });
    started.on("error", (error) => endAll(started, `the election thread failed: ${messageOf(error)}`));
    started.on("exit", () => endAll(started, "the election thread ended"));
    return started;
  }

  return {
    start(election, handlers) {
      worker ??= startWorker();
      const [id, of, ended] = [++lastId, worker, Promise.withResolvers<void>()];
      running.set(id, { handlers, ended, worker: of });
      const post = (request: ElectionThreadRequest): void => {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        of.postMessage(request);
      };
      post({ kind: "start", election: { ...election, id } });
      return {
        stop() {
          post({ kind: "stop", id });
          return ended.promise;
        },
      };
    },
  };
}

/** Starts the thread from the sources or from the build, wherever this file is. */
function startThread(): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  const source = new URL("./election-thread.ts", import.meta.url);
  const file = isSource ? source : new URL("./election-thread.js", import.meta.url);
  return new Worker(file, { execArgv: threadFlags(isSource) });
}

/** The flags with which a thread of this process resolves packages, from the sources or from the build; it must not have some of the others. */
export const threadFlags = (isSource: boolean): string[] => [
  ...process.execArgv.filter((flag) => flag.startsWith("--conditions=") || flag.startsWith("-C=")),
  ...(isSource ? ["--conditions=@millwright/source"] : []),
];
