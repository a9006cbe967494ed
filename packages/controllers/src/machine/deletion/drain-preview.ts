import type { Machine } from "@millwright/core";
import type { DrainTerms, DrainView } from "../../drain/drain-view.ts";
import { type DrainPreview, rehearseDrain } from "../../drain/rehearse-drain.ts";
import { drainTerms } from "../drain/drain-node.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";
import { deletionStart } from "../../model/timeouts.ts";
import { isForceDeletion } from "./force-deletion.ts";

/** What the drain before a deletion would do, and under which terms. */
export interface DeletionDrainPreview {
  readonly terms: DrainTerms;
  readonly preview: DrainPreview;
}

/**
 * Rehearses the drain that a deletion of the machine begins with; of one that is not being deleted, as if it were from now on. Timeouts that the machine does not set are taken to be the
 * defaults: what flags the controllers run with cannot be seen from outside.
 *
 * @param machine absent for a node that has none
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
  const terms = drainTerms(snapshot, view.node, drain, now);
  return { terms, preview: rehearseDrain(view, terms, now) };
}
