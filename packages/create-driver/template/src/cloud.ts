/**
 * A cloud to start with: a folder, in which each VM is a file. Replace this file by a client of your cloud.
 *
 * It behaves like real clouds: it chooses the ids of VMs, VMs have tags, a repeated request with the same token creates
 * no second VM, and every failure is a `MachineError`, whose code decides when the call is repeated.
 */
import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isMachineError, MachineError, type MachineErrorCode } from "@millwright/core";
import { abortedCall } from "@millwright/core/driver-kit";
import * as z from "zod";

const vmSchema = z.object({
  id: z.string(),
  size: z.string(),
  /** What it runs at its first boot, in base64. */
  userData: z.string(),
  tags: z.record(z.string(), z.string()),
});

/** A VM of the cloud. */
export type Vm = z.output<typeof vmSchema>;

/** Where the cloud is. For a real one: its endpoint, and credentials of the class secret. */
export interface Cloud {
  readonly folder: string;
}

/** Creates a VM, or returns the one that an earlier request with the same token created. */
export function createVm(
  { folder }: Cloud,
  { token, ...vm }: Omit<Vm, "id"> & { readonly token: string },
  signal: AbortSignal,
): Promise<Vm> {
  return request("creating a VM", signal, async () => {
    const id = `vm-${createHash("sha256").update(token).digest("hex").slice(0, 16)}`;
    await mkdir(folder, { recursive: true });
    // The whole file appears at once or not at all, also if another process creates it now.
    const draft = join(folder, `${id}.${randomUUID()}`);
    try {
      await writeFile(draft, JSON.stringify({ id, ...vm }), { mode: 0o600, signal });
      await link(draft, fileOf(folder, id));
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    } finally {
      await rm(draft, { force: true });
    }
    const created = await readVm(folder, id);
    if (created === undefined) throw new MachineError("Aborted", `VM ${id} was deleted while it was created`);
    return created;
  });
}

/** All VMs of the cloud, also those of others. */
export function listVms({ folder }: Cloud, signal: AbortSignal): Promise<readonly Vm[]> {
  return request("listing VMs", signal, async () => {
    const files = await readdir(folder).catch((error: unknown) => {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    });
    const ids = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));
    const vms = await Promise.all(ids.map((id) => readVm(folder, id)));
    return vms.filter((vm) => vm !== undefined);
  });
}

/**
 * Deletes a VM. Success means that it has ended: if your cloud accepts a deletion and ends the VM later, wait for that
 * by `clock.sleep` of the context.
 */
export function deleteVm({ folder }: Cloud, id: string, signal: AbortSignal): Promise<void> {
  return request(`deleting VM ${id}`, signal, () => rm(fileOf(folder, id), { force: true }));
}

const fileOf = (folder: string, id: string): string => join(folder, `${id}.json`);

/** A VM by its id; undefined if it was deleted. */
async function readVm(folder: string, id: string): Promise<Vm | undefined> {
  try {
    return vmSchema.parse(JSON.parse(await readFile(fileOf(folder, id), "utf8")));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Codes for failures of this cloud. Where a code is missing, the request may succeed later. */
const codes: Readonly<Record<string, MachineErrorCode>> = {
  EACCES: "PermissionDenied",
  ENOSPC: "ResourceExhausted",
  ENOTDIR: "InvalidArgument",
  ENAMETOOLONG: "InvalidArgument",
};

const errnoOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** Sends a request. Messages are the same for the same failure, and contain no secret. */
async function request<T>(what: string, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted();
    return await send();
  } catch (error) {
    if (isMachineError(error)) throw error;
    if (signal.aborted) throw abortedCall(signal, what);
    const errno = errnoOf(error);
    const reason = errno === "" ? "the answer cannot be read" : errno;
    throw new MachineError(codes[errno] ?? "Unavailable", `${what} failed: ${reason}`, { cause: error });
  }
}
