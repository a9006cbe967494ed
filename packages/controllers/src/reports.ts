// What reports about objects need: what the controllers record and decide, without the controllers, which take longer to load.
export { linkOf, matchByProviderId, pickNode } from "./model/pick-node.ts";
export { findHold, recordedHold } from "./guards/find-hold.ts";
export type { Hold } from "./model/hold.ts";
export type { CrdState } from "./model/crd-state.ts";
export { isDeletionHeld } from "./model/held-deletion.ts";
export { defaultMachineSettings } from "./model/machine-settings.ts";
export { machineReport } from "./conditions/machine/machine-report.ts";
export type { Deadline, MachineReport } from "./conditions/machine/machine-report.ts";
export type { MachineFacts } from "./conditions/machine/facts.ts";
export type { Budget, Claim, Node, Pod, Volume, VolumeAttachment } from "./model/node-objects.ts";
export { markedStage } from "./model/marked-stage.ts";
export { observeDrain } from "./drain/observe-drain.ts";
export type { DrainSources } from "./drain/observe-drain.ts";
export type { DrainPreview, PodPreview } from "./drain/simulate-drain.ts";
export { previewDeletionDrain } from "./machine/deletion/drain-preview.ts";
export { drainRulesOf } from "./machine/drain/drain-rules.ts";
export { claimNames } from "./model/pod-claims.ts";
export { readQuarantine } from "./orphans/quarantine.ts";
