import type { Machine } from "@millwright/core";
import type { Node } from "../cluster/node-objects.ts";
import { isInPlaceDrainDue } from "./in-place/in-place-state.ts";
import { isPreservationDrainDue } from "./preservation/decide-preservation.ts";

/** Whether the node of a machine is being emptied, for whatever reason: only then are its pods looked at, and only then do they wake the machine. */
export const isDraining = (machine: Machine, node: Node | undefined): boolean =>
  machine.metadata.deletionTimestamp != null ||
  isInPlaceDrainDue(machine, node) ||
  isPreservationDrainDue(machine, node);
