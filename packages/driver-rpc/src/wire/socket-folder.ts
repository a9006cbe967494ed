import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError } from "@millwright/core";
import type { DriverAddress } from "./address.ts";

/** What decides who can put a socket into a folder. */
export interface FolderAccess {
  /** Type and permissions, as `stat` returns them. */
  readonly mode: number;
  /** User id of the owner. */
  readonly uid: number;
  /** Whether only the containers of this pod can have it: a volume that is mounted there. */
  readonly isPodVolume: boolean;
}

const WRITABLE_BY_OTHERS = 0o002;
/** Others may create files, but not replace those of another user. */
const STICKY = 0o1000;

/** Why another user could put a socket of its own into a folder, and what to do; undefined when none can. */
export function folderProblem(
  { mode, uid, isPodVolume }: FolderAccess,
  folder: string,
  self: number,
): string | undefined {
  if (uid !== 0 && uid !== self)
    return `${folder} belongs to user ${uid}, who could replace the socket; use a folder of root or of user ${self}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0 && !isPodVolume)
    return `every user can replace the socket in ${folder}; run chmod o-w ${folder}, or use another folder`;
  return undefined;
}

/** A volume of a pod, such as an emptyDir, is writable for all users, but only containers of the pod can mount it. */
async function isPodVolume(folder: string, device: number): Promise<boolean> {
  if (process.env["KUBERNETES_SERVICE_HOST"] === undefined) return false;
  return (await stat(dirname(folder))).dev !== device;
}

/**
 * Rejects a unix socket that another user could replace: who serves there gets the credentials of all calls.
 *
 * @throws ConfigError in one line; not for a folder that does not exist
 */
export async function assertTrustedFolder(address: DriverAddress): Promise<void> {
  const self = process.getuid?.();
  if (address.kind !== "unix" || self === undefined) return;
  const folder = dirname(address.path);
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) return;
  const access = { mode: found.mode, uid: found.uid, isPodVolume: await isPodVolume(folder, found.dev) };
  const problem = folderProblem(access, folder, self);
  if (problem !== undefined) throw new ConfigError(`unix://${address.path} is not used: ${problem}`);
}
