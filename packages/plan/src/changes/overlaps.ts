import { type MachineDeployment, type MachineSet, selectorMatches } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import type { ClusterState } from "../state/cluster-state.ts";
import type { ChangePreview } from "../simulation/preview-change.ts";

/** Maximum number of overlapping objects that are named for one change. */
const MAX_OTHERS = 5;

/** An object that creates machines, and adopts those that its selector matches. */
type Adopter =
  | { readonly kind: "MachineDeployment"; readonly object: MachineDeployment }
  | { readonly kind: "MachineSet"; readonly object: MachineSet };

const isKept = ({ metadata }: MachineDeployment | MachineSet): boolean => metadata.deletionTimestamp === undefined;

const isFree = (set: MachineSet): boolean => controllerRefOf(set) === undefined;

/** Whether a deployment would adopt a set. */
export const adoptsSet = (deployment: MachineDeployment, set: MachineSet): boolean =>
  isKept(deployment) && isKept(set) && isFree(set) && selectorMatches(deployment.spec.selector, set.metadata.labels);

const adoptersIn = ({ deployments, sets }: ClusterState): readonly Adopter[] =>
  [
    ...deployments.map((object) => ({ kind: "MachineDeployment", object }) as const),
    ...sets.filter(isFree).map((object) => ({ kind: "MachineSet", object }) as const),
  ].filter(({ object }) => isKept(object));

const nameOf = ({ kind, object }: Adopter): string => `${kind} "${object.metadata.name}"`;

const selects = ({ object: { spec } }: Adopter, { object: { spec: other } }: Adopter): boolean =>
  selectorMatches(spec.selector, other.template.metadata?.labels);

/** What two of them could adopt from each other: the same sentence in either order. */
function overlapOf(one: Adopter, other: Adopter): string | undefined {
  if (one.kind === "MachineSet" && other.kind === "MachineDeployment") return overlapOf(other, one);
  if (one.kind === "MachineDeployment" && other.kind === "MachineSet" && adoptsSet(one.object, other.object))
    return `${nameOf(one)} adopts ${nameOf(other)}, because its selector matches and the set has no controller: the set becomes part of its rollout`;
  if (!selects(one, other) && !selects(other, one)) return undefined;
  const [first, second] = [one, other].map(nameOf).toSorted();
  return `The selectors of ${first} and ${second} overlap: each may adopt machines that the other releases; give each its own label in selector and template`;
}

/** Overlaps of a deployment, or of a set without controller, with others that select the same, a sentence each. */
export function overlaps(state: ClusterState, { kind, name }: ChangePreview): readonly string[] {
  const adopters = adoptersIn(state);
  const changed = adopters.find((each) => each.kind === kind && each.object.metadata.name === name);
  if (changed === undefined) return [];
  const found = adopters
    .filter((each) => each !== changed)
    .flatMap((each) => overlapOf(changed, each) ?? [])
    .toSorted();
  const rest = found.length - MAX_OTHERS;
  return rest > 0
    ? [...found.slice(0, MAX_OTHERS), `The selector of ${nameOf(changed)} overlaps with those of ${rest} more`]
    : found;
}
