import { crdsEstablishedConditionType } from "@millwright/core";
import { unknownAnnotations } from "@millwright/runtime";
import type { ClusterState } from "./state/cluster-state.ts";
import type { ChangePreview } from "./simulation/preview-change.ts";

/** What is looked at of the deployment or set that a preview is of. */
interface Changed {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly template: { readonly spec?: { readonly class?: { readonly name?: string } } } };
}

function changedObject({ deployments, sets }: ClusterState, { kind, name }: ChangePreview): Changed | undefined {
  const objects: readonly Changed[] = kind === "MachineDeployment" ? deployments : sets;
  return objects.find(({ metadata }) => metadata.name === name);
}

/** A class that is missing keeps the machines of a template from ever being made, and a preview in which all goes well would not tell. */
export function missingClass(state: ClusterState, change: ChangePreview): string | undefined {
  const wanted = changedObject(state, change)?.spec.template.spec?.class?.name;
  return wanted === undefined || wanted === "" || state.classes.some(({ metadata }) => metadata.name === wanted)
    ? undefined
    : `MachineClass "${wanted}" of ${change.kind} "${change.name}" does not exist: none of its machines can be made`;
}

/** While a definition is being deleted its deployments do nothing of what is planned, until somebody decides about it. */
export function standstills({ deployments }: ClusterState, { kind, name }: ChangePreview): readonly string[] {
  const conditions = deployments.find(({ metadata }) => metadata.name === name)?.status?.conditions ?? [];
  return conditions
    .filter(
      ({ type, status }) => kind === "MachineDeployment" && type === crdsEstablishedConditionType && status === "False",
    )
    .map(({ message = "" }) => `${kind} "${name}" stands still for now. ${message}`);
}

/** A name that nobody knows holds no rollout back, and whoever misspelt it believes that it does. */
export const misspeltAnnotations = (state: ClusterState, change: ChangePreview): readonly string[] =>
  unknownAnnotations(change.kind, changedObject(state, change)?.metadata ?? change);
