import { renderWhy } from "../explain/render-why.ts";
import { readSubject } from "../explain/subject-name.ts";
import { type ObjectFlags, withObjects } from "../explain/with-objects.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { outputStyle } from "../terminal/output-style.ts";
import { renderReport, type ReportFormat } from "../terminal/print-report.ts";
import { untilStopSignal } from "../terminal/signals.ts";

/** Flags of `millwright why`. */
export interface WhyFlags extends ObjectFlags {
  readonly output: ReportFormat;
}

/** Prints why an object is not as desired; resolves with the exit status: 3 when it is not. Reads only. */
export async function whyCommand(object: string, flags: WhyFlags): Promise<number> {
  const subject = readSubject(object);
  const { why } = await import("@millwright/runtime/reports");
  return withObjects(flags, untilStopSignal(), async (objects, now) => {
    const report = await why(subject, objects, now);
    const render = (): string => renderWhy(report, { now, ...outputStyle() });
    process.stdout.write(await renderReport(report, flags.output, render));
    return report.explanation.state === "ok" ? exitStatus.done : exitStatus.differs;
  });
}
