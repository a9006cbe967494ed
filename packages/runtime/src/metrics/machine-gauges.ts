import {
  labelKeys,
  type Machine,
  machineMetricNames as names,
  type MachinePhase,
  phaseOf,
} from "@millwright/core/machine-api";
import type { ObjectGauge } from "./object-gauges.ts";
import { conditionGauge, createdAt, infoGauge, numberGauge } from "./samples.ts";

/** MCM's numbers, which alerts compare with. It has none for the newer phases: they are 0 there, like Pending. Source: MCM, `pkg/util/provider/metrics/metrics.go`. */
const phaseValues: Readonly<Record<MachinePhase, number>> = {
  Terminating: -4,
  Failed: -3,
  CrashLoopBackOff: -2,
  Unknown: -1,
  "": 0,
  Pending: 0,
  Available: 0,
  InPlaceUpdating: 0,
  InPlaceUpdateSuccessful: 0,
  InPlaceUpdateFailed: 0,
  Running: 1,
};

/** Gauges of each Machine. */
export const machineGauges: readonly ObjectGauge<Machine>[] = [
  infoGauge<Machine>(names.info, "Machines, with their VM, class and Node; always 1.", {
    createdAt,
    spec_provider_id: ({ spec }) => spec.providerID,
    spec_class_api_group: ({ spec }) => spec.class?.apiGroup,
    spec_class_kind: ({ spec }) => spec.class?.kind,
    spec_class_name: ({ spec }) => spec.class?.name,
    node_name: ({ metadata }) => metadata.labels?.[labelKeys.node],
  }),
  numberGauge(
    names.phase,
    "Phases of Machines: Terminating -4, Failed -3, CrashLoopBackOff -2, Unknown -1, Running 1, every other one 0.",
    (machine) => {
      const phase = phaseOf(machine);
      return phase === undefined ? 0 : phaseValues[phase];
    },
  ),
  conditionGauge(names.condition, ({ status }) => status?.conditions),
];
