import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "@millwright/base";
import { isStoredObject } from "../objects/stored-object.ts";
import { field, isObject, type Json, jsonText, stringAt } from "../json/json.ts";
import type { Log } from "@millwright/kube";
import { lockDirectory } from "./directory-lock.ts";
import type { Journal, JournalRecord } from "./journal.ts";
import { readLines } from "./read-lines.ts";
import { textOf } from "./object-text.ts";

const formatVersion = 1;
const headerLine = `${JSON.stringify({ format: "millwright-devcluster", version: formatVersion })}\n`;
const logName = "objects.jsonl";
/** The log is rewritten when it has grown by this factor since it was last rewritten. */
const growthFactor = 3;
const smallestRewriteBytes = 8 * 1024 * 1024;

/** Options of {@link openFileStorage}. */
export interface FileStorageOptions {
  /** Receives a warning when a torn last line was cut off. */
  readonly log?: Log;
  /** Called when a change cannot be stored, for example on a full disk. The change is rejected, and what was stored before stays readable. */
  readonly onFailure?: (error: ConfigError) => void;
}

/**
 * Storage in a directory: an append-only log of JSON lines, `objects.jsonl`, that is rewritten when it has grown. A line is
 * passed to the operating system before the change is published, so no change that a client has seen is lost when the process is
 * killed. A line torn by that is cut off at the next start, with a warning. Creates a missing directory. Throws ConfigError when
 * the directory is not usable: not writable, in use by another process, of another format, damaged.
 */
export function openFileStorage(directory: string, options: FileStorageOptions = {}): Journal {
  const { log = () => {} } = options;
  const path = join(directory, logName);
  prepareDirectory(directory);
  const lock = lockDirectory(directory);
  let file = openLog(path);
  let sizeBytes = 0;
  let rewriteAtBytes = smallestRewriteBytes;
  let isClosed = false;

  const write = (text: string): void => {
    const bytes = Buffer.from(text, "utf8");
    let offset = 0;
    while (offset < bytes.length) offset += writeSync(file, bytes, offset);
    sizeBytes += bytes.length;
  };

  const failed = (cause: unknown): ConfigError => {
    try {
      // A torn line is readable only at the end.
      ftruncateSync(file, sizeBytes);
    } catch {
      // The next start cuts it off.
    }
    const message = cause instanceof Error ? cause.message : String(cause);
    const error = new ConfigError(`${path}: cannot be written (${message}); free space, or choose another directory`, {
      cause,
    });
    options.onFailure?.(error);
    return error;
  };

  const store = (text: string): void => {
    try {
      write(text);
    } catch (cause) {
      throw failed(cause);
    }
  };

  const rewrite = (content: ReturnType<Parameters<Journal["compact"]>[0]>): void => {
    const temporary = `${path}.new`;
    const next = openSync(temporary, "w", 0o600);
    let written = 0;
    const add = (text: string): void => {
      const bytes = Buffer.from(text, "utf8");
      let offset = 0;
      while (offset < bytes.length) offset += writeSync(next, bytes, offset);
      written += bytes.length;
    };
    add(headerLine);
    add(`${JSON.stringify({ rv: content.resourceVersion })}\n`);
    for (const record of content.records) add(lineOf(record));
    fsyncSync(next);
    closeSync(next);
    renameSync(temporary, path);
    closeSync(file);
    file = openSync(path, "a", 0o600);
    sizeBytes = written;
    rewriteAtBytes = Math.max(smallestRewriteBytes, written * growthFactor);
  };

  return {
    load() {
      let resourceVersion = 0;
      const records = function* (close: () => void): Generator<JournalRecord> {
        try {
          const lines = readLines(path);
          let number = 0;
          for (const line of lines) {
            number += 1;
            sizeBytes = line.endOffset;
            if (!line.isComplete) {
              sizeBytes = line.endOffset - line.bytes.length;
              log("warn", "storage: removed the torn last line", {
                file: path,
                count: line.bytes.length,
              });
              ftruncateSync(file, sizeBytes);
              break;
            }
            const value = parseLine(line.bytes, path, number);
            if (number === 1) checkHeader(value, path);
            else {
              const version = field(value, "rv");
              if (typeof version !== "number") throw damaged(path, number);
              resourceVersion = Math.max(resourceVersion, version);
              const record = readRecord(value, version);
              if (record !== undefined) yield record;
              else if (field(value, "k") !== undefined) throw damaged(path, number);
            }
          }
          if (sizeBytes === 0) store(headerLine);
          rewriteAtBytes = Math.max(smallestRewriteBytes, sizeBytes * growthFactor);
        } catch (error) {
          close();
          throw error;
        }
      };
      return {
        get resourceVersion() {
          return resourceVersion;
        },
        records: records(() => this.close()),
      };
    },
    append(record) {
      store(lineOf(record));
    },
    compact(live) {
      if (isClosed || sizeBytes < rewriteAtBytes) return;
      try {
        rewrite(live());
      } catch (cause) {
        failed(cause);
      }
    },
    clear() {
      ftruncateSync(file, 0);
      sizeBytes = 0;
      write(headerLine);
      rewriteAtBytes = smallestRewriteBytes;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      closeSync(file);
      lock.release();
    },
  };
}
function lineOf({ resourceVersion, collection, key, object }: JournalRecord): string {
  const place = `"rv":${resourceVersion},"c":${jsonText(collection)},"k":${jsonText(key)}`;
  return object === undefined ? `{${place}}\n` : `{${place},"o":${textOf(object)}}\n`;
}

function checkHeader(header: Json, path: string): void {
  if (field(header, "format") === "millwright-devcluster" && field(header, "version") === formatVersion) return;
  throw new ConfigError(
    `${path}: not a store of this server (format ${formatVersion} expected); choose another directory`,
  );
}

function readRecord(line: Json, resourceVersion: number): JournalRecord | undefined {
  const collection = stringAt(line, "c");
  const key = stringAt(line, "k");
  const object = field(line, "o");
  if (collection === undefined || key === undefined) return undefined;
  if (object === undefined) return { resourceVersion, collection, key };
  return isStoredObject(object) ? { resourceVersion, collection, key, object } : undefined;
}

function parseLine(line: Buffer, path: string, number: number): Json {
  try {
    const value: Json = JSON.parse(line.toString("utf8"));
    if (isObject(value)) return value;
  } catch {
    // Reported below, with the line.
  }
  throw damaged(path, number);
}

function damaged(path: string, line: number): ConfigError {
  return new ConfigError(
    `${path}: line ${line} is damaged; restore the file or remove it to start with an empty store`,
  );
}

/** Creates a folder and those above it. Not by `recursive`, which on a file system that is read-only fails as if a folder did not exist. */
function createFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(path) !== path) createFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

function prepareDirectory(directory: string): void {
  try {
    createFolder(resolve(directory));
  } catch (error) {
    throw new ConfigError(
      `data directory ${directory}: cannot be created (${reasonOf(error)}); choose one that is writable`,
      {
        cause: error,
      },
    );
  }
}

function openLog(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw new ConfigError(`${path}: cannot be written (${reasonOf(error)}); choose a directory that is writable`, {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
