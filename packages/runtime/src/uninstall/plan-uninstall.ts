import {
  annotationKeys,
  finalizers,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiObject, nodeResource, type ResourceType, secretResource } from "@millwright/kube";

/** The kinds that carry finalizers of ours, owners first: an object that is being deleted must not lose its children before it goes itself. */
export const finalizedKinds = [
  { type: machineDeploymentResource, finalizer: finalizers.machine },
  { type: machineSetResource, finalizer: finalizers.machine },
  { type: machineResource, finalizer: finalizers.machine },
  { type: machineClassResource, finalizer: finalizers.machine },
  { type: secretResource, finalizer: finalizers.secret },
  { type: nodeResource, finalizer: finalizers.node },
] as const satisfies readonly { readonly type: ResourceType; readonly finalizer: string }[];

/** Annotations of Nodes that other programs act on, or that describe what is managed. */
const nodeMarks = [
  annotationKeys.lastAppliedNodeTemplate,
  annotationKeys.lastAppliedVirtualCapacity,
  annotationKeys.notManaged,
] as const;

/** What is removed from one object. */
export interface Removal {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly finalizer?: string;
  readonly annotations: readonly string[];
}

/** The annotations of a Node that are removed: those of the controllers, and the autoscaler's where a controller set it. */
function annotationsOf({ metadata: { annotations = {} } }: ApiObject): readonly string[] {
  const { scaleDownDisabled, scaleDownDisabledByController } = annotationKeys;
  const isOurs = annotations[scaleDownDisabledByController] !== undefined;
  const keys = isOurs ? [...nodeMarks, scaleDownDisabledByController, scaleDownDisabled] : nodeMarks;
  return keys.filter((key) => annotations[key] !== undefined);
}

/**
 * What is removed from an object: what keeps it from being deleted without controllers, and on Nodes also what misleads other programs. Annotations of
 * machines and their owners stay, because only the controllers read them and need them if they return. `undefined`: nothing.
 */
export function removalOf(type: ResourceType, finalizer: string, object: ApiObject): Removal | undefined {
  const { namespace, name = "", finalizers: held = [] } = object.metadata;
  const annotations = type.kind === nodeResource.kind ? annotationsOf(object) : [];
  if (!held.includes(finalizer) && annotations.length === 0) return undefined;
  return {
    kind: type.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(held.includes(finalizer) ? { finalizer } : {}),
    annotations,
  };
}

/** The merge patch that carries out a removal, for the version of the object that was read. */
export function patchOf({ finalizer, annotations }: Removal, { metadata }: ApiObject): object {
  const { finalizers: held = [], resourceVersion } = metadata;
  return {
    metadata: {
      ...(finalizer === undefined ? {} : { finalizers: held.filter((entry) => entry !== finalizer) }),
      ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations.map((key) => [key, null])) }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}
