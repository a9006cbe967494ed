import { type ControlCaches, remediationGroupOf, shapeProblemsOf } from "@millwright/controllers";
import type { Clock } from "@millwright/base";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { createFlowMetrics, type MachineLabels } from "./flow-metrics.ts";
import { labelValue } from "./label-text.ts";
import { type FlowFact, flowFacts } from "./machine-flow.ts";

/** What stands for a machine that cannot be read has no id and no stage, which it has not lost. */
const isReadable = (machine: Machine | undefined): boolean =>
  machine === undefined || shapeProblemsOf(machine).length === 0;

/** The value of the machines' index `group` for those of a deployment. */
const groupOf = (name: string): string =>
  remediationGroupOf({ metadata: { name, labels: { [labelKeys.name]: name } }, spec: {} });

/**
 * Counts what happens to the machines of the caches from now on. To be called by the one process that leads: each of several would count everything.
 *
 * @returns ends the counting
 */
export function countFlow(
  registry: Registry,
  { machines, classes, deployments }: Pick<ControlCaches, "machines" | "classes" | "deployments">,
  clock: Pick<Clock, "now" | "monotonicMs">,
): () => void {
  const metrics = createFlowMetrics(
    registry,
    ({ namespace, machine_deployment: name }) =>
      deployments.store.getByRef({ namespace, name }) !== undefined ||
      machines.store.byIndex("group", groupOf(name)).length > 0,
    () => clock.monotonicMs(),
  );
  /** MCM's labels; undefined for a machine of no deployment, which MCM leaves out. */
  const labelsOf = ({ metadata, spec }: Machine): MachineLabels | undefined => {
    const { namespace = "" } = metadata;
    const deployment = metadata.labels?.[labelKeys.name] ?? "";
    if (deployment === "") return undefined;
    const machineClass = classes.store.getByRef({ namespace, name: spec.class?.name ?? "" });
    return {
      namespace,
      machine_deployment: labelValue(deployment),
      instance_type: labelValue(machineClass?.nodeTemplate?.instanceType ?? ""),
      zone: labelValue(spec.nodeTemplate?.metadata?.labels?.[labelKeys.zone] ?? ""),
    };
  };
  /** When the drains that were seen to begin did, by UID of the machine. */
  const drains = new Map<string, number>();
  const count = (machine: Machine, fact: FlowFact): void => {
    const { uid = "" } = machine.metadata;
    const labels = labelsOf(machine);
    switch (fact.fact) {
      case "took":
        if (labels !== undefined) metrics.took(labels, fact.step, fact.ms);
        return;
      case "drainBegan":
        return void drains.set(uid, clock.monotonicMs());
      case "drainEnded": {
        const began = drains.get(uid);
        if (labels !== undefined && began !== undefined) metrics.took(labels, "drain", clock.monotonicMs() - began);
        return void drains.delete(uid);
      }
      case "failedToJoin":
        if (labels !== undefined) metrics.failedToJoin(labels);
        return;
      case "stale":
        return metrics.stale();
    }
  };
  return machines.store.subscribe(
    (before, after) => {
      if (before === undefined || before === after) return;
      const isSame = after?.metadata.uid === before.metadata.uid;
      if (isReadable(before) && isReadable(after))
        for (const fact of flowFacts(before, after, clock.now()))
          count(after !== undefined && isSame ? after : before, fact);
      if (!isSame) drains.delete(before.metadata.uid ?? "");
    },
    { replay: false },
  );
}
