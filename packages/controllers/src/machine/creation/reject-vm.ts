import { answeredVmOfOtherMachine, type Machine } from "@millwright/core";
import { intentAnnotation, newIntent, readIntent } from "../../model/creation-intent.ts";
import type { VmHolder } from "../../model/vm-holder.ts";
import type { MachineDecision } from "../state/decision.ts";

/**
 * Rejects the VM of another Machine with which a driver answered a creation: its id is not stored. It is recorded, so that also a later process does not have the driver delete that VM for this machine.
 * The creation counts as failed and is repeated with the backoff of a failure.
 */
export function rejectVm(machine: Machine, { name, providerId }: VmHolder): MachineDecision {
  const { uid } = machine.metadata;
  const intent = readIntent(machine) ?? newIntent(machine);
  const annotations = intentAnnotation({ ...intent, foreignVm: providerId });
  const patch = { metadata: { ...(uid === undefined ? {} : { uid }), annotations } };
  const message = answeredVmOfOtherMachine(providerId, name);
  return {
    actions: [
      ...(intent.foreignVm === providerId ? [] : [{ kind: "PatchMachine", patch } as const]),
      { kind: "FailOperation", code: "AlreadyExists", message },
    ],
    because: [],
  };
}
