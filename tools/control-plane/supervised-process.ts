import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** A program that lives no longer than this process. */
export interface SupervisedProcess {
  /** Resolves with a line that describes how the program ended. */
  readonly ended: Promise<string>;
  /** Terminates the program, then kills it. Resolves when it ended. Safe to call twice. */
  stop(): Promise<void>;
}

/** Grace period before a program is killed, milliseconds. */
const STOP_LIMIT_MS = 10_000;

/**
 * Runs the program beside a reader of our pipe: when this process ends in whatever way, SIGKILL included, the pipe
 * closes and the reader ends the program.
 */
const SUPERVISOR = `
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
trap 'kill -TERM "$child" 2>/dev/null' TERM
(trap - TERM; cat <&3 >/dev/null; kill -TERM "$child" 2>/dev/null; sleep 10; kill -KILL "$child" 2>/dev/null) >/dev/null 2>&1 &
reader=$!
wait "$child"; status=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
kill -KILL "$reader" 2>/dev/null
exit "$status"
`;

/** Starts a program whose output goes to a file. */
export function startSupervised(path: string, args: readonly string[], logFile: string): SupervisedProcess {
  const log = openSync(logFile, "a", 0o600);
  // A group of its own, so that all of it can be ended by the one id that we started.
  const child = spawn("sh", ["-c", SUPERVISOR, "supervisor", path, ...args], {
    stdio: ["pipe", log, log],
    detached: true,
  });
  closeSync(log);
  child.stdin?.on("error", () => {});
  let isOver = false;
  const ended = new Promise<string>((resolve) => {
    const over = (how: string): void => {
      isOver = true;
      child.stdin?.destroy();
      resolve(`${path} ${how}; its log ends with: ${tail(logFile)}`);
    };
    child.once("error", (error) => over(`did not start: ${error.message}`));
    child.once("exit", (code, signal) => over(signal === null ? `ended with ${code}` : `was ended by ${signal}`));
  });
  const signalGroup = (signal: NodeJS.Signals): void => {
    if (isOver || child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It has ended in the meantime.
    }
  };
  return {
    ended,
    async stop() {
      signalGroup("SIGTERM");
      const patience = new AbortController();
      const hurry = delay(STOP_LIMIT_MS, undefined, { signal: patience.signal }).then(
        () => signalGroup("SIGKILL"),
        () => {},
      );
      await ended;
      patience.abort();
      await hurry;
    },
  };
}

/** The last lines of a log, as one line. */
function tail(file: string): string {
  try {
    return readFileSync(file, "utf8").trim().split("\n").slice(-3).join(" | ").slice(-1000);
  } catch {
    return "";
  }
}
