/** What tests of other packages build the objects of the controllers with. */
export { ofClass } from "./begun-rollout.ts";
export {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  aNode,
  beingDeleted,
  createdAt,
  inPhase,
  labeled,
  named,
  ownedBy,
} from "./builders.ts";
export type { Change } from "./builders.ts";
export { createRolloutModel } from "./rollout-model.ts";
export { settle } from "./rollout-transcript.ts";
export { aBudget, aPod, aPodWithVolume } from "./drain-objects.ts";
export { aDrainView, aMove, drainTerms, volumePlaces, volumesFor } from "./drain-views.ts";
export { itsNode, lastly, testNow, withVm } from "./snapshots.ts";
