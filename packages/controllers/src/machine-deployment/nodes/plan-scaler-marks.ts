import {
  annotationKeys,
  deletionMachinePriority,
  type Machine,
  type MachineDeployment,
  phaseOf,
} from "@millwright/core";
import { apiTime } from "@millwright/kube";
import { isDeleting } from "../../model/phase.ts";

type Annotations = Readonly<Record<string, string | null>>;

/** What follows from the machines that the cluster-autoscaler selected. */
export interface ScalerMarks {
  /** Annotations of the deployment to change; empty when they are up to date. */
  readonly annotations: Annotations;
  /** Machines to mark, with their annotations. */
  readonly machines: readonly { readonly name: string; readonly annotations: Annotations }[];
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const isTime = (text: string): boolean => rfc3339.test(text) && !Number.isNaN(Date.parse(text));

/** Annotations that mark a machine; existing ones are kept, with the time of the first mark. */
function marksOf({ metadata: { annotations = {} } }: Machine, time: string): Annotations {
  const priority = String(deletionMachinePriority);
  return {
    ...(annotations[annotationKeys.machinePriority] === priority ? {} : { [annotationKeys.machinePriority]: priority }),
    ...((annotations[annotationKeys.markedForDeletionTime] ?? "") === ""
      ? { [annotationKeys.markedForDeletionTime]: time }
      : {}),
  };
}

/**
 * The cluster-autoscaler lists the machines to delete in an annotation of the deployment (MCM, `pkg/controller/deployment.go` updateMachineAndMachineDeploymentDeletionAnnotations): they are
 * marked, and stale entries are dropped: not `name~time`, not a machine of this deployment, or a Failed or terminating one. Old
 * autoscalers write bare names; these get the time of the replica change.
 */
export function planScalerMarks(deployment: MachineDeployment, machines: readonly Machine[], now: Date): ScalerMarks {
  const text = deployment.metadata.annotations?.[annotationKeys.triggerDeletion];
  if (text === undefined) return { annotations: {}, machines: [] };
  const noted = deployment.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler];
  const changedAt = noted ?? apiTime(now);
  const entries = text.split(",").map((entry) => entry.trim());
  const byName = new Map(machines.map((machine) => [machine.metadata.name, machine]));
  const valid = entries.flatMap((entry) => {
    const [name = "", time = changedAt, ...rest] = entry.split("~");
    const machine = byName.get(name);
    if (rest.length > 0 || !isTime(time) || machine === undefined) return [];
    return isDeleting(machine) || phaseOf(machine) === "Failed" ? [] : [{ machine, name, time }];
  });
  const after = valid.map(({ name, time }) => `${name}~${time}`).join(",");
  const isTimeMissing = noted === undefined && entries.some((entry) => entry !== "" && !entry.includes("~"));
  return {
    annotations: {
      ...(after === text && after !== "" ? {} : { [annotationKeys.triggerDeletion]: after === "" ? null : after }),
      ...(isTimeMissing ? { [annotationKeys.lastReplicaChangeByScaler]: changedAt } : {}),
    },
    machines: valid.flatMap(({ machine, name, time }) => {
      const annotations = marksOf(machine, time);
      return Object.keys(annotations).length === 0 ? [] : [{ name, annotations }];
    }),
  };
}
