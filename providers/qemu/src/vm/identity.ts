import { createHash } from "node:crypto";
import type { MachineIdentity } from "@millwright/core";

/** Identity of a VM: everything follows from its cluster and its machine, so that every process finds the same one. */
export interface VmIdentity {
  /** Name of its folder: one for each machine name in a cluster. */
  readonly folderName: string;
  /** Unlike the folder, another one for a machine that is created again under its former name. */
  readonly providerId: string;
  /** Host name of the VM, under which its kubelet registers. */
  readonly nodeName: string;
}

/** The longest host name, and the longest value of the label `node` of a Machine. */
const longestHostName = 63;
/** Short, because the path of a socket in the folder is limited. */
const longestFolderStart = 24;

const scheme = "qemu:///";
const providerIdPattern = /^qemu:\/\/\/([A-Za-z0-9._-]{1,63})\/([a-z0-9][a-z0-9.-]*-[0-9a-f]{12})-[0-9a-f]{8}$/;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The start of a name, without what may not be at its end. */
const startOf = (name: string, length: number): string => name.slice(0, length).replace(/[^a-z0-9]+$/, "");

/** Name of the folder of a machine. */
export const folderNameOf = (cluster: string, machineName: string): string =>
  `${startOf(machineName, longestFolderStart)}-${hashOf(`${cluster}/${machineName}`).slice(0, 12)}`;

const hostNameOf = (name: string): string =>
  name.length <= longestHostName ? name : `${startOf(name, longestHostName - 11)}-${hashOf(name).slice(0, 10)}`;

/** The identity of the VM of a machine. */
export function vmIdentityOf(cluster: string, { name, uid }: Pick<MachineIdentity, "name" | "uid">): VmIdentity {
  const folderName = folderNameOf(cluster, name);
  return {
    folderName,
    providerId: `${scheme}${cluster}/${folderName}-${hashOf(uid).slice(0, 8)}`,
    nodeName: hostNameOf(name),
  };
}

/** The folder that a provider id names; undefined for ids of other drivers. */
export const folderNameFromProviderId = (providerId: string): string | undefined =>
  providerIdPattern.exec(providerId)?.[2];

/** The last part of a provider id: the name of the VM for people, and cloud-init's id of the instance. */
export const instanceIdOf = (providerId: string): string => providerId.slice(providerId.lastIndexOf("/") + 1);

/** UUID of the VM's firmware (`-uuid`), which a kubelet reports as `status.nodeInfo.systemUUID`. */
export function systemUuidOf(providerId: string): string {
  const hex = hashOf(providerId);
  // Version 8: a UUID whose bits have a meaning of their own (RFC 9562).
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** MAC address of the VM: locally administered, and different for all VMs of a bridge. */
export const macAddressOf = (providerId: string): string =>
  ["02", ...(hashOf(`mac of ${providerId}`).slice(0, 10).match(/../g) ?? [])].join(":");
