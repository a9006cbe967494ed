import type { Machine } from "@millwright/core";
import type { DrainTerms, DrainView } from "../../drain/drain-view.ts";
import { type DrainPreview, simulateDrain } from "../../drain/simulate-drain.ts";
import { previewTerms } from "../drain/drain-node.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";
import { deletionStart } from "../../model/timeouts.ts";
import { isForceDeletion } from "../drain/force-drain.ts";

/** What the drain before a deletion would do, and its deadlines. */
export interface DeletionDrainPreview {
  readonly terms: DrainTerms;
  readonly preview: DrainPreview;
}

/**
 * Simulates the drain of a deletion; when the machine is not being deleted, as if the deletion started now. Timeouts that the machine does not set are the
 * defaults: the flags of the controllers are unknown here.
 *
 * @param machine absent for a node without a machine
 */
export function previewDeletionDrain(machine: Machine | undefined, view: DrainView, now: Date): DeletionDrainPreview {
  const snapshot = {
    machine: machine ?? { metadata: { name: view.node.metadata.name }, spec: {} },
    settings: defaultMachineSettings,
  };
  const drain = {
    startedAt: deletionStart(snapshot) || now.getTime(),
    isDemanded: isForceDeletion(snapshot.machine),
    cordon: true,
  };
  const terms = previewTerms(snapshot, view.node, drain, now);
  return { terms, preview: simulateDrain(view, terms, now) };
}
