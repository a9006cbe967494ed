import { annotationKeys, eventReasons, type MachineClass } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import type { Decision } from "../model/decision.ts";
import type { ClassProblem } from "../model/driver-port.ts";
import { isSameFailure } from "../model/same-failure.ts";
import { type CreationFailure, creationFailures } from "./creation-failure.ts";

/** A class, and what shows whether VMs can be created from it. */
export interface ClassStatusSnapshot {
  readonly machineClass: MachineClass;
  /** Why class, Secrets or driver prevent a creation. */
  readonly problem: ClassProblem | undefined;
  /** Of its machines. */
  readonly failure: CreationFailure | undefined;
  /** Keys that the driver ignores, for people; empty for none. */
  readonly unknownKeys: string;
  /** When a machine failed last, milliseconds since 1970; this process saw it, or the status of the class has it. */
  readonly lastFailureAt: number;
  /** The unknown keys that this process reported last. */
  readonly reportedKeys: string;
}

/** The action of the status controller: annotations to write, `null` for those to remove. */
export interface WriteClassStatus {
  readonly kind: "WriteClassStatus";
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** Status of a class of which VMs can be created, as far as is known. */
export const readyStatus = "Ready";

/** A Failed machine is deleted, and the first attempt of its replacement fails after this time at most: the status must not change in between. */
const RECOVERY_MS = 2 * 60_000;

const SKEW_MS = 60_000;

const maxMessageLength = 1_000;

const shorten = (text: string): string =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text;

const { classStatus, classStatusSince, classStatusMessage, unknownKeys: unknownKeysKey } = annotationKeys;

/** What the annotations of a class contain. */
interface RecordedStatus {
  readonly status: string | undefined;
  readonly since: string | undefined;
  readonly message: string | undefined;
}

/** A class that was copied with its annotations has no status yet. Clocks may differ a little. */
function recordedStatus({ metadata }: MachineClass): RecordedStatus {
  const {
    [classStatus]: status,
    [classStatusSince]: since,
    [classStatusMessage]: message,
  } = metadata.annotations ?? {};
  const sinceMs = Date.parse(since ?? "");
  const isCopied = sinceMs + SKEW_MS < Date.parse(String(metadata.creationTimestamp));
  return Number.isNaN(sinceMs) || isCopied ? noStatus : { status, since, message };
}

const noStatus: RecordedStatus = { status: undefined, since: undefined, message: undefined };

/** The annotations of the status, given those before: a message that differs in nothing but ids and times is kept. */
function statusAnnotations(
  before: RecordedStatus,
  current: CreationFailure | ClassProblem | undefined,
  now: Date,
): WriteClassStatus["annotations"] {
  const status = current?.reason ?? readyStatus;
  const text = current === undefined ? null : shorten("problem" in current ? current.problem : current.message);
  const isKept = before.message !== undefined && text !== null && isSameFailure(before.message, text);
  return {
    [classStatus]: status,
    [classStatusSince]: before.status === status && before.since !== undefined ? before.since : apiTime(now),
    [classStatusMessage]: isKept ? before.message : text,
  };
}

/**
 * Decides what a class reports about itself: whether VMs can be created from it now, since when, and the keys that its driver ignores. A problem is reported at once, its end once it has lasted. Written
 * once, however many machines show it.
 */
export function decideClassStatus(snapshot: ClassStatusSnapshot, now: Date): Decision<WriteClassStatus, never> {
  const { machineClass, problem, failure, unknownKeys, lastFailureAt, reportedKeys } = snapshot;
  const { metadata } = machineClass;
  if (metadata.deletionTimestamp != null) return { actions: [], because: [] };
  const before = recordedStatus(machineClass);
  const current = problem ?? failure;
  const waitMs = current === undefined && isFailing(before) ? lastFailureAt + RECOVERY_MS - now.getTime() : 0;
  const desired = {
    ...(waitMs > 0 ? {} : statusAnnotations(before, current, now)),
    [unknownKeysKey]: unknownKeys === "" ? null : shorten(unknownKeys),
  };
  const changed = Object.entries(desired).filter(([key, value]) => (metadata.annotations?.[key] ?? null) !== value);
  const message = `Driver "${machineClass.provider ?? ""}" ignores keys that it does not know: ${unknownKeys}`;
  return {
    actions: changed.length === 0 ? [] : [{ kind: "WriteClassStatus", annotations: Object.fromEntries(changed) }],
    because:
      unknownKeys === "" || unknownKeys === reportedKeys
        ? []
        : [{ type: "Warning", reason: eventReasons.unknownKeys, message }],
    ...(waitMs > 0 ? { requeueAfterMs: waitMs } : {}),
  };
}

/** Whether the status is one that only attempts of machines show. */
const isFailing = ({ status }: RecordedStatus): boolean => creationFailures.some((reason) => reason === status);
