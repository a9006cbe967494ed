import type { VmDifference } from "@millwright/core";
import type { MockSpec } from "./spec.ts";
import type { Vm } from "./vm.ts";

/** Where a VM differs from a spec. Of labels only those count that the spec names. */
export function differencesOf(spec: MockSpec, vm: Vm): readonly VmDifference[] {
  const pairs: readonly (readonly [string, string, string])[] = [
    ["image", spec.image, vm.image],
    ...Object.keys(spec.labels)
      .toSorted()
      .map((key) => [`labels.${key}`, spec.labels[key] ?? "", vm.labels[key] ?? ""] as const),
    ["machineType", spec.machineType, vm.machineType],
    ["region", spec.region, vm.region],
    ["zone", spec.zone, vm.zone],
  ];
  return pairs
    .filter(([, wanted, found]) => wanted !== found)
    .map(([field, wanted, found]) => ({ field, wanted, found }));
}
