/**
 * The stages of the deletion flow in the order in which they run. The marker at the end of `lastOperation.description` is
 * the persistent program counter: MCM and Millwright continue each other's deletions by it.
 * Source: MCM, `pkg/util/provider/machinecontroller/machine.go` triggerDeletionFlow.
 */
export const deletionStages = [
  {
    name: "GetVmStatus",
    marker: "Set machine status to termination. Now, getting VM Status",
    purpose: "find the Node of the machine, by label or by asking the driver",
  },
  { name: "Drain", marker: "Initiate node drain", purpose: "cordon the Node and evict its pods" },
  {
    name: "DeleteVolumeAttachments",
    marker: "Delete Volume Attachments",
    purpose: "delete the VolumeAttachments that remain after a forced drain",
  },
  { name: "DeleteVm", marker: "Initiate VM deletion", purpose: "let the driver delete the VM" },
  { name: "DeleteNode", marker: "Initiate node object deletion", purpose: "delete the Node" },
  {
    name: "RemoveFinalizer",
    marker: "Initiate machine object finalizer removal",
    purpose: "remove the machine's finalizer",
  },
] as const;

/** Name of a stage of the deletion flow. */
export type DeletionStage = (typeof deletionStages)[number]["name"];

/** Markers outside the deletion flow that end a description. Read by MCM and by people. */
export const otherMarkers = {
  /** Ends the description of a failed InitializeMachine. */
  initializeVm: "Initialize VM Instance",
  /** Description after a successful in-place drain. */
  readyForUpdate: "Node drain successful. Node is ready for update",
} as const;

const markers: Readonly<Record<DeletionStage, string>> = {
  GetVmStatus: deletionStages[0].marker,
  Drain: deletionStages[1].marker,
  DeleteVolumeAttachments: deletionStages[2].marker,
  DeleteVm: deletionStages[3].marker,
  DeleteNode: deletionStages[4].marker,
  RemoveFinalizer: deletionStages[5].marker,
};

/** The marker with which a description must end so that the stage runs next. */
export function markerOf(stage: DeletionStage): string {
  return markers[stage];
}

/**
 * The stage that a description asks for: the one whose marker is its *end*, blanks and a full stop aside. MCM searches the
 * whole text, where an error message that quotes a marker makes it skip stages. Undefined
 * for a text without a marker at its end: the flow starts again with the first stage.
 */
export function stageOf(description: string | undefined): DeletionStage | undefined {
  if (description === undefined) return undefined;
  const text = description.trimEnd().replace(/\.$/, "");
  return deletionStages.find((stage) => text.endsWith(stage.marker))?.name;
}
