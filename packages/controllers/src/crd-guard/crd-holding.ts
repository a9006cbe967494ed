import type { Machine } from "@millwright/core";
import type { ApiObject } from "@millwright/kube";
import { markedStage } from "../model/marked-stage.ts";
import { decideHold } from "./decide-hold.ts";
import { kindsOf } from "./crd-guard.ts";
import { type CrdState, definitionName, stateOfDefinition } from "../model/crd-state.ts";

/**
 * The definition whose deletion is the reason why a machine that is marked for deletion is kept, if there is one. For commands that look from outside: they know only what objects say now.
 *
 * @param read a definition by its name; `undefined` when it is not there or may not be read
 */
export async function definitionHolding(
  machine: Machine,
  read: (name: string) => Promise<ApiObject | undefined>,
): Promise<CrdState | undefined> {
  const { deletionTimestamp } = machine.metadata;
  if (deletionTimestamp == null) return undefined;
  const stateOf = async (name: string): Promise<CrdState> => {
    const found = await read(name);
    return found === undefined ? { name, state: "unguarded" } : stateOfDefinition(found, name);
  };
  const states = await Promise.all(kindsOf("Machine", machine).map((kind) => stateOf(definitionName(kind))));
  const hasBegun = markedStage({ machine }) !== undefined;
  const hold = decideHold(
    { deletedAt: Date.parse(deletionTimestamp), hasBegun, isAsked: false },
    states.map((definition) => ({ definition, isCleared: false })),
  );
  return hold.verdict === "held" ? hold.definition : undefined;
}
