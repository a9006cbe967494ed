/** Names of metrics that MCM has too, with their labels. Read by dashboards and alerts. Source: provider-drivers.md 0.3. */
export const cloudMetricNames = {
  /** Counter: requests of drivers to their cloud, failed ones too; labels `provider`, `service`. */
  requests: "mcm_cloud_api_requests_total",
  /** Counter: those that failed; labels `provider`, `service` and, ours, `error_code`: what the cloud or the connection said. */
  requestsFailed: "mcm_cloud_api_requests_failed_total",
  /** Histogram: how long they took; labels `provider`, `service`. */
  requestSeconds: "mcm_cloud_api_api_request_duration_seconds",
  /** Histogram: how long calls of a driver's methods took; labels `provider`, `operation`. */
  driverSeconds: "mcm_cloud_api_driver_request_duration_seconds",
  /** Counter: those that failed; labels `provider`, `operation`, `error_code`: the number of a `MachineErrorCode`. */
  driverFailed: "mcm_cloud_api_driver_requests_failed_total",
} as const;

/** Names of metrics that MCM does not have. Read by dashboards and alerts. */
export const ownMetricNames = {
  /** Gauge: objects on their way out that are held because a CustomResourceDefinition of ours was deleted; label `kind`. Anything above 0 wants a person. */
  heldObjects: "millwright_held_objects",
} as const;
