import { ownMetricNames } from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { createLabelSets } from "./label-sets.ts";
import { registerIn } from "./register.ts";

/** The series of a deleted class are still read for so long: its last failures are counted shortly before. */
const keepMs = 3_600_000;

/** More than any installation has. */
const mostSeries = 1_000;

/** Where the classes are that are counted. */
export interface ListedClasses {
  readonly namespace: string;
  readonly exists: (className: string) => boolean;
  readonly monotonicMs: () => number;
}

/**
 * Adds the counter of lists of VMs that failed or proved nothing. Returns what counts one. The series of a deleted class are removed an hour after its
 * last failure.
 */
export function countFailedVmLists(
  registry: Registry,
  { namespace, exists, monotonicMs }: ListedClasses,
): (className: string, reason: string) => void {
  const used = createLabelSets<{ readonly namespace: string; readonly machine_class: string; readonly reason: string }>(
    {
      monotonicMs,
      keepMs,
      most: mostSeries,
      isNeeded: ({ machine_class }) => exists(machine_class),
      onForget: (labels) => counter.remove(labels),
    },
  );
  const help = "Lists of the VMs of a MachineClass that failed, or lacked most VMs.";
  const labelNames = ["namespace", "machine_class", "reason"] as const;
  const counter = registerIn(registry).counter(ownMetricNames.failedVmLists, help, labelNames, used.forget);
  return (className, reason) => {
    const labels = { namespace, machine_class: className, reason };
    used.use(labels);
    counter.inc(labels);
  };
}
