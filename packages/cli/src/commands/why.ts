import { systemClock } from "@millwright/base";
import type { WhyReport } from "@millwright/runtime";
import { renderWhy } from "../explain/render-why.ts";
import { readSubject } from "../explain/subject-name.ts";
import { type ObjectFlags, withObjects } from "../explain/with-objects.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { outputStyle } from "../terminal/output-style.ts";
import { renderReport, type ReportFormat, watchText, type WatchedText } from "../terminal/print-report.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { UsageError } from "../terminal/usage-error.ts";

/** Flags of `millwright why`. */
export interface WhyFlags extends ObjectFlags {
  readonly watch?: boolean;
  readonly output: ReportFormat;
}

/** Prints why an object, or a namespace, is not as desired, with `--watch` until it is; resolves with the exit status: 3 when it is not. Reads only. */
export async function whyCommand(object: string | undefined, flags: WhyFlags): Promise<number> {
  const { output, watch, state } = flags;
  const parsed = object?.includes("/") === true ? readSubject(object) : undefined;
  if (state !== undefined && watch === true) throw new UsageError("--watch: a file of --state does not change");
  const { subjectNamed, why } = await import("@millwright/runtime/reports");
  const done = new AbortController();
  const signal = AbortSignal.any([untilStopSignal(), done.signal]);
  let last: WhyReport | undefined;
  const read = (): Promise<WatchedText> =>
    withObjects(flags, signal, async (objects, now) => {
      const namespace = { kind: "Namespace", name: objects.namespace } as const;
      const subject = parsed ?? (object === undefined ? namespace : subjectNamed(object, objects));
      const report = await why(subject, objects, now);
      last = report;
      const text = async (): Promise<string> => {
        // Nothing follows once it is as desired.
        if (report.explanation.state === "ok") done.abort();
        return renderReport(report, output, () => renderWhy(report, { now, ...outputStyle() }));
      };
      return { text, key: JSON.stringify({ ...report, time: "" }) };
    });
  if (watch === true) await watchText(read, { clock: systemClock, signal });
  else process.stdout.write(await (await read()).text());
  return last?.explanation.state === "ok" ? exitStatus.done : exitStatus.differs;
}
