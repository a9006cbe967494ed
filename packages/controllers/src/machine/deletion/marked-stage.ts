import { type DeletionStage, phaseOf, stageOf } from "@millwright/core";
import type { MachineSnapshot } from "../snapshot.ts";

/** Where the flow stands, as its own marker or the Go implementation's says. */
export function markedStage({ machine }: Pick<MachineSnapshot, "machine">): DeletionStage | undefined {
  const { type, description } = machine.status?.lastOperation ?? {};
  return phaseOf(machine) === "Terminating" && type === "Delete" ? stageOf(description) : undefined;
}
