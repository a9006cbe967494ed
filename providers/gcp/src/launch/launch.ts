import type { MachineIdentity, Secret } from "@millwright/core";
import { stableHash } from "@millwright/core/driver-kit";
import type { GcpSpec } from "../spec/spec.ts";

/** What a VM is made from. */
export interface Launch {
  readonly spec: GcpSpec;
  readonly project: string;
  readonly machine: MachineIdentity;
  readonly machineClass: string;
  readonly userData: Secret;
  /** The token of the creation; stored as a label. */
  readonly token: string;
}

/** A type and a zone. */
export interface LaunchCandidate {
  readonly machineType: string;
  readonly zone: string;
}

/** What to try in this order: the class itself, and then its fallbacks. */
export function candidatesOf({ machineType, zone, fallbacks }: GcpSpec): readonly LaunchCandidate[] {
  return [
    { machineType, zone },
    ...fallbacks.map((fallback) => ({
      machineType: fallback.machineType ?? machineType,
      zone: fallback.zone ?? zone,
    })),
  ];
}

/**
 * The id by which Compute Engine recognizes a repeated request: a UUID that follows from the token of the creation and the candidate, so that another process has
 * the same.
 */
export function requestIdOf(token: string, { machineType, zone }: LaunchCandidate): string {
  const hex = stableHash([token, machineType, zone]);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
