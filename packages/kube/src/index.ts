// Objects and resources
export { isApiObject, keyFor, keyOf, parseKey } from "./objects/kube-object.ts";
export type {
  ApiObject,
  KubeObject,
  ListMeta,
  ObjectList,
  ObjectMeta,
  ObjectRef,
  OwnerReference,
} from "./objects/kube-object.ts";
export { apiVersionOf, describeType, withTypeMeta } from "./objects/resource-type.ts";
export type { ResourceType } from "./objects/resource-type.ts";
export {
  customResourceDefinitionResource,
  eventResource,
  leaseResource,
  namespaceResource,
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  secretResource,
  volumeAttachmentResource,
} from "./objects/built-in-resources.ts";

// Talking to an API server
export { loadKubeConfig } from "./connection/load-kube-config.ts";
export type { FollowerOptions } from "./connection/follow-kube-config.ts";
export type { LoadKubeConfigOptions } from "./connection/load-kube-config.ts";
export type { KubeConfigLimits, KubeConfigPermission } from "./connection/untrusted-kube-config.ts";
export type { ClusterConfig, Credentials, TlsMaterial } from "./connection/cluster-config.ts";
export type { Connection, ConnectionRequest, ConnectionResponse, Connections } from "./connection/connections.ts";
export { createApiClient } from "./client/api-client.ts";
export type { ApiClient, ApiClientOptions } from "./client/api-client.ts";
export type { RewindEvidence, ServerHistory } from "./client/server-history.ts";
export type {
  CallOptions,
  DeleteOptions,
  ListOptions,
  RawRequest,
  RawResponse,
  ReadOptions,
  Scope,
  WatchOptions,
  WriteOptions,
} from "./client/call-options.ts";
export type { PatchKind, PatchOptions } from "./client/patch.ts";
export { collectionPath, objectPath } from "./client/resource-path.ts";
export { listAll } from "./client/list-all.ts";
export type { ListAllOptions } from "./client/list-all.ts";
export { retryConflicts } from "./client/retry-conflicts.ts";
export { startDeadline } from "./deadline.ts";
export { retryAfterOf } from "./client/retry-after.ts";
export { defaultInactivityMs } from "./client/watch.ts";
export type { WatchEvent } from "./client/watch.ts";
export {
  ApiError,
  ignoreNotFound,
  isAlreadyExists,
  isApiError,
  isConflict,
  isDisruptionBudgetError,
  isForbidden,
  isGone,
  isVersionTooLarge,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isPatchMismatch,
  isTooManyRequests,
  isTransient,
  isUnanswered,
  isUnauthorized,
  mayHaveSucceeded,
} from "./client/api-error.ts";
export type { ApiErrorInit, LocalReason, StatusCause, StatusDetails } from "./client/api-error.ts";
export { createConnectivityWatch, createServerProof, isRejection } from "./client/server-proof.ts";
export type { ConnectivityView, ServerProof } from "./client/server-proof.ts";
export { parseJson } from "./json/parse-json.ts";
export { keepHeapSmall } from "./small-heap.ts";

// Caches
export { createStore } from "./cache/store.ts";
export type { ListMark, ReadonlyStore, Store, StoreOptions, StoreSubscriber, Replacement } from "./cache/store.ts";
export type { IndexFunction } from "./cache/store-index.ts";
export { deepFreeze, trimObject } from "./cache/trim.ts";
export { createSlices, runInSlices } from "./slices.ts";
export type { SliceOptions } from "./slices.ts";
export type { Connectivity } from "./client/connectivity.ts";
export type { RequestKind, RequestObserver } from "./client/request-observer.ts";
export { serverClock } from "./client/server-time.ts";
export type { ServerTime } from "./client/server-time.ts";
export { createReflector } from "./cache/reflector.ts";
export type { Reflector, ReflectorCounts, ReflectorOptions } from "./cache/reflector.ts";
export { checkHistory } from "./cache/check-history.ts";
export type { HistoryCheckOptions } from "./cache/check-history.ts";
export { createInformer, readAllInto } from "./cache/informer.ts";
export type { Informer, InformerOptions } from "./cache/informer.ts";
export { unlessUnreachable } from "./cache/unless-unreachable.ts";
export { waitForCache } from "./cache/wait-for-cache.ts";
export type { WaitForCacheOptions } from "./cache/wait-for-cache.ts";
export { createExpectations, fulfillFromStore } from "./controller/expectations.ts";
export type {
  Expectations,
  ExpectationsOptions,
  FulfillOptions,
  Outstanding,
  Overdue,
} from "./controller/expectations.ts";
export { compareResourceVersions, isNewer } from "./objects/resource-version.ts";

// Work
export type { KeyInProgress } from "./controller/queue-meter.ts";
export { createQueue } from "./controller/queue.ts";
export type { Queue, QueueCounts, QueueOptions } from "./controller/queue.ts";
export type { QueueObserver, QueueTimes } from "./controller/queue-meter.ts";
export type { Priority } from "./controller/ready-line.ts";
export { backoffDelay } from "./backoff.ts";
export type { BackoffOptions } from "./backoff.ts";
export { createController, done } from "./controller/controller.ts";
export type {
  Controller,
  ControllerCounts,
  ControllerObserver,
  ControllerOptions,
  Reconcile,
  ReconcileOutcome,
  ReconcileResult,
  SyncedCache,
} from "./controller/controller.ts";
export { priorityOfChange, watchTriggers } from "./controller/watch-triggers.ts";
export type { WatchTriggerOptions } from "./controller/watch-triggers.ts";
export { createOverwriteLimit } from "./controller/overwrite-limit.ts";
export { createRefusedWrites, describeWrite, isLasting, refusalOf, resourceOf } from "./controller/refused-writes.ts";
export type { ObjectWrite, Refusal, RefusedWrites } from "./controller/refused-writes.ts";
export { createWriter } from "./controller/writer.ts";
export type { Writer, WriterOptions } from "./controller/writer.ts";
export { confirmOwnerOnce, isOrphaning, watchOrphaningOwners } from "./controller/owners.ts";
export type { OrphaningOwners } from "./controller/owners.ts";
export { createEvictionQueue } from "./evictions/eviction-queue.ts";
export type { EvictionOrder, EvictionQueue, EvictionRejection, EvictionView } from "./evictions/eviction-queue.ts";
export { createEventRecorder } from "./events/event-recorder.ts";
export type { EventCounts, EventRecorder, EventRecorderOptions } from "./events/event-recorder.ts";
export type { EventRecord } from "./events/event-series.ts";

// One leader among several processes
export { createElectionThread, threadFlags } from "./leader-election/election-host.ts";
export type { ElectionThread } from "./leader-election/election-host.ts";
export { type LeaseRecord, readLease } from "./leader-election/lease.ts";
export { isLeadershipLost, LeadershipLostError, startLeaderElection } from "./leader-election/leadership.ts";
export type { Leadership, LeaderElectionOptions } from "./leader-election/leadership.ts";
export type { ElectionCluster } from "./leader-election/thread-messages.ts";
export type { ElectionTimes } from "./leader-election/settings.ts";
export { createFencedClient } from "./leader-election/fenced-client.ts";

// Objects in the hands of controllers
export {
  adoptPatch,
  claimObjects,
  controllerRefOf,
  isControlledBy,
  newControllerRef,
  releasePatch,
} from "./objects/owner-references.ts";
export type { Claims, OwnerPatch } from "./objects/owner-references.ts";
export {
  addFinalizerPatch,
  dropFinalizerPatch,
  hasFinalizer,
  removeFinalizerPatch,
  isBeingDeleted,
} from "./objects/finalizers.ts";
export type { Finalized, FinalizerPatch } from "./objects/finalizers.ts";
export { apiTime, findCondition, isConditionTrue, removeCondition, setCondition } from "./objects/conditions.ts";
export type { Condition, ConditionState, SetConditionOptions } from "./objects/conditions.ts";
export { aggregateConditions } from "./conditions/aggregate.ts";
export { cutMessage, cutText, shortenNames } from "./conditions/derived-condition.ts";
export type { DerivedCondition, Severity } from "./conditions/derived-condition.ts";
export { summarizeConditions, type SummaryPart } from "./conditions/summary.ts";
export { createJsonPatch, type JsonPatchOperation } from "./json/create-json-patch.ts";
export { applyMergePatch, createMergePatch, equalJson } from "./json/json-merge-patch.ts";
export { firstLine, messageOf, noLog } from "./log.ts";
export type { Log, LogLevel } from "./log.ts";
export type { LogFields } from "@millwright/base";
export { keyFields, objectFields } from "./objects/log-fields.ts";
