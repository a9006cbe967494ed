import type { LogFields } from "@millwright/base";
/** How much a log line matters. `info` is for changes of state only. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Where the toolkit writes its log: a constant message, and what varies in the fields, by the keys of `logKeys`. Must not throw.
 */
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;

/** The default: nothing is written. */
export const noLog: Log = () => {};

/** The text of a thrown value, whatever it is. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The first line of a text, for messages in one line. */
export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
