import type { VmDifference } from "@millwright/core";
import { differencesFound } from "@millwright/core/driver-kit";
import type { MockSpec } from "./spec.ts";
import type { Vm } from "./vm.ts";

/** Where a VM differs from a spec. Of labels only those count that the spec names. */
export const differencesOf = (spec: MockSpec, vm: Vm): readonly VmDifference[] =>
  differencesFound((compare) => {
    compare("image", spec.image, vm.image);
    for (const [key, wanted] of Object.entries(spec.labels)) compare(`labels.${key}`, wanted, vm.labels[key] ?? "");
    compare("machineType", spec.machineType, vm.machineType);
    compare("region", spec.region, vm.region);
    compare("zone", spec.zone, vm.zone);
  });
