/*
 * Names of metrics, read by dashboards and alerts; docs/metrics.md is made from the comments here. Those with the prefix `mcm_` are MCM's, with
 * its labels and values. Every metric of one object has the labels `name` and `namespace`, whatever else it has, and is removed with the object.
 */

/** What drivers do. Source: MCM, `pkg/util/provider/metrics/metrics.go`. */
export const cloudMetricNames = {
  /** Counter: requests of drivers to their cloud, failed ones too; labels `provider`, `service`. */
  requests: "mcm_cloud_api_requests_total",
  /** Counter: failed requests of drivers to their cloud; labels `provider`, `service` and `error_code`, which MCM does not have: the code of the cloud or of the connection. */
  requestsFailed: "mcm_cloud_api_requests_failed_total",
  /** Histogram: how long requests of drivers to their cloud took; labels `provider`, `service`. */
  requestSeconds: "mcm_cloud_api_api_request_duration_seconds",
  /** Histogram: how long calls of a driver's methods took; labels `provider`, `operation`. */
  driverSeconds: "mcm_cloud_api_driver_request_duration_seconds",
  /** Counter: failed calls of a driver's methods; labels `provider`, `operation`, `error_code`: the number of a `MachineErrorCode`. */
  driverFailed: "mcm_cloud_api_driver_requests_failed_total",
} as const;

/** Machines as they are. Source: MCM, `pkg/util/provider/metrics/metrics.go`. */
export const machineMetricNames = {
  /** Gauge: number of machines. */
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
  /** Gauge: number of MachineSets. */
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
  fullyLabeledReplicas: "mcm_machine_set_status_fully_labelled_replicas",
  /** Gauge: `status.readyReplicas`. */
  readyReplicas: "mcm_machine_set_status_ready_replicas",
  /** Gauge: `status.replicas`, those that are being deleted included. MCM shows the ready ones here. */
  replicas: "mcm_machine_set_status_replicas",
  /** Gauge, always 1: a machine that failed; labels `failed_machine_name`, `failed_machine_provider_id`, `failed_machine_owner_ref`, `failed_machine_last_operation_state`, `failed_machine_last_operation_machine_operation_type`. */
  failedMachines: "mcm_machine_set_failed_machines",
} as const;

/** MachineDeployments as they are. Source: MCM, `pkg/controller/metrics.go`. */
export const machineDeploymentMetricNames = {
  /** Gauge: number of MachineDeployments. */
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
  /** Gauge: how many machines of a RollingUpdate may be unavailable, with percentages and defaults resolved. */
  specMaxUnavailable: "mcm_machine_deployment_info_spec_rolling_update_max_unavailable",
  /** Gauge: `spec.revisionHistoryLimit`, where there is one. */
  specRevisionHistoryLimit: "mcm_machine_deployment_info_spec_revision_history_limit",
  /** Gauge: `spec.progressDeadlineSeconds`, where there is one. */
  specProgressDeadlineSeconds: "mcm_machine_deployment_info_spec_progress_deadline_seconds",
  /** Gauge: `spec.rollbackTo.revision`, while a rollback is requested. */
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
  /** Gauge: `status.collisionCount`, once a name of a set was taken. */
  collisionCount: "mcm_machine_deployment_status_collision_count",
  /** Gauge, always 1: a machine that failed; labels as of `mcm_machine_set_failed_machines`. */
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

/**
 * Work queues and reconciles of all processes, also of those that do not lead. Names and labels are those of controller-runtime, so that its dashboards work. Sources: client-go, `util/workqueue/metrics.go`;
 * controller-runtime, `pkg/metrics/workqueue.go` and `pkg/internal/controller/metrics/metrics.go`.
 */
export const controllerMetricNames = {
  /** Gauge: keys that are ready and wait for a worker; labels `name` and `controller`, which are the same. */
  depth: "workqueue_depth",
  /** Counter: keys that became ready; labels as above, as for all of `workqueue_`. */
  adds: "workqueue_adds_total",
  /** Counter: keys that were added again with backoff. */
  retries: "workqueue_retries_total",
  /** Histogram: how long keys were ready before a worker took them. */
  queueSeconds: "workqueue_queue_duration_seconds",
  /** Histogram: how long workers took to process a key. */
  workSeconds: "workqueue_work_duration_seconds",
  /** Gauge: for how long workers have processed their current keys, added up. */
  unfinishedSeconds: "workqueue_unfinished_work_seconds",
  /** Gauge: for how long the oldest of these keys has been processed. A large value: a worker is stuck. */
  longestSeconds: "workqueue_longest_running_processor_seconds",
  /** Counter: reconciles; labels `controller` and `result`: `success`, `requeue_after`, `requeue` (with backoff) or `error`. */
  reconciles: "controller_runtime_reconcile_total",
  /** Counter: reconciles that failed with an error, conflicts too; label `controller`. */
  errors: "controller_runtime_reconcile_errors_total",
  /** Histogram: how long reconciles took; label `controller`. */
  reconcileSeconds: "controller_runtime_reconcile_time_seconds",
  /** Gauge: workers of a controller; label `controller`. */
  maxConcurrent: "controller_runtime_max_concurrent_reconciles",
  /** Gauge: workers that have a key; label `controller`. */
  active: "controller_runtime_active_workers",
  /** Gauge: 1 while this process leads, else 0; label `name`: of the Lease. Absent without leader election. */
  leader: "leader_election_master_status",
} as const;

/**
 * Requests to API servers, without those for the leases, which a thread of its own sends. The label `host` is host and port of the server. Names are those of client-go; `resource` is ours: `machines` or
 * `machines/status`. Source: kubernetes/component-base, `metrics/prometheus/restclient/metrics.go`.
 */
export const requestMetricNames = {
  /** Counter: attempts; labels `code` (`<error>` without a response), `method`, `host`. */
  requests: "rest_client_requests_total",
  /** Histogram: from sending an attempt to the headers of its response; labels `verb` (as kube-apiserver counts them: `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `DELETE`), `host`, `resource`. */
  seconds: "rest_client_request_duration_seconds",
  /** Histogram: how long attempts waited because the client limits its requests at once, which adapts to the server; labels `verb`, `host`. */
  throttledSeconds: "rest_client_rate_limiter_duration_seconds",
  /** Counter: attempts that were repeated; labels `code`, `verb`, `host`. */
  retries: "rest_client_request_retries_total",
  /** Gauge: requests in flight, watches apart; label `host`. */
  inFlight: "millwright_api_requests_in_flight",
  /** Gauge: requests that wait for others to end; label `host`. */
  waiting: "millwright_api_requests_waiting",
  /** Gauge: how many requests may be in flight: fewer while the server is overloaded; label `host`. */
  limit: "millwright_api_request_limit",
} as const;

/** Caches; labels `api_server` (`control` or `target`) and `resource`. */
export const cacheMetricNames = {
  /** Gauge: objects in the cache. */
  objects: "millwright_cache_objects",
  /** Gauge: 1 when the cache has had its first list. */
  synced: "millwright_cache_synced",
  /** Gauge: for how many seconds the cache has not been up to date, because its lists or watches fail; 0 if it is. */
  lostSeconds: "millwright_cache_lost_seconds",
  /** Gauge: seconds since the last event, bookmark, response or attempt. */
  silentSeconds: "millwright_cache_silent_seconds",
  /** Gauge: seconds since the last complete list. */
  listAgeSeconds: "millwright_cache_list_age_seconds",
  /** Counter: lists, the first one too: any increase afterwards is a relist. */
  lists: "millwright_cache_lists_total",
  /** Counter: watches. */
  watches: "millwright_cache_watches_total",
  /** Counter: events and bookmarks. */
  events: "millwright_cache_events_total",
  /** Counter: lists and watches that failed. */
  failures: "millwright_cache_failures_total",
} as const;

/** The Node.js process, as `prom-client` measures it; nothing of it is about machines. */
export const nodejsMetricNames = {
  /** Counter: CPU time, all threads. */
  cpuSeconds: "process_cpu_seconds_total",
  /** Counter: CPU time of user code. */
  cpuUserSeconds: "process_cpu_user_seconds_total",
  /** Counter: CPU time of the kernel. */
  cpuSystemSeconds: "process_cpu_system_seconds_total",
  /** Gauge: when the process started, seconds since 1970. */
  startSeconds: "process_start_time_seconds",
  /** Gauge: resident memory, all threads. */
  residentBytes: "process_resident_memory_bytes",
  /** Gauge: virtual memory. */
  virtualBytes: "process_virtual_memory_bytes",
  /** Gauge: data segment. */
  dataBytes: "process_heap_bytes",
  /** Gauge: open file descriptors. */
  openDescriptors: "process_open_fds",
  /** Gauge: maximum number of file descriptors. */
  maxDescriptors: "process_max_fds",
  /** Gauge: delay of the event loop at the moment of the read. */
  loopLag: "nodejs_eventloop_lag_seconds",
  /** Gauge: the shortest delay since the previous read, by `perf_hooks.monitorEventLoopDelay`, whose resolution of 100 ms is included. */
  loopLagMin: "nodejs_eventloop_lag_min_seconds",
  /** Gauge: the longest delay. */
  loopLagMax: "nodejs_eventloop_lag_max_seconds",
  /** Gauge: mean of the delays. */
  loopLagMean: "nodejs_eventloop_lag_mean_seconds",
  /** Gauge: standard deviation of the delays. */
  loopLagDeviation: "nodejs_eventloop_lag_stddev_seconds",
  /** Gauge: median of the delays. */
  loopLagP50: "nodejs_eventloop_lag_p50_seconds",
  /** Gauge: 90th percentile of the delays. */
  loopLagP90: "nodejs_eventloop_lag_p90_seconds",
  /** Gauge: 99th percentile of the delays. */
  loopLagP99: "nodejs_eventloop_lag_p99_seconds",
  /** Gauge: resources that keep the event loop running; label `type`. */
  resources: "nodejs_active_resources",
  /** Gauge: number of all of these resources. */
  resourcesTotal: "nodejs_active_resources_total",
  /** Gauge: handles, such as sockets; label `type`. */
  handles: "nodejs_active_handles",
  /** Gauge: all of them. */
  handlesTotal: "nodejs_active_handles_total",
  /** Gauge: requests of libuv; label `type`. */
  uvRequests: "nodejs_active_requests",
  /** Gauge: all of them. */
  uvRequestsTotal: "nodejs_active_requests_total",
  /** Gauge: heap of the main thread. */
  heapBytes: "nodejs_heap_size_total_bytes",
  /** Gauge: how much of it is in use. */
  heapUsedBytes: "nodejs_heap_size_used_bytes",
  /** Gauge: memory of objects outside of the heap. */
  externalBytes: "nodejs_external_memory_bytes",
  /** Gauge: a part of the heap; label `space`. */
  spaceBytes: "nodejs_heap_space_size_total_bytes",
  /** Gauge: how much of it is in use. */
  spaceUsedBytes: "nodejs_heap_space_size_used_bytes",
  /** Gauge: how much of it is free. */
  spaceFreeBytes: "nodejs_heap_space_size_available_bytes",
  /** Gauge, always 1: version of Node.js; labels `version`, `major`, `minor`, `patch`. */
  version: "nodejs_version_info",
  /** Histogram: how long garbage collections took; label `kind`. */
  gcSeconds: "nodejs_gc_duration_seconds",
} as const;

/** Names of metrics that MCM does not have. */
export const ownMetricNames = {
  /** Histogram: every duration; of these, MCM's gauges show the last one only. Labels `namespace`, `machine_deployment` and `step`: `create`, `join`, `drain` or `delete`. */
  stepSeconds: "millwright_machine_step_duration_seconds",
  /** Gauge: objects that are not acted on; labels `namespace`, `by` (`crd`, `protection`, `lost-owner`, `budget`, `unread-target`, `conflict`, `freeze`, `refused-write` or `restore`) and `kind`. A Machine counts for the first that holds it, an owner for each. */
  heldObjects: "millwright_held_objects",
  /** Counter: writes of the controllers that an API server refused, each attempt: by a webhook, a policy, a quota, missing permissions or validation; labels `namespace`, `kind`, `verb` (`create`, `patch` or `delete`) and `subresource`: `status`, or empty. */
  refusedWrites: "millwright_refused_writes_total",
  /** Gauge: terminating objects whose deletion is paused because a CustomResourceDefinition of ours is being deleted; labels `namespace` and `kind`. Alert on any value above 0. Replaced by `millwright_held_objects`, and removed with the next version. */
  pausedDeletions: "millwright_paused_deletions",
  /** Gauge: terminating objects that deletion protection keeps; labels `namespace` and `kind`: `Machine` or `MachineDeployment`. Replaced by `millwright_held_objects`, and removed with the next version. */
  protectedDeletions: "millwright_protected_deletions",
  /** Gauge: machines whose deletion is held by the deletion budget; labels `namespace` and `cause`: `scale-down`, `rollout`, `remediation`, `autoscaler`, `parent`, `machine` or `creation`. Alert on any value above 0. */
  heldDeletions: "millwright_held_deletions",
  /** Gauge: how many more machines may be deleted within the hour without an approval; labels `rule` (`share` or `rate`), `kind` (`Namespace`, `MachineDeployment` or `MachineSet` of a share, `Namespace` or `MachineClass` of a rate) and `name`. A deletion must fit into all. Series of what has neither machines nor losses within the hour are removed. */
  deletionsRemaining: "millwright_deletion_budget_remaining",
  /** Gauge: how many machines may be deleted within an hour; labels as of `millwright_deletion_budget_remaining`. */
  deletionsLimit: "millwright_deletion_budget_limit",
  /** Counter: deletions of machines that the deletion budget allowed, since the process started; labels `namespace` and `cause` as of held deletions, or `orphan-vm`. */
  deletions: "millwright_deletions_total",
  /** Gauge: Machines, MachineSets, MachineDeployments and MachineClasses with a field of the wrong type: their specs are not acted on until they are fixed; labels `kind`, `namespace`. Alert on any value above 0. */
  unreadableObjects: "millwright_unreadable_objects",
  /** Gauge: VMs without Machine that are in quarantine; labels `namespace` and `machine_class`. Alert on any value above 0. */
  orphanVms: "millwright_orphan_vms",
  /** Counter: lists of the VMs of a class that failed or cannot be trusted; labels `namespace`, `machine_class` and `reason`: the code of the error, `Internal` for one that cannot be read, or `VMsNotListed` for one that lacks most VMs. */
  failedVmLists: "millwright_vm_list_failures_total",
  /** Gauge: 1 while calls of a driver with a credential are held back because its cloud refuses them; labels `namespace`, `driver`, `secret`: name of the Secret. Alert on any value above 0. */
  circuitOpen: "millwright_circuit_open",
  /** Gauge: operations of machines that call a driver; labels `operation` (`create`, `initialize`, `find`, `delete`) and `state`: `waiting` (throttled), `running`, `pending` (accepted by the cloud) or `failed` (until they are tried again). */
  operations: "millwright_machine_operations",
  /** Gauge: by how many seconds the local clock is ahead of that of an API server, negative when it is behind; label `api_server`: `control` or, where it has another one, `target`. It is compensated for. */
  clockSkewSeconds: "millwright_api_server_clock_skew_seconds",
  /** Counter: how often an API server went back to an earlier state, as after a restore of etcd; label `api_server`: `control` or `target`. Alert on any increase. */
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
  /** Gauge, only with `--shadow`: actions that this process would do next; labels `kind` and `action` (`Create`, `Delete`, `Evict`, `ChangeSpec`, `ChangeMetadata`, `ChangeStatus`, `CreateVM`, `InitializeVM`, `FindVM`, `DeleteVM`). */
  shadowDue: "millwright_shadow_due_actions",
  /** Gauge, only with `--shadow`: due actions that the other manager did not do within the grace period; labels as of `millwright_shadow_due_actions`. */
  shadowDifferences: "millwright_shadow_differences",
  /** Counter, only with `--shadow`: actions that were no longer due within the grace period, as the other manager did them; labels as above. */
  shadowConfirmed: "millwright_shadow_confirmed_total",
  /** Counter, only with `--shadow`: actions that were no longer due after the grace period; labels as above. */
  shadowLate: "millwright_shadow_late_total",
} as const;
