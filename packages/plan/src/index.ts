export type { PlannedChange } from "./changes/apply-changes.ts";
export { planChanges } from "./plan-changes.ts";
export type { Plan, PlannedDrain } from "./plan-changes.ts";
export { readClusterState, stateOfManifests } from "./state/cluster-state.ts";
export type { ClusterState, ManifestObject, ReadStateOptions } from "./state/cluster-state.ts";
export { readManifests } from "./state/read-manifests.ts";
