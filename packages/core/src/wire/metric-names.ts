/*
 * Names of metrics, read by dashboards and alerts; docs/metrics.md is made from the comments here. Those with the prefix `mcm_` are MCM's, with
 * its labels and values. Every metric of one object has the labels `name` and `namespace`, whatever else it has, and is removed with the object.
 */

/** What drivers do. Source: MCM, `pkg/util/provider/metrics/metrics.go`. */
export const cloudMetricNames = {
  /** Counter: requests of drivers to their cloud, failed ones too; labels `provider`, `service`. */
  requests: "mcm_cloud_api_requests_total",
  /** Counter: those that failed; labels `provider`, `service` and, ours, `error_code`: the code of the cloud or of the connection. */
  requestsFailed: "mcm_cloud_api_requests_failed_total",
  /** Histogram: how long they took; labels `provider`, `service`. */
  requestSeconds: "mcm_cloud_api_api_request_duration_seconds",
  /** Histogram: how long calls of a driver's methods took; labels `provider`, `operation`. */
  driverSeconds: "mcm_cloud_api_driver_request_duration_seconds",
  /** Counter: those that failed; labels `provider`, `operation`, `error_code`: the number of a `MachineErrorCode`. */
  driverFailed: "mcm_cloud_api_driver_requests_failed_total",
} as const;

/** Machines as they are. Source: MCM, `pkg/util/provider/metrics/metrics.go`. */
export const machineMetricNames = {
  /** Gauge: how many machines there are. */
  items: "mcm_machine_items_total",
  /** Gauge: phase of a machine: Terminating -4, Failed -3, CrashLoopBackOff -2, Unknown -1, Running 1, every other one 0. */
  phase: "mcm_machine_current_status_phase",
  /** Gauge, always 1; labels `createdAt` (seconds since 1970), `spec_provider_id`, `spec_class_api_group`, `spec_class_kind`, `spec_class_name`, `node_name`. */
  info: "mcm_machine_info",
  /** Gauge: a condition, label `condition`: True 1, False 0, Unknown 2. */
  condition: "mcm_machine_status_condition",
} as const;

/** MachineSets as they are. Source: MCM, `pkg/controller/metrics.go`. */
export const machineSetMetricNames = {
  /** Gauge: how many sets there are. */
  items: "mcm_machine_set_items_total",
  /** Gauge, always 1; labels `createdAt` (seconds since 1970) and `spec_machine_class_api_group`, `spec_machine_class_kind`, `spec_machine_class_name`: the class of the template where the set itself names none. */
  info: "mcm_machine_set_info",
  /** Gauge: `spec.replicas`. */
  specReplicas: "mcm_machine_set_info_spec_replicas",
  /** Gauge: `spec.minReadySeconds`. */
  specMinReadySeconds: "mcm_machine_set_info_spec_min_ready_seconds",
  /** Gauge: a condition, label `condition`: True 1, False 0, Unknown 2. */
  condition: "mcm_machine_set_status_condition",
  /** Gauge: `status.availableReplicas`. */
  availableReplicas: "mcm_machine_set_status_available_replicas",
  /** Gauge: `status.fullyLabeledReplicas`. */
  fullyLabelledReplicas: "mcm_machine_set_status_fully_labelled_replicas",
  /** Gauge: `status.readyReplicas`. */
  readyReplicas: "mcm_machine_set_status_ready_replicas",
  /** Gauge: `status.replicas`, those that are being deleted included. MCM shows the ready ones here. */
  replicas: "mcm_machine_set_status_replicas",
  /** Gauge, always 1: a machine that failed; labels `failed_machine_name`, `failed_machine_provider_id`, `failed_machine_owner_ref`, `failed_machine_last_operation_state`, `failed_machine_last_operation_machine_operation_type`. */
  failedMachines: "mcm_machine_set_failed_machines",
} as const;

/** MachineDeployments as they are. Source: MCM, `pkg/controller/metrics.go`. */
export const machineDeploymentMetricNames = {
  /** Gauge: how many deployments there are. */
  items: "mcm_machine_deployment_items_total",
  /** Gauge, always 1; labels `createdAt` (seconds since 1970), `spec_strategy_type`. */
  info: "mcm_machine_deployment_info",
  /** Gauge: whether rollouts are paused, 1 or 0. */
  specPaused: "mcm_machine_deployment_info_spec_paused",
  /** Gauge: `spec.replicas`. */
  specReplicas: "mcm_machine_deployment_info_spec_replicas",
  /** Gauge: `spec.minReadySeconds`. */
  specMinReadySeconds: "mcm_machine_deployment_info_spec_min_ready_seconds",
  /** Gauge: surge of a RollingUpdate in machines, percentages and defaults resolved as the rollout resolves them. */
  specMaxSurge: "mcm_machine_deployment_info_spec_rolling_update_max_surge",
  /** Gauge: how many machines of a RollingUpdate may be unavailable, resolved likewise. */
  specMaxUnavailable: "mcm_machine_deployment_info_spec_rolling_update_max_unavailable",
  /** Gauge: `spec.revisionHistoryLimit`, where there is one. */
  specRevisionHistoryLimit: "mcm_machine_deployment_info_spec_revision_history_limit",
  /** Gauge: `spec.progressDeadlineSeconds`, where there is one. */
  specProgressDeadlineSeconds: "mcm_machine_deployment_info_spec_progress_deadline_seconds",
  /** Gauge: `spec.rollbackTo.revision`, while a rollback is asked for. */
  specRollbackToRevision: "mcm_machine_deployment_info_spec_rollback_to_revision",
  /** Gauge: a condition, label `condition`: True 1, False 0, Unknown 2. */
  condition: "mcm_machine_deployment_status_condition",
  /** Gauge: `status.availableReplicas`. */
  availableReplicas: "mcm_machine_deployment_status_available_replicas",
  /** Gauge: `status.unavailableReplicas`. */
  unavailableReplicas: "mcm_machine_deployment_status_unavailable_replicas",
  /** Gauge: `status.readyReplicas`. */
  readyReplicas: "mcm_machine_deployment_status_ready_replicas",
  /** Gauge: `status.updatedReplicas`. */
  updatedReplicas: "mcm_machine_deployment_status_updated_replicas",
  /** Gauge: `status.replicas`, those that are being deleted included. */
  replicas: "mcm_machine_deployment_status_replicas",
  /** Gauge: `status.collisionCount`, where a name of a set was ever taken. */
  collisionCount: "mcm_machine_deployment_status_collision_count",
  /** Gauge, always 1: a machine that failed; labels as those of the set's. */
  failedMachines: "mcm_machine_deployment_failed_machines",
} as const;

/**
 * What happens to machines; labels `namespace`, `machine_deployment` (label `name` of the Machine; one without it is not counted), `instance_type` and `zone`. They are removed an
 * hour after the last machine of a deployment was counted, when it and all of its machines are deleted, or when 1,000 others are in use. Source: MCM, `pkg/util/provider/metrics/metrics.go`; MCM, `pkg/controller/metrics.go`.
 */
export const machineFlowMetricNames = {
  /** Gauge: seconds from the creation of the Machine to the id of its VM, for the last one. */
  createSeconds: "mcm_machine_create_duration_seconds",
  /** Gauge: seconds from the creation of the Machine to its joining, for the last one. */
  joinSeconds: "mcm_machine_join_duration_seconds",
  /** Gauge, without `instance_type` and `zone`: seconds that the drain before a deletion took, for the last one. */
  drainSeconds: "mcm_machine_drain_duration_seconds",
  /** Gauge: seconds from the request to delete the Machine to its end, for the last one. */
  deleteSeconds: "mcm_machine_delete_duration_seconds",
  /** Counter: machines that did not join in time. */
  failedJoins: "mcm_machine_num_failed_join",
  /** Counter, without labels: machines that were deleted, mostly by their set, after they were Failed because of their health. */
  stale: "mcm_machine_stale_machines_total",
} as const;

/** What is about the process itself. */
export const processMetricNames = {
  /** Counter: objects that could not be measured when the metrics were read; label `kind`: `Machine-count`, `Machineset-count` or `Machinedeployment-count`. Such an object has a field of the wrong type, which its controller names in the log, an event or a condition. */
  scrapeFailures: "mcm_misc_scrape_failure_total",
} as const;

/** Names of metrics that MCM does not have. */
export const ownMetricNames = {
  /** Histogram: all of what MCM's gauges of durations show the last of; labels `namespace`, `machine_deployment` and `step`: `create`, `join`, `drain` or `delete`. */
  stepSeconds: "millwright_machine_step_duration_seconds",
  /** Gauge: terminating objects whose deletion is paused because a CustomResourceDefinition of ours is being deleted; label `kind`. Alert on any value above 0. */
  pausedDeletions: "millwright_paused_deletions",
  /** Gauge: terminating objects that deletion protection keeps; label `kind`: `Machine` or `MachineDeployment`. */
  protectedDeletions: "millwright_protected_deletions",
  /** Gauge: machines whose deletion is held by the deletion budget; label `cause`: `scale-down`, `rollout`, `remediation`, `autoscaler`, `parent`, `machine` or `creation`. Alert on any value above 0. */
  heldDeletions: "millwright_held_deletions",
  /** Counter: deletions of machines that the deletion budget allowed, since the process started; label `cause` as above, or `orphan-vm`. */
  deletions: "millwright_deletions_total",
  /** Gauge: Machines, MachineSets, MachineDeployments and MachineClasses with a field of the wrong type: their specs are not acted on until they are fixed; labels `kind`, `namespace`. Alert on any value above 0. */
  unreadableObjects: "millwright_unreadable_objects",
  /** Gauge: VMs without Machine that are in quarantine; label `machine_class`. Alert on any value above 0. */
  orphanVms: "millwright_orphan_vms",
  /** Counter: lists of the VMs of a class that failed or proved nothing; labels `machine_class` and `reason`: the code of the error, `Internal` for one that cannot be read, or `VMsNotListed` for one that lacks most VMs. */
  failedVmLists: "millwright_vm_list_failures_total",
  /** Gauge: 1 while calls of a driver with a credential are held back because its cloud refuses them; labels `driver`, `secret`: name of the Secret. Alert on any value above 0. */
  circuitOpen: "millwright_circuit_open",
  /** Gauge: by how many seconds the local clock is ahead of that of an API server, negative when it is behind; label `cluster`: `control` or, where it has another one, `target`. It is compensated for. */
  clockSkewSeconds: "millwright_api_server_clock_skew_seconds",
  /** Counter: how often an API server went back to an earlier state, as after a restore of etcd; label `cluster`: `control` or `target`. Alert on any increase. */
  apiServerRewinds: "millwright_api_server_rewinds_total",
  /** Counter: errors of a driver outside of its calls, since the process started: promises that nothing waited for, timers, event emitters; label `provider`. Alert on any increase: it is a bug of the driver. */
  driverStrayErrors: "millwright_driver_stray_errors_total",
  /** Histogram: how long the event loop of the process was blocked, seconds; stalls of more than a second. Alert on any increase: a driver computes, or waits synchronously. */
  eventLoopStalls: "millwright_event_loop_stall_seconds",
  /** Gauge: what the watchdog finds wrong; label `kind`: `operation`, `cache` or `memory`. Alert on any value above 0. */
  watchdogProblems: "millwright_watchdog_problems",
  /** Gauge: share of memory in use, from 0 to 1; label `of`: `heap`, and `container` where that has a limit. */
  memoryShare: "millwright_memory_used_share",
  /** Gauge: for how many seconds the operation that runs for longest has run; label `kind`: `driver call` or `reconcile`. */
  longestOperation: "millwright_longest_operation_seconds",
} as const;
