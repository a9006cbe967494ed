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

/** Markers that other versions of MCM write, with the stage here. MCM v0.61 removes the finalizers of the Node in a stage of its own, once the VM is deleted. */
const foreignMarkers: readonly { readonly name: DeletionStage; readonly marker: string }[] = [
  { name: "DeleteNode", marker: "Remove node finalizers" },
];

/**
 * The stage that a description asks for, with the text before its marker: the one whose marker is its *end*, blanks and a full stop aside. MCM searches the
 * whole text, where an error message that quotes a marker makes it skip stages. Undefined
 * for a text without a marker at its end: the flow starts again with the first stage.
 */
export function splitAtStage(
  description: string,
): { readonly stage: DeletionStage; readonly text: string } | undefined {
  const text = description.trimEnd().replace(/\.$/, "");
  const found = [...deletionStages, ...foreignMarkers].find(({ marker }) => text.endsWith(marker));
  return found && { stage: found.name, text: text.slice(0, -found.marker.length).trimEnd().replace(/\.$/, "") };
}

/** The stage that a description asks for; see {@link splitAtStage}. */
export const stageOf = (description: string | undefined): DeletionStage | undefined =>
  description === undefined ? undefined : splitAtStage(description)?.stage;
