import { annotationKeys, type Clock } from "@millwright/core";
import { apiTime, serverClock } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { type ApprovalSource, type ApprovingKind, readApproving, readHeld } from "./held-objects.ts";

/** What is approved: one object, whether something of it is held already or not, or all that is held in the namespace. */
export type ApprovalSelection = { readonly kind: ApprovingKind; readonly name: string } | { readonly kind: "all" };

/** Which deletions to approve, and for how long. */
export interface ApproveOptions extends ApprovalSource {
  readonly selection: ApprovalSelection;
  /** Milliseconds from now, by the clock of the API server. */
  readonly forMs: number;
  /** Writes nothing. */
  readonly isDryRun: boolean;
  readonly clock: Clock;
}

/** What was approved, or would be. */
export interface ApprovalReport {
  readonly namespace: string;
  /** RFC 3339. */
  readonly until: string;
  readonly isDryRun: boolean;
  readonly approved: readonly {
    readonly kind: string;
    readonly name: string;
    /** What is held at the moment; absent: nothing. */
    readonly held?: string;
  }[];
}

/** Approves deletions: writes the annotation with its expiry, and nothing else. */
async function approve(options: ApproveOptions): Promise<ApprovalReport> {
  const { control, namespace, selection, forMs, isDryRun, clock, signal } = options;
  const objects =
    selection.kind === "all" ? await readHeld(options) : [await readApproving(options, selection.kind, selection.name)];
  // After a response, from which the time of the API server is known.
  const now = serverClock(clock, control.serverTime).now();
  const until = apiTime(new Date(now.getTime() + forMs));
  const patch = { metadata: { annotations: { [annotationKeys.approveDeletions]: until } } };
  if (!isDryRun)
    for (const { type, name } of objects)
      await control.patch(type, { namespace, name }, patch, { kind: "merge", signal });
  return {
    namespace,
    until,
    isDryRun,
    approved: objects.map(({ type, ...rest }) => ({ kind: type.kind, ...rest })),
  };
}

/**
 * Approves deletions that the deletion budget holds, or would hold.
 *
 * @throws ConfigError when there is no object of that name, or it may not be read or changed
 */
export async function approveDeletions(options: ApproveOptions): Promise<ApprovalReport> {
  try {
    return await approve(options);
  } catch (error) {
    throw explainFailure(
      error,
      "an approval needs to get, list and patch machinedeployments, machinesets and machines",
    );
  }
}
