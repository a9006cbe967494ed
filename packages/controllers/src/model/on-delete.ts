import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";

/** Whether old machines are replaced only when a user deletes them. */
export const isOnDelete = ({ metadata, spec }: MachineDeployment): boolean =>
  metadata.annotations?.[annotationKeys.onDelete] === "true" &&
  (spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
