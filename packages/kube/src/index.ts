// Objects and resources
export { isApiObject, isRecord, keyFor, keyOf, parseKey } from "./kube-object.ts";
export type {
  ApiObject,
  KubeObject,
  ListMeta,
  ObjectList,
  ObjectMeta,
  ObjectRef,
  OwnerReference,
} from "./kube-object.ts";
export { apiVersionOf, describeType, withTypeMeta } from "./resource-type.ts";
export type { ResourceType } from "./resource-type.ts";
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
} from "./resources.ts";

// Talking to an API server
export { loadKubeConfig } from "./load-kube-config.ts";
export type { LoadKubeConfigOptions } from "./load-kube-config.ts";
export type { ClusterConfig, Credentials, TlsMaterial } from "./cluster-config.ts";
export { createApiClient } from "./api-client.ts";
export type { ApiClient, ApiClientOptions } from "./api-client.ts";
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
} from "./call-options.ts";
export type { PatchKind, PatchOptions } from "./patch.ts";
export { collectionPath, objectPath } from "./resource-path.ts";
export { listAll } from "./list-all.ts";
export type { ListAllOptions } from "./list-all.ts";
export { defaultInactivityMs } from "./watch.ts";
export type { WatchEvent } from "./watch.ts";
export {
  ApiError,
  ignoreNotFound,
  isAlreadyExists,
  isApiError,
  isConflict,
  isDisruptionBudgetRefusal,
  isForbidden,
  isGone,
  isVersionTooLarge,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isTransient,
  isUnanswered,
  isUnauthorized,
  mayHaveHappened,
} from "./api-error.ts";
export type { ApiErrorInit, LocalReason, StatusCause, StatusDetails } from "./api-error.ts";
export { parseJson } from "./safe-json.ts";
export { keepHeapSmall } from "./small-heap.ts";

// Caches
export { createStore } from "./store.ts";
export type { ListMark, ReadonlyStore, Store, StoreOptions, StoreSubscriber, Replacement } from "./store.ts";
export type { IndexFunction } from "./store-index.ts";
export { deepFreeze, trimObject } from "./trim.ts";
export type { SliceOptions } from "./slices.ts";
export type { Contact } from "./contact.ts";
export { createReflector } from "./reflector.ts";
export type { Reflector, ReflectorCounts, ReflectorOptions } from "./reflector.ts";
export { createInformer } from "./informer.ts";
export type { Informer, InformerOptions } from "./informer.ts";
export { waitForCache } from "./wait-for-cache.ts";
export type { WaitForCacheOptions } from "./wait-for-cache.ts";
export { createExpectations, fulfilFromStore } from "./expectations.ts";
export type { Expectations, ExpectationsOptions, FulfilOptions, Outstanding } from "./expectations.ts";
export { compareResourceVersions, isNewer } from "./resource-version.ts";

// Work
export { createQueue } from "./queue.ts";
export type { Queue, QueueCounts, QueueOptions } from "./queue.ts";
export type { QueueObserver, QueueTimes } from "./queue-meter.ts";
export type { Priority } from "./ready-line.ts";
export { backoffDelay } from "./backoff.ts";
export type { BackoffOptions } from "./backoff.ts";
export { createController, done } from "./controller.ts";
export type { Controller, ControllerCounts, ControllerOptions, Reconcile, ReconcileResult } from "./controller.ts";
export { priorityOfChange, watchTriggers } from "./watch-triggers.ts";
export type { WatchTriggerOptions } from "./watch-triggers.ts";
export { createEventRecorder } from "./events.ts";
export type { EventCounts, EventRecord, EventRecorder, EventRecorderOptions } from "./events.ts";

// One leader among several processes
export { startLeaderElection } from "./leader-election/leadership.ts";
export type { Leadership, LeaderElectionOptions } from "./leader-election/leadership.ts";
export type { ElectionCluster } from "./leader-election/thread-messages.ts";
export type { ElectionTimes } from "./leader-election/settings.ts";
export { createFencedClient } from "./leader-election/fenced-client.ts";
export { isLeadershipLost, LeadershipLostError } from "./leader-election/leadership-lost.ts";

// Objects in the hands of controllers
export {
  adoptPatch,
  claimObjects,
  controllerRefOf,
  isControlledBy,
  newControllerRef,
  releasePatch,
} from "./owner-references.ts";
export type { Claims, OwnerPatch } from "./owner-references.ts";
export { addFinalizerPatch, hasFinalizer, isBeingDeleted, removeFinalizerPatch } from "./finalizers.ts";
export type { Finalized, FinalizerPatch } from "./finalizers.ts";
export { apiTime, findCondition, isConditionTrue, removeCondition, setCondition } from "./conditions.ts";
export type { Condition, ConditionState, SetConditionOptions } from "./conditions.ts";
export { applyMergePatch, createMergePatch, equalJson } from "./json-merge-patch.ts";
export { messageOf, noLog } from "./log.ts";
export type { Log, LogLevel } from "./log.ts";
