import { type BoundApproval, formatApproval, usedApprovals } from "@millwright/controllers/reports";
import { type Clock, ConfigError } from "@millwright/base";
import { annotationKeys, machineResource } from "@millwright/core/machine-api";
import { apiTime, serverClock } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { type ApprovalSource, type ApprovingKind, type ApprovingObject, readApproving } from "./held-objects.ts";

/** What is approved: one object, or all that is held in the namespace. */
export type ApprovalSelection = { readonly kind: ApprovingKind; readonly name: string } | { readonly kind: "all" };

/** Which deletions to approve. */
export interface ApproveOptions extends ApprovalSource {
  readonly selection: ApprovalSelection;
  /** Approves everything for so many milliseconds, by the clock of the API server, whether something is held or not. Absent: what is held, and nothing else. */
  readonly forMs?: number | undefined;
  /** How many machines of an object may be deleted, or not replaced yet, at a time. Absent: all. */
  readonly atATime?: number | undefined;
  /** Approves nothing when more machines of an object are held. Absent: any number. */
  readonly atMost?: number | undefined;
  /** Writes nothing. */
  readonly isDryRun: boolean;
  readonly clock: Clock;
}

/** One object whose deletions were approved. */
export interface ApprovedObject {
  readonly kind: string;
  readonly name: string;
  /** The value of the annotation. */
  readonly value: string;
  /** What is approved; absent: everything until then. */
  readonly work?: BoundApproval["work"];
  /** Machines that are approved; absent: any number. */
  readonly machines?: number;
  readonly atATime?: number;
  /** RFC 3339. */
  readonly until: string;
  /** What is held at the moment; absent: nothing. */
  readonly held?: string;
}

/** What was approved, or would be. */
export interface ApprovalReport {
  readonly namespace: string;
  readonly isDryRun: boolean;
  readonly approved: readonly ApprovedObject[];
}

/** What is approved begins at once, so that little time is left to a value that is forgotten; with a pace it may take long. */
const VALID_MS = 3_600_000;
const PACED_VALID_MS = 24 * VALID_MS;

/** How a person names the object. */
const named = ({ type, name }: ApprovingObject): string => `${type.kind} ${name}`;

/** The approval of just what is held of an object. */
function bound(object: ApprovingObject, now: Date, { atATime, atMost }: ApproveOptions): ApprovedObject {
  const { type, name, metadata, held, approval } = object;
  if (held === undefined)
    throw new ConfigError(
      `nothing of ${named(object)} is held; to approve in advance all that is deleted within an hour, use --for 1h`,
    );
  if (approval === undefined)
    throw new ConfigError(`the controllers of ${named(object)} are of an older version; use --for with a short time`);
  const isChanged = approval.generation !== undefined && approval.generation !== metadata.generation;
  if (isChanged)
    throw new ConfigError(
      `the spec of ${named(object)} has changed, and it is not known yet what is held of it; try again in a few seconds`,
    );
  const machines = approval.work === "requests" ? approval.count : approval.count - usedApprovals({ metadata });
  if (atMost !== undefined && machines > atMost)
    throw new ConfigError(`${machines} machines of ${named(object)} are held, more than ${atMost}: ${held}`);
  const isPaced = atATime !== undefined && approval.work !== "creations" && type !== machineResource;
  const pace = isPaced ? { atATime } : {};
  const until = apiTime(new Date(now.getTime() + (isPaced ? PACED_VALID_MS : VALID_MS)));
  const value = formatApproval({ ...approval, until, ...pace });
  return { kind: type.kind, name, value, work: approval.work, machines, ...pace, until, held };
}

/** The approval of everything for a time. */
function forTime({ type, name, held }: ApprovingObject, until: string): ApprovedObject {
  return { kind: type.kind, name, value: until, until, ...(held === undefined ? {} : { held }) };
}

/** Approves deletions: writes the annotation, and nothing else. */
async function approve(options: ApproveOptions): Promise<ApprovalReport> {
  const { control, namespace, selection, forMs, isDryRun, clock, signal } = options;
  const { all, held } = await readApproving(options);
  const kinds = { deployment: "MachineDeployment", set: "MachineSet", machine: "Machine" } as const;
  const isSelected = ({ type, name }: ApprovingObject): boolean =>
    selection.kind !== "all" && type.kind === kinds[selection.kind] && name === selection.name;
  const objects = selection.kind === "all" ? held : all.filter(isSelected);
  if (selection.kind !== "all" && objects.length === 0)
    throw new ConfigError(`there is no ${kinds[selection.kind]} "${selection.name}" in namespace ${namespace}`);
  // After a response, from which the time of the API server is known.
  const now = serverClock(clock, control.serverTime).now();
  const approved = objects.map((object) => ({
    object,
    result:
      forMs === undefined ? bound(object, now, options) : forTime(object, apiTime(new Date(now.getTime() + forMs))),
  }));
  if (!isDryRun)
    for (const { object, result } of approved) {
      const patch = { metadata: { annotations: { [annotationKeys.approveDeletions]: result.value } } };
      await control.patch(object.type, { namespace, name: object.name }, patch, { kind: "merge", signal });
    }
  return { namespace, isDryRun, approved: approved.map(({ result }) => result) };
}

/**
 * Approves deletions that the deletion budget holds, or for a time all that it would hold.
 *
 * @throws ConfigError when there is no object of that name, nothing of it is held, or it may not be read or changed
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
