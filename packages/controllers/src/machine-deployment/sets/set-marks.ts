import { annotationKeys, trueLabel, labelKeys, type MachineDeployment } from "@millwright/core";
import { isOnDelete } from "../state/on-delete.ts";
import type { SetView } from "../state/set-size.ts";

type Changes = Readonly<Record<string, string | null>>;

/** Labels and annotations of a set for its role in a rollout; `null` removes, all others are kept. */
export interface SetMarks {
  readonly labels: Changes;
  readonly annotations: Changes;
}

/** Whether new pods avoid the nodes of old sets: with Recreate there are no others. */
export const avoidsOldNodes = ({ spec }: MachineDeployment): boolean => spec.strategy?.type !== "Recreate";

/**
 * The marks of a set. An old set of an in-place update creates no machines: those that it loses moved to the new set, or are replaced there. Nor does one whose
 * machines are replaced when they are deleted. The mark is
 * removed from all other sets, or a set could not create machines after a rollback to it. Likewise the annotation
 * that its nodes carry the taint. The time of the autoscaler's last change counts for every set that has machines.
 *
 * @param hasNodes whether there is a target cluster, with nodes to taint
 */
export function setMarks(
  deployment: MachineDeployment,
  { set, machines }: SetView,
  isOld: boolean,
  hasNodes: boolean,
): SetMarks {
  const { labels = {}, annotations = {} } = set.metadata;
  const scaled = deployment.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler];
  const isActive = machines.length > 0 || (set.spec.replicas ?? 0) > 0;
  const ofScaler: Changes =
    scaled === undefined || !isActive ? {} : { [annotationKeys.lastReplicaChangeByScaler]: scaled };
  if (deployment.spec.paused === true) return { labels: {}, annotations: ofScaler };

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
