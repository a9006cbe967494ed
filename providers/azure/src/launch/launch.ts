import type { MachineIdentity, Secret } from "@millwright/core";
import type { Plan } from "../api/requests.ts";
import type { AzureSpec } from "../spec/spec.ts";

/** What a VM is made from. */
export interface Launch {
  readonly spec: AzureSpec;
  readonly machine: MachineIdentity;
  readonly vmName: string;
  readonly subscriptionId: string;
  readonly userData: Secret;
  /** Tags of VM, NIC and disks. */
  readonly tags: Record<string, string>;
  /** The plan of the image, where it has one whose terms are accepted. */
  readonly plan: Plan | undefined;
  /** The key of the class, or one without a usable private key. */
  readonly publicKey: string;
}

/** A size, and a zone where the VM stands in one. */
export interface LaunchCandidate {
  readonly vmSize: string;
  readonly zone: number | undefined;
}

/** What to try in this order: the class itself, and then its fallbacks. */
export function candidatesOf({ properties, fallbacks }: AzureSpec): readonly LaunchCandidate[] {
  const { hardwareProfile, zone } = properties;
  return [
    { vmSize: hardwareProfile.vmSize, zone },
    ...fallbacks.map((fallback) => ({
      vmSize: fallback.vmSize ?? hardwareProfile.vmSize,
      zone: fallback.zone ?? zone,
    })),
  ];
}
