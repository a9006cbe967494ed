import type { VmBody } from "./virtual-machine-body.ts";

/** What all resources have. */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly location: string;
  tags: Readonly<Record<string, string>>;
  provisioningState: ProvisioningState;
  /** Since when Resource Graph may know of it, in milliseconds of the clock. */
  readonly createdAtMs: number;
}

/** States in ARM's words. */
export type ProvisioningState = "Creating" | "Updating" | "Deleting" | "Succeeded" | "Failed";

/** What becomes of a NIC or disk when its VM goes. */
export type DeleteOption = "Delete" | "Detach";

/** A disk of a VM. */
export interface AttachedDisk {
  readonly diskId: string;
  /** Undefined for the disk of the operating system. */
  readonly lun: number | undefined;
  deleteOption: DeleteOption;
  toBeDetached: boolean;
}

/** A NIC of a VM. */
export interface AttachedNic {
  readonly nicId: string;
  deleteOption: DeleteOption;
}

/** A VM. */
export interface VirtualMachine extends Resource {
  readonly vmId: string;
  /** What it was made from, as it was sent. */
  readonly body: VmBody;
  readonly disks: AttachedDisk[];
  readonly nics: AttachedNic[];
  /** Absent: it never ran. */
  power?: "running" | "stopped" | "deallocated";
  /** Why its provisioning failed. */
  failure?: { readonly code: string; readonly message: string };
}

/** A network interface. */
export interface NetworkInterface extends Resource {
  readonly subnetId: string;
  readonly address: string;
  readonly properties: Readonly<Record<string, unknown>>;
  vmId?: string;
  /** A VM that could not be made keeps its NIC for a while. */
  reserved?: { readonly vmId: string; readonly untilMs: number };
}

/** A managed disk. */
export interface Disk extends Resource {
  readonly zones: readonly string[];
  readonly sku: string;
  readonly sizeGb: number | undefined;
  readonly creationData: Readonly<Record<string, unknown>>;
  managedBy?: string;
}
