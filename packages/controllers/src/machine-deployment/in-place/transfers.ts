import { nameList } from "@millwright/base";
import {
  eventReasons,
  labelKeys,
  type Machine,
  type MachineSet,
  machineSetResource,
  updateResults,
} from "@millwright/core/machine-api";
import { adoptPatch, newControllerRef, releasePatch } from "@millwright/kube";
import { countWhere, machinesWhere } from "../../machine-lists/machine-list.ts";
import { holdOn } from "../../model/hold.ts";
import { isPresent } from "../../model/phase.ts";
import type { Reason } from "../../model/decision.ts";
import type { Sizes } from "../state/rollout-bounds.ts";
import { isReceived } from "../state/set-size.ts";
import { allOf, type Sets } from "../state/sets.ts";
import type { MachineDeploymentAction, MachineDeploymentSnapshot } from "../state/snapshot.ts";
import type { Transfer } from "./plan-in-place.ts";

type Texts = Readonly<Record<string, string>>;

/** Removes the entries of the old template, adds those of the new one, and keeps all others. */
function follow(before: Texts | undefined, wanted: Texts | undefined): Record<string, string | null> {
  const dropped = Object.keys(before ?? {}).filter((key) => wanted?.[key] === undefined);
  return { ...Object.fromEntries(dropped.map((key) => [key, null])), ...wanted };
}

/** The finalizers of a machine after a hand-over; `undefined` when they stay as they are. */
function finalizersAfter(machine: Machine, from: MachineSet, to: MachineSet): readonly string[] | undefined {
  const have = machine.metadata.finalizers ?? [];
  const before = from.spec.template.metadata?.finalizers ?? [];
  const wanted = to.spec.template.metadata?.finalizers ?? [];
  const after = [
    ...have.filter((entry) => !before.includes(entry) || wanted.includes(entry)),
    ...wanted.filter((entry) => !have.includes(entry)),
  ];
  return after.length === have.length && after.every((entry) => have.includes(entry)) ? undefined : after;
}

/**
 * The patch that moves a machine to another set: its owner, the fields from the template, and the class that manages its VM from now
 * on. Other owners, labels and annotations are kept. The label `update-result` keeps the sets from creating or deleting
 * machines until both have their new sizes. Applies to the version of the machine that was read.
 */
export function transferPatch(machine: Machine, from: MachineSet, to: MachineSet): Readonly<Record<string, unknown>> {
  const { ownerReferences } = releasePatch(machine, from.metadata.uid ?? "").metadata;
  const orphan = { ...machine, metadata: { ...machine.metadata, ownerReferences } };
  const template = to.spec.template;
  const before = { ...from.spec.selector?.matchLabels, ...from.spec.template.metadata?.labels };
  const labels = { ...template.metadata?.labels, ...to.spec.selector?.matchLabels };
  const finalizers = finalizersAfter(machine, from, to);
  return {
    metadata: {
      ...adoptPatch(orphan, newControllerRef(machineSetResource, to)).metadata,
      labels: { ...follow(before, labels), [labelKeys.updateResult]: updateResults.successful },
      annotations: follow(from.spec.template.metadata?.annotations, template.metadata?.annotations),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec: { class: { apiGroup: null, ...template.spec.class } },
  };
}

/** The step of an in-place update: machines that change sets, and machines whose nodes may be drained and updated. */
interface InPlaceStep {
  readonly transfer: readonly Transfer[];
  readonly select: readonly string[];
}

/** The machines that change sets, each from the set that has it. */
export function transfers({ transfer }: Pick<InPlaceStep, "transfer">, sets: Sets): MachineDeploymentAction[] {
  if (transfer.length === 0) return [];
  const views = allOf(sets);
  const receivers = new Map(transfer.map(({ name, to }) => [name, views.find(({ set }) => set.metadata.name === to)]));
  return views.flatMap(({ set, machines }) =>
    machines.flatMap((machine): MachineDeploymentAction[] => {
      const { name } = machine.metadata;
      const receiver = receivers.get(name);
      return receiver === undefined
        ? []
        : [{ kind: "PatchMachine", name, patch: transferPatch(machine, set, receiver.set) }];
    }),
  );
}

/**
 * Ends hand-overs: the marks of the node are removed, and the size of the receiving set includes the machine, so that the set does not delete it. A set that is not to
 * grow has too many machines for another reason, such as a scale-down in between: it deletes the surplus only after the end of the hand-over.
 *
 * @param sizes of the sets whose size changes in this step
 */
export function endTransfers(
  { nodes, heldBy, sets }: MachineDeploymentSnapshot,
  sizes: Sizes,
): MachineDeploymentAction[] {
  if (holdOn(heldBy, "replacement") !== undefined) return [];
  const hasMarks = ({ metadata }: Machine): boolean => {
    const labels = nodes?.get(metadata.name)?.metadata.labels ?? {};
    return labels[labelKeys.updateResult] !== undefined || labels[labelKeys.selectedForUpdate] !== undefined;
  };
  return allOf(sets).flatMap(({ set, machines }) => {
    const replicas = set.spec.replicas ?? 0;
    const isToGrow = (sizes.get(set.metadata.name) ?? 0) > replicas;
    if (isToGrow && countWhere(machines, isPresent) > replicas) return [];
    return machinesWhere(machines, isReceived)
      .filter((machine) => !hasMarks(machine))
      .map(({ metadata: { name } }) => ({
        kind: "PatchMachine",
        name,
        patch: { metadata: { labels: { [labelKeys.updateResult]: null } } },
      }));
  });
}

/** The events about single machines of an in-place update. */
export function inPlaceReasons({ transfer, select }: InPlaceStep): readonly Reason[] {
  const event = (names: readonly string[], reason: string, message: string): readonly Reason[] =>
    names.length === 0 ? [] : [{ type: "Normal", reason, message: `${message}: ${nameList(names, 5)}` }];
  const receivers = [...new Set(transfer.map(({ to }) => to))];
  return [
    ...receivers.flatMap((receiver) => {
      const names = transfer.filter(({ to }) => to === receiver).map(({ name }) => name);
      return event(
        names,
        eventReasons.machinesHandedOver,
        `Moved to machine set ${receiver} after the in-place update`,
      );
    }),
    ...event(select, eventReasons.selectedForUpdate, "Selected for in-place update"),
  ];
}
