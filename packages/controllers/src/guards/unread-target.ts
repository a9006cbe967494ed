import { deletionEvents, type Machine } from "@millwright/core/machine-api";
import type { Guard } from "../model/hold.ts";
import { hasId, needsCreation } from "../model/provisioning.ts";

/**
 * Holds Machines that may have a Node while the Nodes were never listed: a missing one means nothing. A Machine whose VM is only to be created has none. The first lists enqueue all machines.
 *
 * @param isUnread whether the Nodes were never listed
 */
export const unreadTargetGuard = (isUnread: () => boolean): Guard<Machine> => ({
  name: "unread-target",
  of(machine) {
    const mayHaveNode = machine.metadata.deletionTimestamp != null || !needsCreation({ machine }) || hasId(machine);
    if (!mayHaveNode || !isUnread()) return "proceed";
    return {
      by: "unread-target",
      holds: "everything",
      message: deletionEvents.targetUnread(),
      remedy: "Make the API server of the nodes reachable, or run with --target-kubeconfig=none if it is gone for good",
    };
  },
});
