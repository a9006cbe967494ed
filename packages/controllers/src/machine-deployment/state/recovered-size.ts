import { labelKeys } from "@millwright/core";
import { countMachines } from "../../machine-lists/machine-counts.ts";
import { type SetSize, type SetView, sizeOf } from "./set-size.ts";

/**
 * The size of a set as an update in place means it to be, wherever its writes were interrupted (MCM, `pkg/controller/deployment_inplace.go` syncMachineSets): a set that received
 * machines has a place for each, and one that may not make machines has none for those that are gone. Other sets are told what they are told.
 */
export function recoveredSize(view: SetView): SetSize {
  const size = sizeOf(view);
  const { present, received } = countMachines(view.machines);
  const places = size.spec + Math.max(0, Math.min(received, present - size.spec));
  const isDrawnOn = view.set.metadata.labels?.[labelKeys.scaleUpDisabled] !== undefined;
  return sizeOf(view, isDrawnOn ? Math.min(places, present) : places);
}
