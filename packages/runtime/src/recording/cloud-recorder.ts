import { open } from "node:fs/promises";
import { type Clock, ConfigError, type SecretData } from "@millwright/base";
import type { CloudExchange } from "@millwright/core";
import { type Log, messageOf } from "@millwright/kube";
import { createSanitizer } from "./sanitizer.ts";

/** Options of {@link openCloudRecorder}. */
export interface CloudRecorderOptions {
  /** Must not exist yet. Only its owner may read it. */
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The recording stops before the file is larger. Default 64 MiB. */
  readonly maxBytes?: number;
}

/** Writes the exchanges of drivers and their clouds into a file, as JSON lines, without secrets. */
export interface CloudRecorder {
  /** Protects the values of a class secret. To be called before a driver gets them. */
  protect(secret: SecretData): void;
  /** Takes an exchange, to be written soon. Never waits, never throws. */
  record(driver: string, exchange: CloudExchange): void;
  /** Resolves when everything that was taken is written. */
  close(): Promise<void>;
}

const defaultMaxBytes = 64 * 2 ** 20;
/** A larger body is left out. */
const maxBodyBytes = 2 ** 20;
/** Exchanges that wait for a slow disk. */
const maxWaiting = 1_000;
export const recordingFormat = "millwright-cloud-recording/1";

/** @throws ConfigError when the file cannot be created, or exists */
export async function openCloudRecorder(options: CloudRecorderOptions): Promise<CloudRecorder> {
  const { file, clock, log, maxBytes = defaultMaxBytes } = options;
  const handle = await open(file, "wx", 0o600).catch((cause: unknown) => {
    const isThere = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    throw new ConfigError(
      `--record-cloud: cannot create ${file}: ${isThere ? "it exists; name a new file" : messageOf(cause)}`,
      { cause },
    );
  });
  const sanitizer = createSanitizer();
  const startMs = clock.monotonicMs();
  let bytes = 0;
  let waiting = 0;
  let isOver = false;
  let written: Promise<void> = Promise.resolve();

  const stop = (because: string): void => {
    if (isOver) return;
    isOver = true;
    log("warn", "The recording of cloud requests has stopped", { file, because });
  };

  const write = async (before: Promise<void>, entryOf: () => object): Promise<void> => {
    await before;
    try {
      if (isOver) return;
      const line = `${asciiJson(entryOf())}\n`;
      bytes += Buffer.byteLength(line);
      if (bytes > maxBytes) stop(`the file would be larger than ${maxBytes} bytes`);
      else await handle.appendFile(line);
    } catch (error) {
      stop(messageOf(error));
    } finally {
      waiting--;
    }
  };

  /** Beside the caller, one after another. */
  const enqueue = (entryOf: () => object): void => {
    if (isOver) return;
    if (waiting >= maxWaiting) return stop(`${maxWaiting} exchanges wait to be written`);
    waiting++;
    written = write(written, entryOf);
  };

  enqueue(() => ({ format: recordingFormat, startedAt: clock.now().toISOString() }));
  return {
    protect: (secret) => sanitizer.protect(secret),
    record(driver, exchange) {
      const endMs = clock.monotonicMs() - startMs;
      const atSeconds = Math.max(0, endMs / 1_000 - exchange.seconds);
      enqueue(() => ({ driver, atSeconds, ...sanitizer.sanitize(withoutLargeBodies(exchange)) }));
    },
    async close() {
      await written;
      isOver = true;
      await handle.close();
    },
  };
}

/** JSON that no terminal interprets: other characters than those of ASCII are escaped. */
const asciiJson = (value: object): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function withoutLargeBodies(exchange: CloudExchange): CloudExchange {
  const { requestBody, responseBody } = exchange;
  const small = (body: string): string =>
    body.length > maxBodyBytes ? `(left out: ${Buffer.byteLength(body)} bytes)` : body;
  return {
    ...exchange,
    requestBody: small(requestBody),
    ...(responseBody === undefined ? {} : { responseBody: small(responseBody) }),
  };
}
