import {
  annotationKeys,
  defaultMachinePriority,
  deletionMachinePriority,
  type Machine,
  type MachineDeployment,
} from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { hasMark, isPrioritizedForDeletion } from "../../model/scale-in-mark.ts";
import { isDeleting, isFailed } from "../../model/phase.ts";

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
function marksOf(machine: Machine, time: string): Annotations {
  return {
    ...(isPrioritizedForDeletion(machine) ? {} : { [annotationKeys.machinePriority]: String(deletionMachinePriority) }),
    ...(hasMark(machine) ? {} : { [annotationKeys.markedForDeletionTime]: time }),
  };
}

/** Annotations that take a mark back. The priority becomes the default one, to which the autoscaler resets it, too; what it was before the mark is not recorded. */
const unmarked = (machine: Machine): Annotations => ({
  ...(isPrioritizedForDeletion(machine) ? { [annotationKeys.machinePriority]: String(defaultMachinePriority) } : {}),
  [annotationKeys.markedForDeletionTime]: null,
});

const isReplaceable = (machine: Machine): boolean => !isDeleting(machine) && !isFailed(machine);

interface Entry {
  readonly machine: Machine;
  readonly time: string;
}

/** When the autoscaler changed the size, where it recorded no time: now, but no earlier than the marks, whose clock may be ahead. */
const changeOf = (entries: readonly Entry[], now: Date): string =>
  entries.reduce((latest, { time }) => (Date.parse(time) > Date.parse(latest) ? time : latest), apiTime(now));

/**
 * The cluster-autoscaler lists the machines to delete in an annotation of the deployment (MCM, `pkg/controller/deployment.go` updateMachineAndMachineDeploymentDeletionAnnotations): they are
 * marked, and stale entries are dropped: not `name~time`, not a machine of this deployment, or a Failed or terminating one. Old autoscalers write bare names; these get the time of the replica
 * change. Without such a time the list itself is the change (adjustingMachineDeploymentDeletionAnnotations there).
 *
 * A mark whose entry another client removed is taken back, or a later change of the size would delete the machine.
 */
export function planScalerMarks(deployment: MachineDeployment, machines: readonly Machine[], now: Date): ScalerMarks {
  const text = deployment.metadata.annotations?.[annotationKeys.triggerDeletion];
  const noted = deployment.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler];
  const byName = new Map(machines.map((machine) => [machine.metadata.name, machine]));
  const valid = (text ?? "").split(",").flatMap((entry): readonly Entry[] => {
    const [name = "", time = noted ?? apiTime(now), ...rest] = entry.trim().split("~");
    const machine = byName.get(name);
    if (rest.length > 0 || !isTime(time) || machine === undefined) return [];
    return isReplaceable(machine) ? [{ machine, time }] : [];
  });
  const after = valid.map(({ machine, time }) => `${machine.metadata.name}~${time}`).join(",");
  const named = new Set(valid.map(({ machine }) => machine));
  const changes = [
    ...valid.map(({ machine, time }) => ({ machine, annotations: marksOf(machine, time) })),
    ...machines
      .filter((machine) => hasMark(machine) && isReplaceable(machine) && !named.has(machine))
      .map((machine) => ({ machine, annotations: unmarked(machine) })),
  ];
  return {
    annotations: {
      ...(text === undefined || (after === text && after !== "")
        ? {}
        : { [annotationKeys.triggerDeletion]: after === "" ? null : after }),
      ...(noted === undefined && valid.length > 0
        ? { [annotationKeys.lastReplicaChangeByScaler]: changeOf(valid, now) }
        : {}),
    },
    machines: changes.flatMap(({ machine, annotations }) =>
      Object.keys(annotations).length === 0 ? [] : [{ name: machine.metadata.name, annotations }],
    ),
  };
}
