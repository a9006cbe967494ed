// What commands need that read a cluster: reports, without the controllers, drivers and metrics, which take longer to load.
import type { approveDeletions as approve } from "./approve/approve-deletions.ts";
import type { applyCrds as apply } from "./crds/apply-crds.ts";
import type { previewDrain as preview } from "./describe/preview-drain.ts";

/** Only the command that approves loads it. */
export const approveDeletions: typeof approve = async (...options) =>
  (await import("./approve/approve-deletions.ts")).approveDeletions(...options);

/** Only the command that previews a drain loads it. */
export const previewDrain: typeof preview = async (...options) =>
  (await import("./describe/preview-drain.ts")).previewDrain(...options);

/** Only the command that applies CRDs loads it. */
export const applyCrds: typeof apply = async (...options) =>
  (await import("./crds/apply-crds.ts")).applyCrds(...options);

export type { ApprovalReport, ApprovalSelection } from "./approve/approve-deletions.ts";
export type { CrdReport } from "./crds/apply-crds.ts";
export { deploymentReport, describeDeployment } from "./describe/describe-deployment.ts";
export type { DeploymentReport, DescribeDeploymentOptions, SetReport } from "./describe/describe-deployment.ts";
export { classReport, describeClass } from "./describe/describe-class.ts";
export type { MachineClassReport, OrphanReport } from "./describe/describe-class.ts";
export { describeSet, setReport } from "./describe/describe-set.ts";
export type { MachineSetReport } from "./describe/describe-set.ts";
export type { NamedObject } from "./describe/read-named.ts";
export { describeMachine, machineReportFrom } from "./describe/describe-machine.ts";
export type { DescribeMachineOptions } from "./describe/describe-machine.ts";
export type { NodeDrainPreview, PreviewDrainOptions } from "./describe/preview-drain.ts";
export { type DrainPreview, previewDeletionDrain } from "./explain/simulate-drain.ts";
export { createCachedReader } from "./describe/cached-reader.ts";
export type { ObjectReader, ReadCache } from "./describe/cached-reader.ts";
export { drainSourcesOf } from "./describe/drain-sources-of.ts";
export type { DrainLists } from "./describe/drain-sources-of.ts";
export { readClusterObjects } from "./describe/read-cluster-objects.ts";
export type { ReadObjectsOptions } from "./describe/read-cluster-objects.ts";
export { findNamed } from "./explain/cluster-objects.ts";
export type { ClusterObjects } from "./explain/cluster-objects.ts";
export { factsOfMachine } from "./explain/explain-machine.ts";
export { subjectNamed, why } from "./explain/explain.ts";
export type { Subject, WhyReport } from "./explain/explain.ts";
export type { Explanation } from "./explain/explanation.ts";
export { explainFailure } from "./describe/explain-failure.ts";
export { isHeld } from "@millwright/controllers/reports";
export { unknownAnnotations, unknownKeyNotes } from "./explain/annotation-notes.ts";
export type { MachineReport } from "./explain/machine-report.ts";
export type { PodPreview as DrainPodPreview } from "./explain/simulate-drain.ts";
