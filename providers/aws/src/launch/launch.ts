import type { MachineIdentity, Secret } from "@millwright/core";
import type { AwsSpec } from "../spec/spec.ts";

/** What a launch is made from. */
export interface Launch {
  readonly spec: AwsSpec;
  readonly machine: MachineIdentity;
  readonly machineClass: string;
  readonly userData: Secret;
  /** The token of the creation; stored as a tag. */
  readonly token: string;
  /** Name of the image's root disk, if it has one. */
  readonly rootDeviceName: string | undefined;
}

/** A type, and a subnet where it is not that of the class. */
export interface LaunchCandidate {
  readonly machineType: string;
  readonly subnetId?: string;
}

/** What to try in this order: the class itself, and then its fallbacks. */
export function candidatesOf({ machineType, fallbacks }: AwsSpec): readonly LaunchCandidate[] {
  return [
    { machineType },
    ...fallbacks.map((fallback) => ({
      machineType: fallback.machineType ?? machineType,
      ...(fallback.subnetID === undefined ? {} : { subnetId: fallback.subnetID }),
    })),
  ];
}
