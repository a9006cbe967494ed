import { readFile, stat } from "node:fs/promises";
import { ConfigError } from "@millwright/base";
import { messageOf } from "../log.ts";

/** Returns the current content of a file. */
export type FollowedFile = () => Promise<string>;

/**
 * Reads a file again whenever it changed (by time, size or inode): the kubelet replaces tokens and certificates long before the
 * old ones expire. A file that cannot be read for a moment, or is half written, leaves the former content in use.
 *
 * @param where start of the message when there was never any content
 * @param check throws for content that is none, with what is expected
 * @throws ConfigError
 */
export function followFile(file: string, where: string, check: (text: string) => void): FollowedFile {
  let known: { readonly text: string; readonly stamp: string } | undefined;
  return async () => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const stamp = `${mtimeMs}/${size}/${ino}`;
      if (known?.stamp === stamp) return known.text;
      const text = await readFile(file, "utf8");
      check(text);
      known = { text, stamp };
      return text;
    } catch (cause) {
      if (known !== undefined) return known.text;
      throw new ConfigError(`${where}: cannot read ${file}: ${messageOf(cause)}`, { cause });
    }
  };
}

/** Follows a file that holds a bearer token. */
export function followTokenFile(file: string, where: string): FollowedFile {
  const read = followFile(file, where, (text) => {
    if (text.trim() === "") throw new Error("the file is empty; expected a bearer token");
  });
  return async () => (await read()).trim();
}

/** Follows a file of certificates or a key. */
export function followPemFile(file: string, where: string): FollowedFile {
  return followFile(file, where, (text) => {
    if (!text.includes("-----BEGIN")) throw new Error("expected a PEM block");
  });
}
