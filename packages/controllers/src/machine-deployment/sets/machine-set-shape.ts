import {
  annotationKeys,
  annotationsNotInheritedBySets,
  labelKeys,
  machineApiVersion,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  type MachineTemplate,
  trueLabel,
} from "@millwright/core/machine-api";
import { createMergePatch, newControllerRef } from "@millwright/kube";
import type { RolloutBounds } from "../state/rollout-bounds.ts";
import { revisionAnnotations } from "../state/revision.ts";
import { machineSetName, templateHash } from "../../model/template-hash.ts";
import { isOnDelete } from "../../model/on-delete.ts";
import { countWhere } from "../../machine-lists/machine-list.ts";
import { isPresent } from "../../model/phase.ts";
import type { SetView } from "../state/set-size.ts";

type Changes = Readonly<Record<string, string | null>>;

/** Labels and annotations of a set for its role in a rollout; `null` removes, all others are kept. */
interface SetMarks {
  readonly labels: Changes;
  readonly annotations: Changes;
}

/** Whether new pods avoid the nodes of old sets: with Recreate there are no others. */
export const avoidsOldNodes = ({ spec }: MachineDeployment): boolean => spec.strategy?.type !== "Recreate";

/** A pause keeps the mark of a set, unless it is to create machines. */
const unmarkToGrow = (labels: Readonly<Record<string, string>>, isGrowing: boolean): Changes =>
  isGrowing && labels[labelKeys.scaleUpDisabled] !== undefined ? { [labelKeys.scaleUpDisabled]: null } : {};

/**
 * The marks of a set. An old set of an in-place update creates no machines: those that it loses moved to the new set, or are replaced there. Nor does one whose
 * machines are replaced when they are deleted. The mark is
 * removed from all other sets, or a set could not create machines after a rollback to it, and while paused from the set that grows. Likewise the annotation
 * that its nodes carry the taint. The time of the autoscaler's last change counts for every set that has machines.
 *
 * @param replicas that the set is to have
 * @param hasNodes whether there is a target cluster, with nodes to taint
 */
export function setMarks(
  deployment: MachineDeployment,
  { set, machines }: SetView,
  replicas: number,
  isOld: boolean,
  hasNodes: boolean,
): SetMarks {
  const { labels = {}, annotations = {} } = set.metadata;
  const scaled = deployment.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler];
  const isActive = machines.length > 0 || (set.spec.replicas ?? 0) > 0;
  const ofScaler: Changes =
    scaled === undefined || !isActive ? {} : { [annotationKeys.lastReplicaChangeByScaler]: scaled };
  if (deployment.spec.paused === true)
    return { labels: unmarkToGrow(labels, replicas > countWhere(machines, isPresent)), annotations: ofScaler };

  const mark = (key: string, value: string, have: string | undefined, isWanted: boolean): Changes =>
    isWanted && isActive ? { [key]: value } : isWanted || have === undefined ? {} : { [key]: null };
  const { scaleUpDisabled } = labelKeys;
  const { preferNoSchedule } = annotationKeys;
  const isReplacedByNew = deployment.spec.strategy?.type === "InPlaceUpdate" || isOnDelete(deployment);
  return {
    labels: mark(scaleUpDisabled, "true", labels[scaleUpDisabled], isOld && isReplacedByNew),
    annotations: {
      ...ofScaler,
      ...mark(
        preferNoSchedule,
        trueLabel,
        annotations[preferNoSchedule],
        isOld && hasNodes && avoidsOldNodes(deployment),
      ),
    },
  };
}

/** Annotations by which later reconciles detect a scaling event, and the base of proportions. */
export const scaleAnnotations = ({ replicas, maxSurge }: RolloutBounds): Readonly<Record<string, string>> => ({
  [annotationKeys.desiredReplicas]: String(replicas),
  [annotationKeys.maxReplicas]: String(replicas + maxSurge),
});

/** The annotations of a deployment that its newest set carries too. */
const inheritedAnnotations = (deployment: MachineDeployment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !annotationsNotInheritedBySets.has(key)),
  );

/**
 * The annotations of a deployment on its newest set, and the list of them, by which later reconciles find and remove (`null`) those that the deployment no longer
 * has.
 */
function inheritance(deployment: MachineDeployment, set?: MachineSet): Readonly<Record<string, string | null>> {
  const current = inheritedAnnotations(deployment);
  const key = annotationKeys.inheritedAnnotations;
  const before = (set?.metadata.annotations?.[key] ?? "").split(",").filter((entry) => entry !== "");
  const gone = before.filter((entry) => current[entry] === undefined && !annotationsNotInheritedBySets.has(entry));
  const list = Object.keys(current).toSorted().join(",");
  return {
    ...Object.fromEntries(gone.map((entry) => [entry, null])),
    ...current,
    ...(list === "" && before.length === 0 ? {} : { [key]: list === "" ? null : list }),
  };
}

/** Texts without those that are to go. */
const kept = (texts: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).flatMap(([key, text]) => (text === null ? [] : [[key, text]])));

/** Fields of the spec that a set copies from its deployment without new machines. */
const handedDown = ({ spec }: MachineDeployment): Partial<MachineSet["spec"]> => ({
  ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
  ...(spec.autoPreserveFailedMachineMax === undefined
    ? {}
    : { autoPreserveFailedMachineMax: spec.autoPreserveFailedMachineMax }),
});

/** The set for the deployment's current template (MCM, `pkg/controller/deployment_sync.go` getNewMachineSet). */
export function newMachineSet(
  deployment: MachineDeployment,
  replicas: number,
  revision: number,
  bounds: RolloutBounds,
): MachineSet {
  const { template, selector } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const withHash = { [labelKeys.machineTemplateHash]: hash };
  const labels = { ...template.metadata?.labels, ...withHash };
  return {
    apiVersion: machineApiVersion,
    kind: "MachineSet",
    metadata: {
      name: machineSetName(deployment.metadata.name, hash),
      ...(deployment.metadata.namespace === undefined ? {} : { namespace: deployment.metadata.namespace }),
      labels,
      annotations: {
        ...kept(inheritance(deployment)),
        ...revisionAnnotations(undefined, revision),
        ...scaleAnnotations(bounds),
      },
      ownerReferences: [newControllerRef(machineDeploymentResource, deployment)],
    },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...withHash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
      ...handedDown(deployment),
    },
  };
}

/** The in-place parts of the deployment's template on top of the set's own labels and class reference. */
function templateInPlace(own: MachineTemplate, wanted: MachineTemplate): MachineTemplate["spec"] {
  const kind = wanted.spec?.class?.kind;
  return {
    ...wanted.spec,
    ...(own.spec?.class === undefined ? {} : { class: { ...own.spec.class, ...(kind === undefined ? {} : { kind }) } }),
  };
}

/** The desired changes of a set: scaled, or synchronized with its deployment, or both. */
export interface SetChange {
  readonly set: MachineSet;
  readonly replicas?: number | undefined;
  /** Only the set of the current template follows annotations, in-place fields and the revision. */
  readonly follow?: { readonly deployment: MachineDeployment; readonly revision: number };
  readonly bounds: RolloutBounds;
  /** Whether to note the deployment's size on the set. */
  readonly isScaled: boolean;
  /** Default: none are set or taken away. */
  readonly marks?: SetMarks;
}

/** The one merge patch that makes the change, or `undefined` when the set is so already. */
export function machineSetPatch({
  set,
  replicas,
  follow,
  bounds,
  isScaled,
  marks,
}: SetChange): Readonly<Record<string, unknown>> | undefined {
  const { labels = {}, annotations = {} } = set.metadata;
  const before = { metadata: { labels, annotations }, spec: set.spec };
  const after = {
    metadata: {
      labels: { ...labels, ...marks?.labels },
      annotations: {
        ...annotations,
        ...marks?.annotations,
        ...(follow === undefined
          ? {}
          : { ...inheritance(follow.deployment, set), ...revisionAnnotations(set, follow.revision) }),
        ...(isScaled || replicas !== undefined ? scaleAnnotations(bounds) : {}),
      },
    },
    spec: {
      ...set.spec,
      ...(follow === undefined ? {} : handedDown(follow.deployment)),
      ...(follow === undefined
        ? {}
        : {
            template: {
              ...set.spec.template,
              spec: templateInPlace(set.spec.template, follow.deployment.spec.template),
            },
          }),
      ...(replicas === undefined ? {} : { replicas }),
    },
  };
  return createMergePatch(before, after);
}
