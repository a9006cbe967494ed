import { MachineError } from "@millwright/core";

/** The provider id of a VM, byte for byte as MCM's driver writes it: `azure:///westeurope/m1`. */
export const providerIdOf = (location: string, vmName: string): string => `azure:///${location}/${vmName}`;

/**
 * The name of the VM in a provider id: its last part.
 *
 * @throws MachineError InvalidArgument for one that no driver of Azure has written
 */
export function vmNameIn(providerId: string): string {
  const [, name] = /^azure:\/\/\/[^/]+\/([^/]+)$/.exec(providerId) ?? [];
  if (name !== undefined) return name;
  throw new MachineError("InvalidArgument", `spec.providerID "${providerId}" must look like azure:///<location>/<vm>`);
}
