import { labelKeys, type Machine, type MachineSet, machineSetResource, updateResults } from "@millwright/core";
import { adoptPatch, newControllerRef, releasePatch } from "@millwright/kube";

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
