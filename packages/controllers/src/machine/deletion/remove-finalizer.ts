import { finalizers } from "@millwright/core";
import { removeFinalizerPatch } from "../../ownership/finalizer-patch.ts";
import type { Stage } from "./stage.ts";

/** Nothing is left of the machine: the object may go. */
export const removeFinalizer: Stage = ({ machine }) => ({
  next: "gone",
  actions: [{ kind: "PatchMachine", patch: removeFinalizerPatch(machine, finalizers.machine) }],
});
