import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError } from "@millwright/base";
import type { DriverAddress } from "./address.ts";

/** What decides who can put a socket into a folder, or another folder in its place. */
export interface FolderAccess {
  /** Type and permissions, as `stat` returns them. */
  readonly mode: number;
  /** User id of the owner. */
  readonly uid: number;
  /** Group id. */
  readonly gid: number;
  /** Whether only the containers of this pod can have it: a volume that is mounted there. */
  readonly isPodVolume: boolean;
}

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;
/** Others may create files, but not replace those of another user. */
const STICKY = 0o1000;

/**
 * Why another user could put a socket of its own into a folder, or into one below it, and what to do; undefined when none can. As OpenSSH judges the folders of a key (`StrictModes`), apart from sticky ones, volumes
 * of pods, and those of a group with the number of its owner: the private group of a user, whose home folder it may write to on Debian and Fedora.
 */
export function folderProblem(
  { mode, uid, gid, isPodVolume }: FolderAccess,
  folder: string,
  self: number,
): string | undefined {
  if (uid !== 0 && uid !== self)
    return `${folder} belongs to user ${uid}, who could replace the socket; use a folder of root or of user ${self}`;
  if ((mode & STICKY) !== 0 || isPodVolume) return undefined;
  if ((mode & WRITABLE_BY_OTHERS) !== 0)
    return `every user can replace the socket in ${folder}; run chmod go-w ${folder}, or use another folder`;
  if ((mode & WRITABLE_BY_GROUP) !== 0 && gid !== uid)
    return `the group of ${folder} can replace the socket; run chmod g-w ${folder}, or use another folder`;
  return undefined;
}

/** Why a socket that is there may be that of another user, who may create files in a sticky folder. A folder of a group is for the drivers of the group. */
export function socketProblem(folder: Omit<FolderAccess, "gid">, socketUid: number, self: number): string | undefined {
  if ((folder.mode & WRITABLE_BY_OTHERS) === 0 || folder.isPodVolume) return undefined;
  if (socketUid === 0 || socketUid === self) return undefined;
  return `it belongs to user ${socketUid}, and every user can create files beside it; use a folder that only root or user ${self} can write to`;
}

/** A volume of a pod, such as an emptyDir, is writable for all users, but only containers of the pod can mount it. */
async function isPodVolume(folder: string, device: number): Promise<boolean> {
  if (process.env["KUBERNETES_SERVICE_HOST"] === undefined) return false;
  return (await stat(dirname(folder))).dev !== device;
}

async function accessOf(folder: string): Promise<FolderAccess> {
  const { mode, uid, gid, dev } = await stat(folder);
  return { mode, uid, gid, isPodVolume: await isPodVolume(folder, dev) };
}

/** A folder and all folders above it. */
const withParents = (folder: string): readonly string[] =>
  folder === dirname(folder) ? [folder] : [folder, ...withParents(dirname(folder))];

/**
 * Rejects a unix socket that another user could replace: who serves there gets the credentials of all calls.
 *
 * @throws ConfigError in one line; not for a folder that does not exist
 */
export async function assertTrustedFolder(address: DriverAddress): Promise<void> {
  const self = process.getuid?.();
  if (address.kind !== "unix" || self === undefined) return;
  const folder = await realpath(dirname(address.path)).catch(() => undefined);
  if (folder === undefined) return;
  const reject = (problem: string | undefined): void => {
    if (problem !== undefined) throw new ConfigError(`unix://${address.path} is not used: ${problem}`);
  };
  for (const each of withParents(folder)) reject(folderProblem(await accessOf(each), each, self));
  const socket = await stat(address.path).catch(() => undefined);
  if (socket !== undefined) reject(socketProblem(await accessOf(folder), socket.uid, self));
}
