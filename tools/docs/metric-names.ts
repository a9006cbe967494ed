import * as core from "@millwright/core/machine-api";

/** All metrics of a manager and its process. */
export const metricNames: readonly string[] = [
  core.cacheMetricNames,
  core.cloudMetricNames,
  core.controllerMetricNames,
  core.machineDeploymentMetricNames,
  core.machineFlowMetricNames,
  core.machineMetricNames,
  core.machineSetMetricNames,
  core.nodejsMetricNames,
  core.ownMetricNames,
  core.processMetricNames,
  core.requestMetricNames,
].flatMap((table) => Object.values<string>(table));
