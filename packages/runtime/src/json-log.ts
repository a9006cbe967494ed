import { createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { toPrintable } from "@millwright/base";
import type { Log, LogFields, LogLevel } from "@millwright/kube";
import type { DestinationStream, pino as Pino } from "pino";
import { toLogFields } from "./logging/log-values.ts";
import { withListedKeys, withoutStacks } from "./logging/line-fields.ts";

/** The library is loaded with the first line: most commands write none. */
const load = createRequire(import.meta.url);
const loadPino = (): typeof Pino => load("pino");

function createLog(level: LogLevel, stream: DestinationStream): Log {
  const pino = loadPino();
  const logger = pino(
    {
      level,
      base: null,
      // The numbers of the library are replaced by names.
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    stream,
  );
  const showsStacks = logger.isLevelEnabled("debug");
  /** Everything that is written comes through here, so that no sink sees what was not redacted. */
  const toLine = (fields: LogFields): Record<string, unknown> => {
    const line = withListedKeys(toLogFields(fields, toPrintable));
    return fields.driver === undefined || showsStacks ? line : withoutStacks(line);
  };
  return (lineLevel, message, fields = {}) => {
    if (logger.isLevelEnabled(lineLevel)) logger[lineLevel](toLine(fields), toPrintable(message));
  };
}

/** From the least to the most important. */
const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Bytes that are kept of what cannot be written, such as to a file on a full disk; lines beyond that are dropped. */
const MAX_UNWRITTEN = 1_048_576;

/**
 * A log of one JSON object a line on stderr.
 *
 * A line is written before this returns, so the last ones are not lost when the process exits, is killed, or blocks; `process.stderr` loses what the reader of a pipe
 * has not taken by then. It takes about 10 µs a line, and some hundred lines a second are many. As with programs that log by klog, a reader that stops reading stops the process.
 */
export function createJsonLog(level: LogLevel): Log {
  const open = (): Log => {
    const stream = loadPino().destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN });
    // The log is the one thing that can be missing.
    stream.on("error", () => undefined);
    return createLog(level, stream);
  };
  let log: Log | undefined;
  return (lineLevel, ...line) => {
    if (levels.indexOf(lineLevel) < levels.indexOf(level)) return;
    log ??= open();
    log(lineLevel, ...line);
  };
}

/** A log of the same form that is appended to a file. */
export function createFileLog(file: string, level: LogLevel): { readonly log: Log; close(): Promise<void> } {
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  // A full disk must not stop the controllers; the log is the one thing that can be missing.
  stream.on("error", () => undefined);
  return { log: createLog(level, stream), close: () => new Promise((resolve) => stream.end(() => resolve())) };
}
