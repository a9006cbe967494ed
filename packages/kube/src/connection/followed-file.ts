import { ConfigError } from "@millwright/base";
import { followFiles } from "@millwright/base/files";
import { certificatesIn } from "@millwright/base/tls";
import { messageOf } from "../log.ts";

/**
 * Returns the current content of a file. One that cannot be read for a moment, or is half written, leaves the former content in use.
 *
 * @throws ConfigError when there was never any content
 */
export type FollowedFile = () => string;

/**
 * @param where start of messages
 * @param read reads the text, or throws what is expected
 */
function followFile(file: string, where: string, read: (text: string) => string): FollowedFile {
  const explain = (cause: unknown): Error =>
    new ConfigError(`${where}: cannot read ${file}: ${messageOf(cause)}`, { cause });
  const make = ([content = Buffer.of()]: readonly Buffer[]): string => {
    try {
      return read(content.toString());
    } catch (cause) {
      throw explain(cause);
    }
  };
  return followFiles([file], make, { explain });
}

/** Follows a file that holds a bearer token. */
export function followTokenFile(file: string, where: string): FollowedFile {
  return followFile(file, where, (text) => {
    const token = text.trim();
    if (token === "") throw new Error("the file is empty; expected a bearer token");
    return token;
  });
}

/** Follows a file of certificates. */
export function followCertificates(file: string, where: string): FollowedFile {
  return followFile(file, where, (text) => {
    certificatesIn(text);
    return text;
  });
}

/** Follows a file with a key. */
export function followKey(file: string, where: string): FollowedFile {
  return followFile(file, where, (text) => {
    if (!text.includes("-----BEGIN")) throw new Error("expected a PEM block");
    return text;
  });
}
