import { type Taint, taintEffects, taintKeys } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { NodeConditionState } from "../../model/node-condition.ts";

type Changes = Readonly<Record<string, string | null>>;

/** What a deployment wants a node to carry; what is not named stays as it is. */
export interface DesiredNodeMarks {
  /** Values to set, `null` removes. */
  readonly labels: Changes;
  readonly annotations: Changes;
  /** The taint that steers pods away from machines that will go soon; `undefined` leaves it as it is. */
  readonly isAvoided: boolean | undefined;
  /** Taints to add when they are missing. */
  readonly addTaints: readonly Taint[];
  /** Whether the node takes pods again. */
  readonly isUncordoned: boolean;
}

/** A wish for nothing. */
export const noChange: DesiredNodeMarks = {
  labels: {},
  annotations: {},
  isAvoided: undefined,
  addTaints: [],
  isUncordoned: false,
};

const avoidance: Taint = { key: taintKeys.preferNoSchedule, value: "True", effect: taintEffects.preferNoSchedule };

const isSame = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/** The taints of a node after a wish; `undefined` when they stay. */
function taintsAfter(node: Node, { isAvoided, addTaints }: DesiredNodeMarks): readonly Taint[] | undefined {
  const live = node.spec?.taints ?? [];
  const wanted = isAvoided === true ? [...addTaints, avoidance] : addTaints;
  const kept = isAvoided === false ? live.filter((taint) => !isSame(taint, avoidance)) : live;
  const added = wanted.filter((taint) => !kept.some((each) => isSame(each, taint)));
  return added.length === 0 && kept.length === live.length ? undefined : [...kept, ...added];
}

const changesOf = (have: Readonly<Record<string, string>> | undefined, wanted: Changes): Changes | undefined => {
  const changed = Object.entries(wanted).filter(([key, value]) => (have?.[key] ?? null) !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
};

/**
 * The one merge patch that grants a wish, or `undefined` when the node is so already. Taints are a list that a patch replaces whole, so one that touches them
 * holds only for the version of the node that was seen.
 */
export function nodePatch(node: Node, wish: DesiredNodeMarks): Readonly<Record<string, unknown>> | undefined {
  const labels = changesOf(node.metadata.labels, wish.labels);
  const annotations = changesOf(node.metadata.annotations, wish.annotations);
  const taints = taintsAfter(node, wish);
  const isUncordoned = wish.isUncordoned && node.spec?.unschedulable === true;
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
  /** What the node is to say of its machine after the patch. */
  readonly condition?: NodeConditionState;
}
