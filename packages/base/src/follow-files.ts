import { readFileSync, statSync } from "node:fs";
import { ConfigError } from "./config-error.ts";

/** How {@link followFiles} reports. */
export interface FollowFilesOptions {
  /** The error for a file that cannot be read. */
  readonly explain?: (cause: unknown, file: string) => Error;
  /** Takes why changed files cannot be used, once for each reason. Default: nothing is reported. */
  readonly onProblem?: (error: Error) => void;
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

const cannotRead = (cause: unknown, file: string): Error =>
  new ConfigError(`cannot read ${file}: ${asError(cause).message}`, { cause });

const isSame = (some: readonly Buffer[], others: readonly Buffer[] | undefined): boolean =>
  some.every((content, index) => others?.[index]?.equals(content));

/**
 * A value that is made of small files, and made again when their content has changed; the same value otherwise. Files are read with each call: their times, size and inode may stay the same while the content changes, and
 * reading takes a few microseconds, less than half of what an asynchronous `stat` does. Files that are missing, half written or do not match leave the former value in use.
 *
 * @param make makes the value of the content; what it throws is a reason not to use it
 * @returns a function that throws only as long as there was no value
 */
export function followFiles<Value>(
  files: readonly string[],
  make: (contents: readonly Buffer[]) => Value,
  { explain = cannotRead, onProblem = () => undefined }: FollowFilesOptions = {},
): () => Value {
  /** What was read last, usable or not. */
  let known: readonly Buffer[] | undefined;
  let current: { readonly value: Value } | undefined;
  let reported = "";

  const read = (file: string, index: number): Buffer => {
    try {
      // A pipe, such as `<(command)` of a shell, can be read once.
      const former = known?.[index];
      return former === undefined || statSync(file).isFile() ? readFileSync(file) : former;
    } catch (cause) {
      throw explain(cause, file);
    }
  };

  const look = (): Value => {
    const found = files.map(read);
    if (current !== undefined && isSame(found, known)) return current.value;
    known = found;
    current = { value: make(found) };
    reported = "";
    return current.value;
  };

  return () => {
    try {
      return look();
    } catch (thrown) {
      if (current === undefined) throw thrown;
      const error = asError(thrown);
      if (error.message !== reported) onProblem(error);
      reported = error.message;
      return current.value;
    }
  };
}
