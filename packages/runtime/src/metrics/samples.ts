import type { MachineSummary } from "@millwright/core/machine-api";
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
      return value === undefined ? [] : [{ value, labels: { condition: type } }];
    }),
});

/** Seconds since 1970, as MCM's label `createdAt` has them. Objects come from an API server, which always sets it; 0 where one does not. */
export const createdAt = (creationTimestamp: string | undefined): string =>
  String(Math.floor((Date.parse(creationTimestamp ?? "") || 0) / 1_000));

/** A gauge of the machines that failed, as the status names them. */
export const failedMachinesGauge = <T>(
  name: string,
  failedMachinesOf: (object: T) => readonly MachineSummary[] | undefined,
): ObjectGauge<T> => ({
  name,
  help: "Machines whose last operation failed, as the status names them; always 1.",
  labels: [
    "failed_machine_name",
    "failed_machine_provider_id",
    "failed_machine_owner_ref",
    "failed_machine_last_operation_state",
    "failed_machine_last_operation_machine_operation_type",
  ],
  samples: (object) =>
    (failedMachinesOf(object) ?? []).map((machine) => ({
      value: 1,
      labels: {
        failed_machine_name: machine.name,
        failed_machine_provider_id: machine.providerID,
        failed_machine_owner_ref: machine.ownerRef,
        failed_machine_last_operation_state: machine.lastOperation?.state,
        failed_machine_last_operation_machine_operation_type: machine.lastOperation?.type,
      },
    })),
});
