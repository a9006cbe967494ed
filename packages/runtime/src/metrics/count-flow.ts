import type { ControlCaches } from "@millwright/controllers";
import { type Clock, labelKeys, type Machine, machineFlowMetricNames as names, ownMetricNames } from "@millwright/core";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { createLabelSets } from "./label-sets.ts";
import { type FlowFact, flowFacts, type FlowStep } from "./machine-flow.ts";

/** From a VM that is there at once to a drain that takes a day, seconds. */
const buckets = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_600, 7_200, 21_600, 86_400];

/** Series of a deployment that is gone are still read for so long: the last deletion is counted when there is no deployment any more. */
const keepMs = 3_600_000;

const ofDeployment = ["namespace", "machine_deployment"] as const;
const ofMachines = [...ofDeployment, "instance_type", "zone"] as const;
type MachineLabels = Readonly<Record<(typeof ofMachines)[number], string>>;

/**
 * Counts what happens to the machines of the caches from now on, with MCM's names and a histogram of ours. To be called by the one process that
 * leads: each of several would count everything.
 *
 * @returns ends the counting
 */
export function countFlow(
  registry: Registry,
  caches: Pick<ControlCaches, "machines" | "classes" | "deployments">,
  clock: Pick<Clock, "now" | "monotonicMs">,
): () => void {
  const registers = [registry];
  const labelSets = createLabelSets<MachineLabels>(() => clock.monotonicMs(), keepMs);
  const forget = (): void => {
    const isNeeded = ({ namespace, machine_deployment: name }: MachineLabels): boolean =>
      caches.deployments.store.getByRef({ namespace, name }) !== undefined;
    for (const labels of labelSets.takeOver(isNeeded)) {
      const { namespace, machine_deployment } = labels;
      for (const metric of [lastSeconds.create, lastSeconds.join, lastSeconds.delete, failedJoins])
        metric.remove(labels);
      lastSeconds.drain.remove({ namespace, machine_deployment });
      for (const step of Object.keys(lastSeconds)) stepSeconds.remove({ namespace, machine_deployment, step });
    }
  };
  const lastOf = (name: string, help: string, labelNames: readonly string[]): Gauge =>
    new Gauge({ name, help, labelNames, registers, collect: forget });
  const lastSeconds: Readonly<Record<FlowStep, Gauge>> = {
    create: lastOf(names.createSeconds, "Seconds until the last Machine had a VM.", ofMachines),
    join: lastOf(names.joinSeconds, "Seconds until the last Machine had joined.", ofMachines),
    drain: lastOf(names.drainSeconds, "Seconds that the last drain before a deletion took.", ofDeployment),
    delete: lastOf(names.deleteSeconds, "Seconds that the last deletion of a Machine took.", ofMachines),
  };
  const failedJoins = new Counter({
    name: names.failedJoins,
    help: "Machines that did not join in time.",
    labelNames: ofMachines,
    registers,
  });
  const stale = new Counter({
    name: names.stale,
    help: "Machines that were deleted because they had been unhealthy for too long.",
    registers,
  });
  const stepSeconds = new Histogram({
    name: ownMetricNames.stepSeconds,
    help: "How long the steps in the life of Machines took, in seconds.",
    labelNames: [...ofDeployment, "step"],
    buckets,
    registers,
  });

  const labelsOf = ({ metadata, spec }: Machine): MachineLabels | undefined => {
    const { namespace = "" } = metadata;
    const deployment = metadata.labels?.[labelKeys.name] ?? "";
    if (deployment === "") return undefined;
    const machineClass = caches.classes.store.getByRef({ namespace, name: spec.class?.name ?? "" });
    return {
      namespace,
      machine_deployment: deployment,
      instance_type: machineClass?.nodeTemplate?.instanceType ?? "",
      zone: spec.nodeTemplate?.metadata?.labels?.[labelKeys.zone] ?? "",
    };
  };
  const took = (machine: Machine, step: FlowStep, ms: number): void => {
    const labels = labelsOf(machine);
    if (labels === undefined) return;
    labelSets.use(labels);
    const { namespace, machine_deployment } = labels;
    lastSeconds[step].set(step === "drain" ? { namespace, machine_deployment } : labels, Math.round(ms / 1_000));
    stepSeconds.observe({ namespace, machine_deployment, step }, ms / 1_000);
  };
  /** When the drains that were seen to begin did, by UID of the machine. */
  const drains = new Map<string, number>();
  const count = (machine: Machine, fact: FlowFact): void => {
    const { uid = "" } = machine.metadata;
    switch (fact.fact) {
      case "took":
        return took(machine, fact.step, fact.ms);
      case "drainBegan":
        return void drains.set(uid, clock.monotonicMs());
      case "drainEnded": {
        const began = drains.get(uid);
        if (began !== undefined) took(machine, "drain", clock.monotonicMs() - began);
        return void drains.delete(uid);
      }
      case "failedToJoin": {
        const labels = labelsOf(machine);
        if (labels === undefined) return;
        labelSets.use(labels);
        return failedJoins.inc(labels);
      }
      case "stale":
        return stale.inc();
    }
  };
  return caches.machines.store.subscribe(
    (before, after) => {
      if (before === undefined) return;
      const isSame = after?.metadata.uid === before.metadata.uid;
      for (const fact of flowFacts(before, after, clock.now()))
        count(after !== undefined && isSame ? after : before, fact);
      if (!isSame) drains.delete(before.metadata.uid ?? "");
    },
    { replay: false },
  );
}
