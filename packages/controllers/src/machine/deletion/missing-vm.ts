import { deletionEvents, nodeConditionTypes } from "@millwright/core/machine-api";
import { conditionOf } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { isForceDeletion } from "../../model/force-deletion.ts";
import { doubtOfMovedClass, type EndedOperation, foundNone, isKept } from "../state/vm-answers.ts";

/** Why a deletion does not end although the driver has answered. */
export interface DeletionDoubt {
  readonly text?: string;
  /** When the driver is called again after its answer, milliseconds. */
  readonly againMs: number;
}

/** Time between two looks for a VM that may be in another place, milliseconds. */
const LOOK_AGAIN_MS = 10_000;

/** As before, for a class of which most VMs are not listed: hundreds may wait. */
const CHECK_LISTS_MS = 60_000;

/**
 * Why a deletion, or a look-up before, does not end with the answer of the driver. A driver that looks in another account or place finds none of the VMs, whatever it answers; the lists of VMs, and what is recorded on the
 * machine, show that.
 */
export function doubtAboutEnd(snapshot: MachineSnapshot, ended: EndedOperation): DeletionDoubt | undefined {
  if (isForceDeletion(snapshot.machine) || isKept(ended)) return undefined;
  const moved = doubtOfMovedClass(snapshot, ended);
  // Before the lists, which are of the present place.
  if (moved !== undefined) return { text: moved, againMs: LOOK_AGAIN_MS };
  if (snapshot.isVmMissing === true) return undefined;
  const doubt = doubtOfLists(snapshot, ended);
  if (doubt !== undefined || !foundNone(ended)) return doubt;
  const text = doubtAboutMissingVm(snapshot);
  return text === undefined ? undefined : { text, againMs: LOOK_AGAIN_MS };
}

/** The same, by the lists of the VMs of the class. */
function doubtOfLists({ machine, listDoubt }: MachineSnapshot, ended: EndedOperation): DeletionDoubt | undefined {
  const { providerID: vm = "", class: { name: className = "" } = {} } = machine.spec;
  if (listDoubt?.kind === "doubtful") {
    const { missing, machines } = listDoubt;
    return { text: deletionEvents.vmOfUnlistedClass(vm, className, missing, machines), againMs: CHECK_LISTS_MS };
  }
  if (listDoubt?.kind === "over" && ended.endedAt < listDoubt.atMs) return { againMs: 0 };
  return listDoubt?.kind === "no list" && vm !== "" && foundNone(ended)
    ? { text: deletionEvents.vmNotListedYet(vm, className), againMs: LOOK_AGAIN_MS }
    : undefined;
}

/**
 * Why it is doubtful that a VM which was not found is gone: then it would go on running without a Machine. A class or a Secret that was changed lets a driver look in another account or region. A
 * kubelet that is gone is no longer Ready within a minute, so a deletion goes on by itself then.
 */
function doubtAboutMissingVm({ machine, node, classView }: MachineSnapshot): string | undefined {
  const { providerID: vm = "", class: { name: className = "" } = {} } = machine.spec;
  if (node !== undefined && conditionOf(node, nodeConditionTypes.ready)?.status === "True")
    return deletionEvents.vmNotFoundOfReadyNode(vm, node.metadata.name);
  const used = classView.state === "usable" ? classView.machineClass.metadata.name : className;
  return used === className ? undefined : deletionEvents.vmNotFoundByFallback(vm, className, used);
}
