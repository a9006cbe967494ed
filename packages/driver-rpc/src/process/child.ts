import { type ChildProcess, spawn } from "node:child_process";
import type { Clock } from "@millwright/base";
import { readLines } from "./output-lines.ts";

/** What a process of a driver is started with. */
export interface ChildOptions {
  /** The program and its arguments. */
  readonly command: readonly [string, ...(readonly string[])];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with each line that it prints, cut to 8192 characters. May hold anything, secrets included. */
  readonly onLine: (stream: "stdout" | "stderr", line: string) => void;
  readonly clock: Pick<Clock, "setTimer">;
}

/** How long the rest of the output is read after the end, milliseconds. */
const OUTPUT_MS = 1_000;

/** How a process ended. */
export interface ChildEnd {
  /** In words: `status 1`, `signal SIGKILL`. */
  readonly how: string;
  /** The last line that it printed on stderr; empty for none. */
  readonly lastLine: string;
}

/** A running process. */
export interface Child {
  /** Resolves when it has ended and what it printed was read. */
  readonly ended: Promise<ChildEnd>;
  /** Closes its standard input, at which it ends. */
  closeInput(): void;
  /** Kills it, and the processes that it started. */
  kill(): void;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Starts a process that leads a group of its own, so that a signal of the terminal does not reach it, and the processes that it starts end with it. */
export function startChild({ command: [program, ...args], env, onLine, clock }: ChildOptions): Child {
  const child = spawn(program, args, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
  let lastLine = "";
  readLines(child.stdout, (line) => onLine("stdout", line));
  readLines(child.stderr, (line) => {
    if (line !== "") lastLine = line;
    onLine("stderr", line);
  });
  child.stdin.on("error", () => undefined);
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once("error", (error) => resolve({ how: error.message, lastLine }));
    child.once("exit", (code, signal) => {
      const end = (): void => {
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
        resolve({ how: signal === null ? `status ${code ?? 0}` : `signal ${signal}`, lastLine });
      };
      killGroup(child);
      // A process of another group, which it started, may keep its pipes open for ever.
      const timer = clock.setTimer(OUTPUT_MS, end);
      child.once("close", () => {
        timer.cancel();
        end();
      });
    });
  });
  return { ended, closeInput: () => child.stdin.end(), kill: () => killGroup(child) };
}
