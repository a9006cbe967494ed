import { createWriteStream } from "node:fs";
import { toPrintable } from "@millwright/core";
import type { Log, LogLevel } from "@millwright/kube";
import { type DestinationStream, pino } from "pino";
import { toLogFields } from "./logging/log-values.ts";

function createLog(level: LogLevel, stream: DestinationStream): Log {
  const logger = pino(
    {
      level,
      base: null,
      // The numbers of the library are replaced by names.
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "message",
    },
    stream,
  );
  return (lineLevel, message, fields = {}) => {
    if (logger.isLevelEnabled(lineLevel)) logger[lineLevel](toLogFields(fields, toPrintable), toPrintable(message));
  };
}
/** A log of one JSON object a line on stderr. */
export const createJsonLog = (level: LogLevel): Log => createLog(level, process.stderr);

/** A log of the same form that is appended to a file. */
export function createFileLog(file: string, level: LogLevel): { readonly log: Log; close(): Promise<void> } {
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  // A full disk must not stop the controllers; the log is the one thing that can be missing.
  stream.on("error", () => undefined);
  return { log: createLog(level, stream), close: () => new Promise((resolve) => stream.end(() => resolve())) };
}
