import type { VmBody } from "./virtual-machine-body.ts";

/** Common fields of resources. */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly location: string;
  tags: Readonly<Record<string, string>>;
  provisioningState: ProvisioningState;
  /** When Resource Graph shows it, in milliseconds of the clock. */
  readonly createdAtMs: number;
}

/** ARM's provisioning states. */
export type ProvisioningState = "Creating" | "Updating" | "Deleting" | "Succeeded" | "Failed";

/** Delete option of a NIC or disk of a VM. */
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
  /** The request body of its creation. */
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
  /** A VM whose creation failed keeps its NIC reserved for a while. */
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
