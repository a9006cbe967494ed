import type { Machine } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import { type CrdState, crdName, crdStateOf } from "../model/crd-state.ts";
import { markedStage } from "../model/phase.ts";
import { kindsOf } from "./crd-guard.ts";
import { decideVerdict } from "./deletion-verdict.ts";

/**
 * The CRD that pauses the deletion of a machine, if there is one. For commands that run beside the controllers: they know only the objects as they are now.
 *
 * @param read a CRD by its name; `undefined` when it does not exist or cannot be read
 */
export async function findPausingCrd(
  machine: Machine,
  read: (name: string) => Promise<ApiObject | undefined>,
): Promise<CrdState | undefined> {
  const { deletionTimestamp } = machine.metadata;
  if (deletionTimestamp == null) return undefined;
  const stateOf = async (name: string): Promise<CrdState> => {
    const found = await read(name);
    return found === undefined ? { name, state: "unknown" } : crdStateOf(found, name);
  };
  const states = await Promise.all(kindsOf("Machine", machine).map((kind) => stateOf(crdName(kind))));
  const deletion = {
    deletedAt: Date.parse(deletionTimestamp),
    hasStarted: markedStage({ machine }) !== undefined,
    isOwn: false,
  };
  const result = decideVerdict(
    deletion,
    states.map((crd) => ({ crd, isRuledOut: false })),
  );
  return result.verdict === "paused" ? result.crd : undefined;
}
