import { readFileSync } from "node:fs";
import { parseKeys } from "./parse-keys.ts";

/** The part of the standard input that is needed. */
export type KeySource = Pick<
  NodeJS.ReadStream,
  "isTTY" | "setRawMode" | "setEncoding" | "on" | "off" | "resume" | "pause" | "unref" | "ref"
>;

/** What to do with keys. */
export interface KeyHandlers {
  /** Called with each key, by name or as the character that is typed. Ctrl-Z is not among them. */
  readonly onKey: (key: string) => void;
  /** The terminal is closed. */
  readonly onEnd?: () => void;
  /** Before Ctrl-Z stops the process, and after it continues. */
  readonly onSuspend?: () => void;
  readonly onContinue?: () => void;
}

/**
 * Whether the process may change its terminal: one in the background would be stopped by that. Linux shows it (proc_pid_stat(5), `pgrp` and
 * `tpgid`); elsewhere it is assumed.
 */
function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The name of the program before may contain blanks.
    const [, , , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(")") + 1).split(" ");
    return group === terminalGroup;
  } catch {
    return true;
  }
}

/**
 * Reads single keys from a terminal until it is closed; reads nothing where the input is none, or the process is in the background. Signals of the
 * keyboard become keys, so that a caller handles `ctrl-c`.
 *
 * @returns restores the terminal
 */
export function readKeys(input: KeySource, { onKey, onEnd, onSuspend, onContinue }: KeyHandlers): () => void {
  if (!input.isTTY || !isInForeground()) return () => undefined;
  const start = (): void => {
    input.setRawMode(true);
    input.resume();
  };
  const suspend = (): void => {
    onSuspend?.();
    input.setRawMode(false);
    process.once("SIGCONT", () => {
      start();
      onContinue?.();
    });
    // The whole job, as the terminal would do it.
    process.kill(0, "SIGTSTP");
  };
  const onData = (text: string | Buffer): void => {
    for (const key of parseKeys(String(text))) {
      if (key === "ctrl-z") suspend();
      else onKey(key);
    }
  };
  const ended = (): void => onEnd?.();
  input.setEncoding("utf8");
  input.on("data", onData);
  input.on("end", ended);
  input.on("error", ended);
  start();
  return () => {
    input.off("data", onData);
    input.off("end", ended);
    input.setRawMode(false);
    input.pause();
  };
}
