import { isRecord } from "@millwright/base";
import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";

/**
 * A rollout under way, as it is recorded on its deployment from its first write to its end. Sets are reused, and their times mean nothing for a second attempt: what may spread without steps is read here and
 * nowhere else.
 */
export interface Rollout {
  /** Name of the set of the template that is rolled out. */
  readonly set: string;
  /** Revision of that set in this rollout: greater than that of any other set, and of any rollout before. */
  readonly revision: number;
  /** Name of the set whose template is proven: the last that had all machines. A rollout back to it has the name of its own set here. */
  readonly proven: string;
  /** When the rollout began: RFC 3339. */
  readonly since: string;
  /** The steps that the template has passed, as in the annotation: the next rollout starts from it. Default: it has not, or there are none. */
  readonly passed?: string;
}

/** The recorded rollout; `undefined` without one, or when a user has made it unreadable: then it starts again. */
export function recordedRollout({ metadata }: MachineDeployment): Rollout | undefined {
  try {
    const read: unknown = JSON.parse(metadata.annotations?.[annotationKeys.rollout] ?? "null");
    if (!isRecord(read)) return undefined;
    const { set, revision, proven, since, passed } = read;
    if (typeof set !== "string" || typeof proven !== "string" || typeof revision !== "number") return undefined;
    if (typeof since !== "string" || Number.isNaN(Date.parse(since))) return undefined;
    return { set, revision, proven, since, ...(typeof passed === "string" ? { passed } : {}) };
  } catch {
    return undefined;
  }
}

/** The text of the record. */
export const rolloutText = ({ set, revision, proven, since, passed }: Rollout): string =>
  JSON.stringify({ set, revision, proven, since, passed });

/** Whether the rollout leads back to the proven template: it needs no steps. */
export const isReturn = ({ set, proven }: Rollout): boolean => set === proven;
