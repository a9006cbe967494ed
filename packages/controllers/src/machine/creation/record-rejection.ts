import { intentAnnotation, readIntent } from "../../model/creation-intent.ts";
import { isRejected } from "../../model/operation.ts";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/**
 * Stores that no request for a VM was accepted, so that its deletion need not look for a VM that the cloud may not show yet. Only this process knows it: the status may have the
 * failure of an earlier attempt, of a look-up, or of another machine of the class.
 */
export function recordRejection({ machine, operation }: MachineSnapshot): readonly MachineAction[] {
  const intent = readIntent(machine);
  if (!isRejected(operation) || intent === undefined || intent.isRejected === true) return [];
  const { uid } = machine.metadata;
  const annotations = intentAnnotation({ ...intent, isRejected: true });
  return [{ kind: "PatchMachine", patch: { metadata: { ...(uid === undefined ? {} : { uid }), annotations } } }];
}
