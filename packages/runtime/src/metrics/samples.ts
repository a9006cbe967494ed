import type { MachineSummary, ObjectMeta } from "@millwright/core/machine-api";
import type { ObjectGauge, Sample } from "./object-gauges.ts";

/** A gauge with one number per object; it is not there where the number is not. */
export const numberGauge = <T>(
  name: string,
  help: string,
  valueOf: (object: T) => number | undefined,
): ObjectGauge<T> => ({
  name,
  help,
  samples(object) {
    const value = valueOf(object);
    return value === undefined ? [] : [{ value }];
  },
});

const valueOfStatus: ReadonlyMap<string, number> = new Map([
  ["True", 1],
  ["False", 0],
  ["Unknown", 2],
]);

/** A gauge of conditions. A status that is none of the three is not shown: MCM shows it as False. */
export const conditionGauge = <T>(
  name: string,
  conditionsOf: (object: T) => readonly { readonly type: string; readonly status: string }[] | undefined,
): ObjectGauge<T> => ({
  name,
  help: "Conditions in the status: True 1, False 0, Unknown 2.",
  labels: ["condition"],
  samples: (object) =>
    (conditionsOf(object) ?? []).flatMap(({ type, status }): Sample[] => {
      const value = valueOfStatus.get(status);
      return value === undefined ? [] : [{ value, labels: [type] }];
    }),
});

/** The label `createdAt` as MCM has it, seconds since 1970. Objects come from an API server, which always sets it; 0 where one does not. */
export const createdAt = ({ metadata }: { readonly metadata: ObjectMeta }): string =>
  String(Math.floor((Date.parse(metadata.creationTimestamp ?? "") || 0) / 1_000));

/** Labels, and where their values come from. */
type LabelTable<T> = Readonly<Record<string, (of: T) => string | undefined>>;

const valuesOf = <T>(labels: LabelTable<T>, of: T) => Object.values(labels).map((valueOf) => valueOf(of));

/** A gauge that is always 1: what it shows are its labels. */
export const infoGauge = <T>(name: string, help: string, labels: LabelTable<T>): ObjectGauge<T> => ({
  name,
  help,
  labels: Object.keys(labels),
  samples: (object) => [{ value: 1, labels: valuesOf(labels, object) }],
});

const failedMachineLabels: LabelTable<MachineSummary> = {
  failed_machine_name: ({ name }) => name,
  failed_machine_provider_id: ({ providerID }) => providerID,
  failed_machine_owner_ref: ({ ownerRef }) => ownerRef,
  failed_machine_last_operation_state: ({ lastOperation }) => lastOperation?.state,
  failed_machine_last_operation_machine_operation_type: ({ lastOperation }) => lastOperation?.type,
};

/** A gauge of the machines that failed, as the status names them. */
export const failedMachinesGauge = <T>(
  name: string,
  failedMachinesOf: (object: T) => readonly MachineSummary[] | undefined,
): ObjectGauge<T> => ({
  name,
  help: "Machines whose last operation failed, as the status names them; always 1.",
  labels: Object.keys(failedMachineLabels),
  samples: (object) =>
    (failedMachinesOf(object) ?? []).map((machine) => ({ value: 1, labels: valuesOf(failedMachineLabels, machine) })),
});
