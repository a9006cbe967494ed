import { machineSetMetricNames as names, type MachineSet } from "@millwright/core/machine-api";
import type { ObjectGauge } from "./object-gauges.ts";
import { conditionGauge, createdAt, failedMachinesGauge, infoGauge, numberGauge } from "./samples.ts";

/** A counter of the status; what was never written is 0, as in MCM. */
const counter = (
  name: string,
  field: "availableReplicas" | "fullyLabeledReplicas" | "readyReplicas" | "replicas",
): ObjectGauge<MachineSet> =>
  numberGauge(name, `status.${field} of MachineSets.`, ({ status }) => status?.[field] ?? 0);

/** MCM's deployments leave `machineClass` out, and its metric is then empty. */
const classOf = ({ spec }: MachineSet) => spec.machineClass ?? spec.template.spec.class;

/** Gauges of each MachineSet. */
export const machineSetGauges: readonly ObjectGauge<MachineSet>[] = [
  infoGauge<MachineSet>(names.info, "MachineSets, with their class; always 1.", {
    createdAt,
    spec_machine_class_api_group: (set) => classOf(set)?.apiGroup,
    spec_machine_class_kind: (set) => classOf(set)?.kind,
    spec_machine_class_name: (set) => classOf(set)?.name,
  }),
  numberGauge(names.specReplicas, "spec.replicas of MachineSets.", ({ spec }) => spec.replicas ?? 0),
  numberGauge(
    names.specMinReadySeconds,
    "spec.minReadySeconds of MachineSets.",
    ({ spec }) => spec.minReadySeconds ?? 0,
  ),
  conditionGauge(names.condition, ({ status }) => status?.machineSetCondition),
  counter(names.availableReplicas, "availableReplicas"),
  counter(names.fullyLabeledReplicas, "fullyLabeledReplicas"),
  counter(names.readyReplicas, "readyReplicas"),
  // MCM shows the ready ones under this name, too.
  counter(names.replicas, "replicas"),
  failedMachinesGauge(names.failedMachines, ({ status }) => status?.failedMachines),
];
