import { machineFlowMetricNames as names, ownMetricNames } from "@millwright/core/machine-api";
import type { Gauge, Registry } from "prom-client";
import { createLabelSets } from "./label-sets.ts";
import type { FlowStep } from "./machine-flow.ts";
import { registerIn } from "./register.ts";

/** From a VM that is there at once to a drain that takes a day, seconds. */
const buckets = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_600, 7_200, 21_600, 86_400];

/** Series of a deployment that is gone are still read for so long: the deletion of the last machine is counted when there is neither any more. */
const keepMs = 3_600_000;

/** More than any installation has. A client that may write machines may write any text into values that become labels. */
const mostSeries = 1_000;

const ofDeployment = ["namespace", "machine_deployment"] as const;
const ofMachines = [...ofDeployment, "instance_type", "zone"] as const;

/** Labels of what is counted by deployment. */
export type DeploymentLabels = Readonly<Record<(typeof ofDeployment)[number], string>>;

/** Labels of what is counted by deployment and kind of machine. */
export type MachineLabels = Readonly<Record<(typeof ofMachines)[number], string>>;

/** Counts what happens to machines. */
export interface FlowMetrics {
  /** A step ended that took so long, milliseconds. */
  took(labels: MachineLabels, step: FlowStep, ms: number): void;
  failedToJoin(labels: MachineLabels): void;
  stale(): void;
}

/**
 * Makes the metrics of what happens to machines, with MCM's names and a histogram of ours. Series go an hour after their last use, when their deployment and its machines
 * are gone; of more than 1,000 combinations of labels the lately used ones are kept.
 */
export function createFlowMetrics(
  registry: Registry,
  /** Whether there is the deployment, or a machine of it. */
  isThere: (deployment: DeploymentLabels) => boolean,
  monotonicMs: () => number,
): FlowMetrics {
  const keeping = { monotonicMs, keepMs, most: mostSeries, isNeeded: isThere };
  const usedByMachines = createLabelSets<MachineLabels>({
    ...keeping,
    onForget(labels) {
      for (const metric of [lastSeconds.create, lastSeconds.join, lastSeconds.delete, failedJoins])
        metric.remove(labels);
    },
  });
  const usedByDeployments = createLabelSets<DeploymentLabels>({
    ...keeping,
    onForget(labels) {
      lastSeconds.drain.remove(labels);
      for (const step of Object.keys(lastSeconds)) stepSeconds.remove({ ...labels, step });
    },
  });
  const forget = (): undefined => {
    usedByMachines.forget();
    usedByDeployments.forget();
  };

  const { gauge, counter, histogram } = registerIn(registry);
  const drainHelp = "Seconds that the last drain before a deletion took.";
  const lastSeconds: Readonly<Record<FlowStep, Gauge>> = {
    create: gauge(names.createSeconds, "Seconds until the last Machine had a VM.", ofMachines, forget),
    join: gauge(names.joinSeconds, "Seconds until the last Machine had joined.", ofMachines, forget),
    drain: gauge(names.drainSeconds, drainHelp, ofDeployment, forget),
    delete: gauge(names.deleteSeconds, "Seconds that the last deletion of a Machine took.", ofMachines, forget),
  };
  const failedJoins = counter(names.failedJoins, "Machines that did not join in time.", ofMachines);
  const stale = counter(names.stale, "Machines that had been unhealthy for too long when they were deleted.", []);
  const stepHelp = "How long the steps in the life of Machines took, in seconds.";
  const stepSeconds = histogram(ownMetricNames.stepSeconds, stepHelp, [...ofDeployment, "step"], buckets);

  return {
    took(labels, step, ms) {
      const { namespace, machine_deployment } = labels;
      const deployment = { namespace, machine_deployment };
      usedByDeployments.use(deployment);
      if (step !== "drain") usedByMachines.use(labels);
      // The first failure is an increase.
      if (step !== "drain") failedJoins.inc(labels, 0);
      lastSeconds[step].set(step === "drain" ? deployment : labels, Math.round(ms / 1_000));
      stepSeconds.observe({ ...deployment, step }, ms / 1_000);
    },
    failedToJoin(labels) {
      usedByMachines.use(labels);
      failedJoins.inc(labels);
    },
    stale: () => stale.inc(),
  };
}
