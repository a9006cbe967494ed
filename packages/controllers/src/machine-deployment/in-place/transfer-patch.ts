import { labelKeys, type Machine, type MachineSet, machineSetResource, updateResults } from "@millwright/core";
import { adoptPatch, newControllerRef, releasePatch } from "@millwright/kube";

type Texts = Readonly<Record<string, string>>;

/** What a map has from the old template and not from the new one goes, what the new one has comes; the rest is the machine's own. */
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
 * The one patch by which a machine goes over to another set: its owner, what it has from the template, and the class by which its VM is looked after from now
 * on. Owners, labels and annotations of others stay. The label `update-result` keeps the sets from making or deleting
 * machines until both know their new sizes. Holds for the version of the machine that was seen.
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
