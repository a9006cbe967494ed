import { type Taint, taintEffects, taintKeys } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import type { NodeConditionState } from "../../model/node-condition.ts";

type Changes = Readonly<Record<string, string | null>>;

/** What a node of a deployment is to carry; everything else is kept. */
export interface DesiredNodeMarks {
  /** Values to set, `null` removes. */
  readonly labels: Changes;
  readonly annotations: Changes;
  /** The taint that keeps pods off machines that are about to be replaced; `undefined` keeps it as it is. */
  readonly isAvoided: boolean | undefined;
  /** Taints to add when they are missing. */
  readonly addTaints: readonly Taint[];
  /** Whether the node takes pods again. */
  readonly isUncordoned: boolean;
}

/** Changes nothing. */
export const noChange: DesiredNodeMarks = {
  labels: {},
  annotations: {},
  isAvoided: undefined,
  addTaints: [],
  isUncordoned: false,
};

const avoidance: Taint = { key: taintKeys.preferNoSchedule, value: "True", effect: taintEffects.preferNoSchedule };

const isSame = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/** The desired taints of a node; `undefined` when they do not change. */
function taintsAfter(node: Node, { isAvoided, addTaints }: DesiredNodeMarks): readonly Taint[] | undefined {
  const live = node.spec?.taints ?? [];
  const wanted = isAvoided === true ? [...addTaints, avoidance] : addTaints;
  const kept = isAvoided === false ? live.filter((taint) => !isSame(taint, avoidance)) : live;
  const added = wanted.filter((taint) => !kept.some((each) => isSame(each, taint)));
  return added.length === 0 && kept.length === live.length ? undefined : [...kept, ...added];
}

const changesOf = (have: Readonly<Record<string, string>> | undefined, wanted: Changes): Changes | undefined => {
  const changed = Object.keys(wanted).filter((key) => (have?.[key] ?? null) !== wanted[key]);
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map((key) => [key, wanted[key] ?? null]));
};

/**
 * The merge patch that brings a node to its desired state; `undefined` when there is nothing to change. A merge patch replaces the list of taints, so a patch of taints
 * applies only to the version of the node that was read.
 */
export function nodePatch(node: Node, desired: DesiredNodeMarks): Readonly<Record<string, unknown>> | undefined {
  const labels = changesOf(node.metadata.labels, desired.labels);
  const annotations = changesOf(node.metadata.annotations, desired.annotations);
  const taints = taintsAfter(node, desired);
  const isUncordoned = desired.isUncordoned && node.spec?.unschedulable === true;
  const { resourceVersion } = node.metadata;
  const metadata = {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(taints === undefined || resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const spec = {
    ...(taints === undefined ? {} : { taints }),
    ...(isUncordoned ? { unschedulable: null } : {}),
  };
  if (Object.keys(metadata).length === 0 && Object.keys(spec).length === 0) return undefined;
  return {
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(Object.keys(spec).length === 0 ? {} : { spec }),
  };
}

/** What is to be written to a node. */
export interface NodeChange {
  readonly name: string;
  readonly patch?: Readonly<Record<string, unknown>>;
  /** The condition to set on the node after the patch. */
  readonly condition?: NodeConditionState;
}
