import { labelKeys, type Taint } from "@millwright/core";
import { type MachineDecision, nothing } from "../decision.ts";
import type { MachineSnapshot } from "../snapshot.ts";

/** The entries that are missing or different; `undefined` when there are none. */
function missing(
  have: Readonly<Record<string, string>> | undefined,
  want: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(want).filter(([key, value]) => have?.[key] !== value);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const isSameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/** The taints with those of the template set; `undefined` when they are there already. */
function mergedTaints(have: readonly Taint[], want: readonly Taint[]): readonly Taint[] | undefined {
  const isSet = want.every((taint) =>
    have.some((other) => isSameTaint(taint, other) && (taint.value ?? "") === (other.value ?? "")),
  );
  return isSet ? undefined : [...have.filter((other) => !want.some((taint) => isSameTaint(taint, other))), ...want];
}

/**
 * Puts the machine's name and the labels, annotations and taints of its node template on the node, in one patch and only when something
 * differs. Taints are a list that a merge patch replaces whole, so that patch holds for one version of the node only.
 */
export function decideNodeSync({ machine, node }: MachineSnapshot): MachineDecision {
  if (node === undefined) return nothing;
  const template = machine.spec.nodeTemplate;
  const labels = missing(node.metadata.labels, {
    ...template?.metadata?.labels,
    [labelKeys.machineName]: machine.metadata.name,
  });
  const annotations = missing(node.metadata.annotations, { ...template?.metadata?.annotations });
  const taints = mergedTaints(node.spec?.taints ?? [], template?.spec?.taints ?? []);
  if (labels === undefined && annotations === undefined && taints === undefined) return nothing;
  const patch = {
    metadata: {
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(taints === undefined || node.metadata.resourceVersion === undefined
        ? {}
        : { resourceVersion: node.metadata.resourceVersion }),
    },
    ...(taints === undefined ? {} : { spec: { taints } }),
  };
  return { actions: [{ kind: "PatchNode", name: node.metadata.name, patch }], because: [] };
}
