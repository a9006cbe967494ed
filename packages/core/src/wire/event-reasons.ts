/** Reasons of events on MachineSets and MachineDeployments. Read by people and by alerting. Source: machineset-machinedeployment.md 23. */
export const eventReasons = {
  successfulCreate: "SuccessfulCreate",
  failedCreate: "FailedCreate",
  successfulDelete: "SuccessfulDelete",
  failedDelete: "FailedDelete",
  frozeMachineSet: "FrozeMachineSet",
  unfrozeMachineSet: "UnfrozeMachineSet",
  scalingMachineSet: "ScalingMachineSet",
  deploymentRollback: "DeploymentRollback",
  rollbackRevisionNotFound: "DeploymentRollbackRevisionNotFound",
  rollbackTemplateUnchanged: "DeploymentRollbackTemplateUnchanged",
  machineSetCreateError: "MachineSetCreateError",
  selectingAll: "SelectingAll",
  /** Ours: the controller refuses the spec; the condition SpecValid has the details. */
  invalidSpec: "InvalidSpec",
} as const;
