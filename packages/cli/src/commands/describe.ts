import { systemClock } from "@millwright/base";
import { machineClassResource, machineSetResource } from "@millwright/core/machine-api";
import { renderClass } from "../describe/render-class.ts";
import { renderDeployment } from "../describe/render-deployment.ts";
import { renderMachine } from "../describe/render-machine.ts";
import { renderSet } from "../describe/render-set.ts";
import { type Clusters, type ObjectFlags, objectsOfFile, withClusters } from "../explain/with-objects.ts";
import { outputStyle } from "../terminal/output-style.ts";
import { renderReport, type ReportFormat, watchText, type WatchedText } from "../terminal/print-report.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { UsageError } from "../terminal/usage-error.ts";

/** Flags of `millwright describe`. */
export interface DescribeFlags extends ObjectFlags {
  readonly watch?: boolean;
  readonly output: ReportFormat;
}

/** How one kind is described. */
interface Description<T> {
  /** From a live cluster. */
  readonly live: (clusters: Clusters, signal: AbortSignal) => Promise<T>;
  /** From the objects of a file. */
  readonly stored: (objects: Awaited<ReturnType<typeof objectsOfFile>>["objects"], now: Date) => Promise<T> | T;
  readonly render: (report: T, now: Date) => string;
}

/** Prints a description once, or with `--watch` whenever it changes. Reads only. */
async function print<T>(flags: DescribeFlags, { live, stored, render }: Description<T>): Promise<void> {
  const { state, watch, output } = flags;
  if (state !== undefined && watch === true) throw new UsageError("--watch: a file of --state does not change");
  const textOf = (report: T, now: Date): Promise<string> => renderReport(report, output, (each) => render(each, now));
  if (state !== undefined) {
    const { objects, now } = await objectsOfFile(state, flags);
    process.stdout.write(await textOf(await stored(objects, now), now));
    return;
  }
  const signal = untilStopSignal();
  await withClusters(flags, async (clusters) => {
    const read = async (): Promise<WatchedText> => {
      const report = await live(clusters, signal);
      const now = (clusters.control.serverTime ?? systemClock).now();
      return { text: () => textOf(report, now), key: JSON.stringify(report) };
    };
    if (watch === true) await watchText(read, { clock: systemClock, signal });
    else process.stdout.write(await (await read()).text());
  });
}

/** Prints the report about one machine. Reads only. */
export async function describeMachineCommand(name: string, flags: DescribeFlags): Promise<void> {
  const { describeMachine, machineReportFrom } = await import("@millwright/runtime/reports");
  await print(flags, {
    live: (clusters, signal) => describeMachine({ ...clusters, name, clock: systemClock, signal }),
    stored: (objects, now) => machineReportFrom(name, objects, now),
    render: (report, now) => renderMachine(report, now, outputStyle().lineWidth),
  });
}

/** Prints the report about one deployment, with its machines as a tree. Reads only. */
export async function describeDeploymentCommand(name: string, flags: DescribeFlags): Promise<void> {
  const { deploymentReport, describeDeployment } = await import("@millwright/runtime/reports");
  await print(flags, {
    live: (clusters, signal) => describeDeployment({ ...clusters, name, clock: systemClock, signal }),
    stored: (objects, now) => deploymentReport(name, objects, now),
    render: (report, now) => renderDeployment(report, { now, ...outputStyle() }),
  });
}

/** Prints the report about one set. Reads only. */
export async function describeSetCommand(name: string, flags: DescribeFlags): Promise<void> {
  const { describeSet, findNamed, setReport } = await import("@millwright/runtime/reports");
  await print(flags, {
    live: ({ control, namespace }, signal) => describeSet({ control, namespace, name, signal }),
    stored: (objects) =>
      setReport(findNamed(objects.sets, machineSetResource, name, objects), objects.machines, objects.namespace),
    render: (report) => renderSet(report, outputStyle().lineWidth),
  });
}

/** Prints the report about one class. Reads only. */
export async function describeClassCommand(name: string, flags: DescribeFlags): Promise<void> {
  const { classReport, describeClass, findNamed } = await import("@millwright/runtime/reports");
  await print(flags, {
    live: ({ control, namespace }, signal) => describeClass({ control, namespace, name, signal }),
    stored: (objects) =>
      classReport(findNamed(objects.classes, machineClassResource, name, objects), objects.machines, objects.namespace),
    render: renderClass,
  });
}
