import { type Machine, phaseOf, readOperation } from "@millwright/core/machine-api";
import type { TraceName } from "./span-ids.ts";

/** A part of a machine's life that has ended. Times are milliseconds of the wall clock. */
export interface MachineSpan {
  readonly trace: TraceName;
  /** Whether it is the whole trace; others are parts of that. */
  readonly isRoot: boolean;
  /** Few different ones: no names of objects. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Why it did not succeed, one word; absent: it did. */
  readonly failure?: string;
}

/** A phase, or a stage of the deletion. */
interface Step {
  readonly name: string;
  readonly sinceMs: number;
}

/** What is known of a machine between two of its states. */
export interface MachineProgress {
  /** The trace that goes on; absent: the machine runs. */
  readonly trace?: TraceName;
  /** Start of that trace. */
  readonly sinceMs: number;
  readonly step?: Step;
}

/** What follows from a state of a machine. */
export interface Followed {
  readonly progress: MachineProgress;
  readonly spans: readonly MachineSpan[];
}

const timeOf = (text: string | undefined, otherwise: number): number => {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? otherwise : ms;
};

/** The states that end a creation; without a target cluster a machine ends in Available. */
const outcomeOf = (machine: Machine): "ready" | "failed" | undefined => {
  const phase = phaseOf(machine);
  if (phase === "" || phase === "Pending" || phase === "CrashLoopBackOff") return undefined;
  return phase === "Failed" ? "failed" : "ready";
};

/** The step that a machine is in; absent: it has not begun, or goes on. */
function stepNameOf(machine: Machine, trace: TraceName): string | undefined {
  if (trace === "create") return phaseOf(machine) === "" ? "Requested" : phaseOf(machine);
  return readOperation(machine.status).stage;
}

/** A machine that is seen for the first time: it is new, or this process took over. */
function firstSight(machine: Machine, nowMs: number): MachineProgress {
  const { creationTimestamp, deletionTimestamp } = machine.metadata;
  const sinceMs = timeOf(creationTimestamp, nowMs);
  if (deletionTimestamp !== undefined) {
    const deletedMs = timeOf(deletionTimestamp, nowMs);
    return { trace: "delete", sinceMs: deletedMs, ...stepOf(machine, "delete", timeOf(lastTime(machine), deletedMs)) };
  }
  if (outcomeOf(machine) !== undefined) return { sinceMs };
  return { trace: "create", sinceMs, ...stepOf(machine, "create", timeOf(lastTime(machine), sinceMs)) };
}

const lastTime = ({ status }: Machine): string | undefined =>
  status?.lastOperation?.lastUpdateTime ?? status?.currentStatus?.lastUpdateTime;

function stepOf(machine: Machine, trace: TraceName, sinceMs: number): Pick<MachineProgress, "step"> {
  const name = stepNameOf(machine, trace);
  return name === undefined ? {} : { step: { name, sinceMs } };
}

const stepSpan = (trace: TraceName, { name, sinceMs }: Step, endMs: number): MachineSpan => ({
  trace,
  isRoot: false,
  name,
  startMs: sinceMs,
  endMs: Math.max(sinceMs, endMs),
});

/** The spans that end with a trace. */
function endTrace({ trace, sinceMs, step }: MachineProgress, endMs: number, failure?: string): readonly MachineSpan[] {
  if (trace === undefined) return [];
  const root: MachineSpan = {
    trace,
    isRoot: true,
    name: `${trace} machine`,
    startMs: sinceMs,
    endMs: Math.max(sinceMs, endMs),
    ...(failure === undefined ? {} : { failure }),
  };
  return step === undefined ? [root] : [stepSpan(trace, step, endMs), root];
}

/** The next step of the same trace. */
function nextStep(progress: MachineProgress, machine: Machine, nowMs: number): Followed {
  const { trace, step } = progress;
  const name = trace === undefined ? undefined : stepNameOf(machine, trace);
  if (trace === undefined || name === undefined || name === step?.name) return { progress, spans: [] };
  const spans = step === undefined ? [] : [stepSpan(trace, step, nowMs)];
  return { progress: { ...progress, step: { name, sinceMs: nowMs } }, spans };
}

/**
 * What a new state of a machine ends.
 *
 * @param before absent: the machine was not seen before
 * @param nowMs when the state was seen
 */
export function followMachine(before: MachineProgress | undefined, machine: Machine, nowMs: number): Followed {
  const progress = before ?? firstSight(machine, nowMs);
  const { deletionTimestamp } = machine.metadata;
  if (deletionTimestamp !== undefined && progress.trace !== "delete") {
    const begun: MachineProgress = { trace: "delete", sinceMs: timeOf(deletionTimestamp, nowMs) };
    return { progress: nextStep(begun, machine, nowMs).progress, spans: endTrace(progress, nowMs, "Deleted") };
  }
  const outcome = outcomeOf(machine);
  if (progress.trace === "create" && outcome !== undefined)
    return {
      progress: { sinceMs: progress.sinceMs },
      spans: endTrace(progress, nowMs, outcome === "failed" ? "Failed" : undefined),
    };
  return nextStep(progress, machine, nowMs);
}

/** What ends when a machine is gone. */
export const followGone = (progress: MachineProgress, nowMs: number): readonly MachineSpan[] =>
  endTrace(progress, nowMs, progress.trace === "create" ? "Deleted" : undefined);
