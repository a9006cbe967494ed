import { inPlaceUpdateMessages, labelKeys, type Machine, type MachinePhase } from "@millwright/core/machine-api";
import type { Node, Pod } from "../model/node-objects.ts";
import { aMachine, type Change, inPhase } from "./builders.ts";
import { type LivingMachine, reconcileOnce } from "./living-machine.ts";
import { itsNode, lastly, testNow, withVm } from "./snapshots.ts";
import { decideInPlace } from "../machine/in-place/decide-in-place.ts";

/** Labels of a node that may be updated. */
export const candidate = { [labelKeys.candidateForUpdate]: "true" };

/** Labels of a node that is selected for the update. */
export const selected = { ...candidate, [labelKeys.selectedForUpdate]: "true" };

/** Labels of one whose agent reported success. */
export const successful = { ...selected, [labelKeys.updateResult]: "successful" };

/** Labels of one whose agent reported a failure. */
export const failed = { ...selected, [labelKeys.updateResult]: "failed" };

/** The condition of a healthy node. */
export const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };

/** The condition that shows the progress of the update. */
export const stage = (reason: string, lastTransitionTime: string | undefined = "2026-01-01T00:05:00Z") => ({
  type: "InPlaceUpdate",
  status: "True",
  reason,
  message: Object.entries(inPlaceUpdateMessages).find(([key]) => key === reason)?.[1] ?? "",
  ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
});

/** A node with these labels and conditions. */
export const aNodeWith = (
  labels: Readonly<Record<string, string>>,
  reason: string | undefined,
  { metadata, ...change }: Parameters<typeof itsNode>[0] = {},
): Node =>
  itsNode({
    status: { conditions: [ready, ...(reason === undefined ? [] : [stage(reason)])] },
    metadata: { labels, ...metadata },
    ...change,
  });

/** A machine in a phase. */
export const aMachineIn = (phase: MachinePhase, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(withVm, inPhase(phase), lastly("Create", "Successful", "joined"), ...changes);

/** Machine, node and pods. */
export const world = (machine: Machine, node: Node | undefined, ...pods: readonly Pod[]): LivingMachine => ({
  machine,
  node,
  pods,
});

/** The progress of the update. */
export const reasonOf = ({ node }: LivingMachine): string | undefined =>
  node?.status?.conditions?.find(({ type }) => type === "InPlaceUpdate")?.reason;

/** One reconcile. */
export const once = (start: LivingMachine, now = testNow) => reconcileOnce(start, decideInPlace, now);
