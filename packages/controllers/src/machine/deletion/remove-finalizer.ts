import { finalizers } from "@millwright/core";
import { removeFinalizerPatch } from "../../ownership/finalizer-patch.ts";
import type { Stage } from "./stage.ts";

/** All resources of the machine are deleted. */
export const removeFinalizer: Stage = ({ machine }) => ({
  next: "deleted",
  actions: [{ kind: "PatchMachine", patch: removeFinalizerPatch(machine, finalizers.machine) }],
});
