import { crdsEstablishedConditionType } from "@millwright/core";
import { unknownAnnotations } from "@millwright/runtime";
import type { ClusterState } from "./state/cluster-state.ts";
import type { ChangePreview } from "./simulation/preview-change.ts";

/** The part of a changed deployment or set that is checked. */
interface ChangedObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly template: { readonly spec?: { readonly class?: { readonly name?: string } } } };
}

function changedObject({ deployments, sets }: ClusterState, { kind, name }: ChangePreview): ChangedObject | undefined {
  const objects: readonly ChangedObject[] = kind === "MachineDeployment" ? deployments : sets;
  return objects.find(({ metadata }) => metadata.name === name);
}

/** Without its class no machine of a template is ever created, which a best-case simulation would not show. */
export function missingClass(state: ClusterState, change: ChangePreview): string | undefined {
  const wanted = changedObject(state, change)?.spec.template.spec?.class?.name;
  return wanted === undefined || wanted === "" || state.classes.some(({ metadata }) => metadata.name === wanted)
    ? undefined
    : `MachineClass "${wanted}" of ${change.kind} "${change.name}" does not exist: none of its machines can be created`;
}

/** While a CRD is being deleted, its deployments are paused until a user decides, and nothing of the plan happens. */
export function pausesByCrds({ deployments }: ClusterState, { kind, name }: ChangePreview): readonly string[] {
  const conditions = deployments.find(({ metadata }) => metadata.name === name)?.status?.conditions ?? [];
  return conditions
    .filter(
      ({ type, status }) => kind === "MachineDeployment" && type === crdsEstablishedConditionType && status === "False",
    )
    .map(({ message = "" }) => `${kind} "${name}" is paused. ${message}`);
}

/** An annotation with a misspelt name has no effect, but its author relies on it. */
export const unknownAnnotationNotes = (state: ClusterState, change: ChangePreview): readonly string[] =>
  unknownAnnotations(change.kind, changedObject(state, change)?.metadata ?? change);
