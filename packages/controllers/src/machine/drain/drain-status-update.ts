import { machineEventReasons, markerOf } from "@millwright/core";
import type { Reason } from "../../model/decision.ts";
import { type Blocker, blockerLines, isStuck } from "../../drain/blockers.ts";
import type { DrainProgress } from "../../drain/decide-drain.ts";
import { namedCauses } from "../../drain/named-causes.ts";
import { drainRuleEvents } from "./drain-rules.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** What is to be told of a drain that goes on. */
export interface DrainStatusUpdate {
  /** What the status is to say; absent: what it says will do. */
  readonly message?: string;
  readonly because: readonly Reason[];
  /** Until progress may be told, if that is held back. */
  readonly requeueAfterMs: number;
}

/** Mere progress is written at most this often, milliseconds: a node of a hundred pods would cost as many writes as evictions. */
const PROGRESS_MS = 10_000;

const isWorthAnEvent = (blocker: Blocker): boolean => isStuck(blocker) || blocker.kind === "rejected";

/**
 * An event of one line for each cause that the status will name and does not name yet, so that a cause is told once, whatever is tried meanwhile and by whichever process. Of
 * more causes than the status has room for, the rest is told when it has: nothing else says later that they were told.
 */
function reasonsFor(
  blockers: readonly Blocker[],
  causes: ReadonlySet<string>,
  reported: ReadonlySet<string>,
  nodeName: string,
): readonly Reason[] {
  const fresh = blockers
    .filter(isWorthAnEvent)
    .filter((blocker) =>
      [...namedCauses(blockerLines([blocker]).join())].some((cause) => causes.has(cause) && !reported.has(cause)),
    );
  return blockerLines(fresh).map((line) => ({
    type: "Warning",
    reason: machineEventReasons.drainBlocked,
    message: `The drain of node ${nodeName} is held up: ${line.replace(/^\* /, "")}`,
  }));
}

/** Says what is new of a drain, measured by what the machine's last operation says: causes at once, progress now and then. */
export function drainStatusUpdate(
  snapshot: Pick<MachineSnapshot, "machine" | "node" | "drainRulesProblem" | "reported">,
  { blockers, message }: Extract<DrainProgress, { readonly state: "draining" }>,
  now: Date,
): DrainStatusUpdate {
  const { description = "", lastUpdateTime } = snapshot.machine.status?.lastOperation ?? {};
  const isReported = description.startsWith("Drain not completed yet");
  const reported = isReported ? namedCauses(description, ` ${markerOf("Drain")}`) : new Set<string>();
  const nodeName = snapshot.node?.metadata.name ?? "";
  const causes = namedCauses(message ?? "");
  const because = [...drainRuleEvents(snapshot), ...reasonsFor(blockers, causes, reported, nodeName)];
  if (message === undefined) return { because, requeueAfterMs: Number.POSITIVE_INFINITY };
  const heldUntil = Date.parse(lastUpdateTime ?? "") + PROGRESS_MS;
  const isProgress = isReported && causes.size === reported.size && [...causes].every((cause) => reported.has(cause));
  if (isProgress && now.getTime() < heldUntil) {
    const isSame = description.startsWith(message);
    return { because, requeueAfterMs: isSame ? Number.POSITIVE_INFINITY : heldUntil - now.getTime() };
  }
  return { message, because, requeueAfterMs: Number.POSITIVE_INFINITY };
}
