import { readFile, stat } from "node:fs/promises";
import { ConfigError } from "@millwright/core";
import { messageOf } from "./log.ts";

/**
 * Reads a bearer token out of a file, again whenever the file changed: the kubelet replaces a service account's token long
 * before the old one expires. A file that cannot be read for a moment leaves the former token in use.
 *
 * @param where start of the message when there was never a token
 * @throws ConfigError
 */
export function createFileToken(file: string, where: string): () => Promise<string> {
  let known: { readonly token: string; readonly stamp: string } | undefined;
  return async () => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const stamp = `${mtimeMs}/${size}/${ino}`;
      if (known?.stamp === stamp) return known.token;
      const token = (await readFile(file, "utf8")).trim();
      if (token === "") throw new Error("the file is empty; expected a bearer token");
      known = { token, stamp };
      return token;
    } catch (cause) {
      if (known !== undefined) return known.token;
      throw new ConfigError(`${where}: cannot read ${file}: ${messageOf(cause)}`, { cause });
    }
  };
}
