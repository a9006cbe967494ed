import type { ApiCall, MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import { cloudMetricNames, ownMetricNames } from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { labelValue } from "./label-text.ts";
import { registerIn } from "./register.ts";

/** The methods of a driver that a host calls. */
export type DriverMethod =
  | "checkClass"
  | "createMachine"
  | "deleteMachine"
  | "findDrift"
  | "getMachineStatus"
  | "getNodeTemplate"
  | "getVolumeIds"
  | "initializeMachine"
  | "listMachines";

/** Counts what drivers do. */
export interface DriverMetrics {
  /** A call of a method has ended: with `OK`, or with the code of its failure. */
  countCall(provider: string, method: DriverMethod, code: MachineErrorCode, seconds: number): void;
  /** A request of a driver to its cloud has ended. Accepts any values of a driver, and never throws. */
  countApiCall(provider: string, call: ApiCall): void;
}

/** The label `operation` of a method: MCM's name, where it has the method. */
const operations: Readonly<Record<DriverMethod, string>> = {
  checkClass: "check_class",
  createMachine: "create_machine",
  deleteMachine: "delete_machine",
  findDrift: "find_drift",
  getMachineStatus: "get_machine_status",
  getNodeTemplate: "get_node_template",
  getVolumeIds: "get_volume_ids",
  initializeMachine: "initialize_machine",
  listMachines: "list_machines",
};

/** From one answer of a cloud nearby to the longest call that a host allows, seconds. */
const buckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** A driver that puts ids into a label must not fill the memory: values beyond so many, and values that are no word, are `other`. */
const maxLabelValues = 100;
const word = /^[\w.-]{1,80}$/;

function createLabelGuard(): (value: unknown) => string {
  const known = new Set<string>();
  return (value) => {
    if (typeof value !== "string" || !word.test(value)) return "other";
    if (known.has(value)) return value;
    if (known.size >= maxLabelValues) return "other";
    known.add(value);
    return value;
  };
}

/**
 * Makes the metrics of drivers, with MCM's names, in a registry that has none of them yet.
 *
 * Counters of failures start with 0 where their labels are known: Prometheus' `increase` sees no increase in a series that starts with 1.
 *
 * @param strayErrors how many errors each driver had outside of its calls; asked when the metrics are read
 * @param providers names of all drivers
 */
export function createDriverMetrics(
  registry: Registry,
  strayErrors: () => ReadonlyMap<string, number> = () => new Map(),
  providers: readonly string[] = [],
): DriverMetrics {
  const { counter, histogram } = registerIn(registry);
  counter(ownMetricNames.driverStrayErrors, "Errors of drivers outside of their calls.", ["provider"], function* () {
    for (const provider of providers) yield [{ provider: labelValue(provider) }, 0];
    for (const [provider, count] of strayErrors()) yield [{ provider: labelValue(provider) }, count];
  });
  const byService = ["provider", "service"] as const;
  const requests = counter(cloudMetricNames.requests, "Requests of drivers to their cloud.", byService);
  const requestsFailed = counter(cloudMetricNames.requestsFailed, "Requests of drivers to their cloud that failed.", [
    ...byService,
    "error_code",
  ]);
  const requestSeconds = histogram(
    cloudMetricNames.requestSeconds,
    "How long requests of drivers to their cloud took, in seconds.",
    byService,
    buckets,
  );
  const driverSeconds = histogram(
    cloudMetricNames.driverSeconds,
    "How long calls of the methods of drivers took, in seconds.",
    ["provider", "operation"],
    buckets,
  );
  const driverFailed = counter(cloudMetricNames.driverFailed, "Calls of the methods of drivers that failed.", [
    "provider",
    "operation",
    "error_code",
  ]);
  /** Methods of drivers that were called. */
  const called = new Set<string>();
  const startFailures = (labels: Readonly<Record<"provider" | "operation", string>>): void => {
    const key = JSON.stringify(labels);
    if (called.has(key)) return;
    called.add(key);
    for (const { number } of Object.values(machineErrorCodes))
      if (number !== machineErrorCodes.OK.number) driverFailed.inc({ ...labels, error_code: String(number) }, 0);
  };
  const serviceOf = createLabelGuard();
  const outcomeOf = createLabelGuard();

  return {
    countCall(provider, method, code, seconds) {
      const labels = { provider, operation: operations[method] };
      startFailures(labels);
      driverSeconds.observe(labels, seconds);
      if (code !== "OK") driverFailed.inc({ ...labels, error_code: String(machineErrorCodes[code].number) });
    },
    countApiCall(provider, call) {
      // Drivers are not trusted: their values may have other types.
      const { service, outcome, seconds }: { readonly [Key in keyof ApiCall]?: unknown } = { ...call };
      const labels = { provider, service: serviceOf(service) };
      requests.inc(labels);
      if (outcome !== "ok") requestsFailed.inc({ ...labels, error_code: outcomeOf(outcome) });
      if (typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0)
        requestSeconds.observe(labels, seconds);
    },
  };
}
