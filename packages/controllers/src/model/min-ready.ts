import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";

/**
 * Seconds for which a machine must have served before it counts as available; 0 where that is not requested. Only for deployments with the annotation: Gardener writes 500 into every
 * deployment, MCM ignores it, and rollouts would take hours longer.
 */
export const honoredMinReadySeconds = ({ metadata, spec }: MachineDeployment): number =>
  metadata.annotations?.[annotationKeys.honorMinReadySeconds] === "true" ? (spec.minReadySeconds ?? 0) : 0;
