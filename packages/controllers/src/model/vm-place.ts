import { isRecord } from "@millwright/base";
import type { MachineClass } from "@millwright/core/machine-api";

/** Fields of `providerSpec` that decide where a driver looks for a VM, whatever its id: of the drivers here, and of those of MCM. */
const fields = [
  "region",
  "location",
  "metro",
  "partition",
  "resourceGroup",
  "project",
  "projectID",
  "stateDirectory",
  "cluster",
] as const;

/** Where a driver looks for VMs, by field of `providerSpec`. */
export type VmPlace = Readonly<Partial<Record<(typeof fields)[number], string>>>;

/** The fields of a place that a value has. */
function readPlace(value: unknown): VmPlace {
  if (!isRecord(value)) return {};
  const own = fields.flatMap((field) => {
    const text = value[field];
    return typeof text === "string" && text !== "" ? [[field, text] as const] : [];
  });
  return Object.fromEntries(own);
}

/** Where the driver of a class looks for VMs. */
export const placeOf = ({ providerSpec }: Pick<MachineClass, "providerSpec">): VmPlace => readPlace(providerSpec);

/** A place as a part of an object; nothing when it is unknown. */
export function placeIn(value: unknown): { readonly place?: VmPlace } {
  const place = readPlace(value);
  return Object.keys(place).length === 0 ? {} : { place };
}

/** A field by which two places differ. Names of clouds differ in more than their case. */
export function differenceOf(
  recorded: VmPlace,
  present: VmPlace,
): { readonly field: string; readonly recorded: string; readonly present: string } | undefined {
  const field = fields.find((each) => {
    const before = recorded[each];
    return before !== undefined && before.toLowerCase() !== present[each]?.toLowerCase();
  });
  return field === undefined
    ? undefined
    : { field, recorded: recorded[field] ?? "", present: present[field] ?? "its default" };
}
