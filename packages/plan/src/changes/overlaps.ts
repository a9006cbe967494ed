import { type MachineDeployment, type MachineSet, selectorMatches } from "@millwright/core";
import { controllerRefOf } from "@millwright/kube";
import type { ClusterState } from "../state/cluster-state.ts";
import type { ChangePreview } from "../simulation/preview-change.ts";

/** Others that are named for one change. */
const MOST_OTHERS = 5;

/** Whatever makes machines by itself, and adopts what its selector matches. */
type Adopter =
  | { readonly kind: "MachineDeployment"; readonly object: MachineDeployment }
  | { readonly kind: "MachineSet"; readonly object: MachineSet };

const stays = ({ metadata }: MachineDeployment | MachineSet): boolean => metadata.deletionTimestamp === undefined;

const isFree = (set: MachineSet): boolean => controllerRefOf(set) === undefined;

/** Whether a deployment makes a set its own as soon as it sees it. */
export const adoptsSet = (deployment: MachineDeployment, set: MachineSet): boolean =>
  stays(deployment) && stays(set) && isFree(set) && selectorMatches(deployment.spec.selector, set.metadata.labels);

const adoptersIn = ({ deployments, sets }: ClusterState): readonly Adopter[] =>
  [
    ...deployments.map((object) => ({ kind: "MachineDeployment", object }) as const),
    ...sets.filter(isFree).map((object) => ({ kind: "MachineSet", object }) as const),
  ].filter(({ object }) => stays(object));

const nameOf = ({ kind, object }: Adopter): string => `${kind} "${object.metadata.name}"`;

const selects = ({ object: { spec } }: Adopter, { object: { spec: other } }: Adopter): boolean =>
  selectorMatches(spec.selector, other.template.metadata?.labels);

/** What two of them take from each other, a sentence that is the same in whichever order they are asked for. */
function overlapOf(one: Adopter, other: Adopter): string | undefined {
  if (one.kind === "MachineSet" && other.kind === "MachineDeployment") return overlapOf(other, one);
  if (one.kind === "MachineDeployment" && other.kind === "MachineSet" && adoptsSet(one.object, other.object))
    return `${nameOf(one)} adopts ${nameOf(other)}, which nobody controls and whose labels its selector matches: the set becomes a part of its rollout`;
  if (!selects(one, other) && !selects(other, one)) return undefined;
  const [first, second] = [one, other].map(nameOf).toSorted();
  return `The selectors of ${first} and ${second} overlap: what loses its owner at one may be adopted by the other; give each a label of its own, in selector and template`;
}

/** What becomes of a deployment, or a set that nobody controls, beside others that select the same, a sentence each. */
export function overlaps(state: ClusterState, { kind, name }: ChangePreview): readonly string[] {
  const adopters = adoptersIn(state);
  const changed = adopters.find((each) => each.kind === kind && each.object.metadata.name === name);
  if (changed === undefined) return [];
  const found = adopters
    .filter((each) => each !== changed)
    .flatMap((each) => overlapOf(changed, each) ?? [])
    .toSorted();
  const rest = found.length - MOST_OTHERS;
  return rest > 0
    ? [...found.slice(0, MOST_OTHERS), `The selector of ${nameOf(changed)} overlaps with those of ${rest} more`]
    : found;
}
