import { systemClock } from "@millwright/base";
import { renderPlan } from "../plan/render-plan.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { renderReport, type ReportFormat } from "../terminal/print-report.ts";

/** Flags of `millwright replay`. */
export interface ReplayFlags {
  readonly namespace?: string;
  readonly output: ReportFormat;
}

/** Prints what this version would do next with the objects of a snapshot; resolves with the exit status: 3 when it would do something. */
export async function replay(file: string, flags: ReplayFlags): Promise<number> {
  const { planNext, readManifests, stateOfManifests } = await import("@millwright/plan");
  const state = stateOfManifests(await readManifests(file), flags.namespace, true);
  const plan = await planNext(state, { now: state.takenAt ?? systemClock.now() });
  process.stdout.write(await renderReport(plan, flags.output, renderPlan));
  return plan.hasEffect ? exitStatus.differs : exitStatus.done;
}
