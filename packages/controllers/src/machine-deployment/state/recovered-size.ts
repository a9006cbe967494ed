import { labelKeys } from "@millwright/core";
import { countMachines } from "../../machine-lists/machine-counts.ts";
import { type SetSize, type SetView, sizeOf } from "./set-size.ts";

/**
 * The intended size of a set in an in-place update, also after its writes were interrupted (MCM, `pkg/controller/deployment_inplace.go` syncMachineSets): it includes
 * each received machine, and in a set that may not create machines it excludes deleted ones. Other sets keep their `spec.replicas`.
 */
export function recoveredSize(view: SetView): SetSize {
  const size = sizeOf(view);
  const { present, received } = countMachines(view.machines);
  const places = size.spec + Math.max(0, Math.min(received, present - size.spec));
  const isDrawnOn = view.set.metadata.labels?.[labelKeys.scaleUpDisabled] !== undefined;
  return sizeOf(view, isDrawnOn ? Math.min(places, present) : places);
}
