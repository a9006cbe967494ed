import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { ConfigError } from "@millwright/base";

/** Where profiles are served, and to whom. */
export interface ProfilingAccess {
  /** An IP address of this machine. */
  readonly address: string;
  /** A file with the bearer token that requests must have; it is read for each of them. Absent: requests need none. */
  readonly tokenFile?: string | undefined;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether an IP address is reached from this machine only. */
export const isLoopback = (address: string): boolean => loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/**
 * Rejects to serve profiles to a network without a token: they show what the process works on.
 *
 * @throws ConfigError that names the flags
 */
export function checkProfilingAccess({ address, tokenFile }: ProfilingAccess): void {
  if (!isLoopback(address) && tokenFile === undefined)
    throw new ConfigError(
      `--profiling-address: ${address} is not a loopback address; profiles are served there only with --profiling-token-file`,
    );
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The host of a `Host` header without its port. */
const hostOf = (header: string): string => header.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");

/** A web page in a browser on this machine has another host, whatever its name resolves to. */
const isLocalHost = (host: string): boolean => host === "localhost" || (isIP(host) !== 0 && isLoopback(host));

/** Why a request is rejected: its status and a text; `undefined`: it is allowed. */
export async function rejectionOf(
  { headers }: Pick<IncomingMessage, "headers">,
  { tokenFile }: Pick<ProfilingAccess, "tokenFile">,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  if (tokenFile === undefined)
    return isLocalHost(hostOf(headers.host ?? "")) ? undefined : { status: 403, text: "the host is not this machine" };
  const token = (await readFile(tokenFile, "utf8").catch(() => "")).trim();
  const given = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
  // An empty or missing file admits no one.
  const isValid = token !== "" && timingSafeEqual(digestOf(token), digestOf(given));
  return isValid ? undefined : { status: 401, text: "a bearer token is required" };
}
