import { MachineError } from "@millwright/core";
import { isRegion } from "../spec/regions.ts";

/** The parts of a provider id. */
export interface InstancePlace {
  /** Empty when the id names none, such as one that names a zone. */
  readonly region: string;
  readonly instanceId: string;
}

/** The provider id of an instance, byte for byte as MCM's driver and the cloud provider write it: `aws:///eu-west-1/i-…`. */
export const providerIdOf = (region: string, instanceId: string): string => `aws:///${region}/${instanceId}`;

/**
 * Reads a provider id: the instance is its last part, as in MCM, and the region the part before.
 *
 * @throws MachineError InvalidArgument for one that no driver of AWS has written
 */
export function readProviderId(providerId: string): InstancePlace {
  const parts = providerId.split("/");
  const instanceId = parts.at(-1) ?? "";
  if (parts.length < 2 || !/^i-[0-9a-f]+$/.test(instanceId)) {
    throw new MachineError("InvalidArgument", `spec.providerID "${providerId}" must look like aws:///<region>/i-<id>`);
  }
  const region = parts.at(-2) ?? "";
  return { region: isRegion(region) ? region : "", instanceId };
}
