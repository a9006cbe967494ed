import type { AzureSpec } from "../spec/spec.ts";
import { providerIdOf } from "./provider-id.ts";

/** Provider id and node name of a VM. The location is that of the class, as MCM's driver has it: Azure may show it in other letters. */
export const referenceOf = (
  { location }: AzureSpec,
  vmName: string,
): { readonly providerId: string; readonly nodeName: string } => ({
  providerId: providerIdOf(location, vmName),
  nodeName: vmName,
});
