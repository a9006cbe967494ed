import { machineEventReasons, markerOf } from "@millwright/core";
import type { Reason } from "../../model/decision.ts";
import { type Blocker, blockerLines, isStuck } from "../../drain/blockers.ts";
import type { DrainProgress } from "../../drain/decide-drain.ts";
import { namedCauses } from "../../drain/named-causes.ts";
import { drainRuleEvents } from "./drain-rules.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** What a drain in progress reports. */
export interface DrainStatusUpdate {
  /** The new description; absent: the current one is kept. */
  readonly message?: string;
  readonly because: readonly Reason[];
  /** Until throttled progress may be written. */
  readonly requeueAfterMs: number;
}

/** Progress is written at most this often, milliseconds: otherwise a node with a hundred pods would cost as many writes as evictions. */
const PROGRESS_MS = 10_000;

const isWorthAnEvent = (blocker: Blocker): boolean => isStuck(blocker) || blocker.kind === "rejected";

/**
 * One event for each cause that the status is going to name and does not name yet, so that each cause is reported once, also across processes. Causes
 * that do not fit into the status are reported when they do: only the status records which were reported.
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
    message: `Drain of node ${nodeName} is blocked: ${line.replace(/^\* /, "")}`,
  }));
}

/** Compares a drain with the machine's last operation: new causes are reported at once, progress is throttled. */
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
