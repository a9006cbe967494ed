export type { PlannedChange } from "./changes/apply-changes.ts";
export { planChanges, planNext } from "./plan-changes.ts";
export type { Plan, PlannedDrain } from "./plan-changes.ts";
export { readClusterState, stateOfManifests } from "./state/cluster-state.ts";
export type { ClusterState, ManifestObject, ReadStateOptions } from "./state/cluster-state.ts";
export { readManifests } from "./state/read-manifests.ts";
export { takeSnapshot } from "./state/take-snapshot.ts";
export type { Snapshot, SnapshotOptions } from "./state/take-snapshot.ts";
