import { apiTime } from "@millwright/kube";
import { crdCleanupFinalizer } from "../crd/crd-pipeline.ts";
import { plainText, quoted } from "../json/quoting.ts";
import { namespaceOf, type StoredObject } from "../objects/stored-object.ts";
import { at, field, isArray, type Json, type JsonObject, stringAt, withField } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { find, type ServerContext, type ObjectRef, shown } from "../resources/server-context.ts";
import { invalidValue, notSupported } from "../errors/field-errors.ts";
import {
  badRequest,
  type Cause,
  conflict,
  forbidden,
  invalid,
  notFound,
  successStatus,
} from "../errors/status-error.ts";
import { withCondition } from "../objects/conditions.ts";
import type { Outcome } from "./outcome.ts";
import { commit } from "./update.ts";
import { dryRunProblems } from "../request/write-options.ts";

/** The finalizers by which the garbage collector keeps an owner until its dependents are deleted or orphaned. */
export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/** Namespaces that cannot be deleted. */
const protectedNamespaces: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** The options of a deletion, from its body and query. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly propagation: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** Reads DeleteOptions. Throws 400 for malformed ones and 422 for unsupported values. */
export function readDeleteOptions(body: Json | undefined, query: URLSearchParams): DeleteOptions {
  const kind = stringAt(body, "kind");
  if (kind !== undefined && kind !== "DeleteOptions") {
    const version = stringAt(body, "apiVersion") ?? "v1";
    throw badRequest(
      `no kind ${quoted(kind)} is registered for version ${quoted(version)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const propagation = stringAt(body, "propagationPolicy") ?? query.get("propagationPolicy") ?? undefined;
  const grace = field(body, "gracePeriodSeconds") ?? query.get("gracePeriodSeconds") ?? undefined;
  if (typeof field(body, "gracePeriodSeconds") === "string") {
    throw badRequest(
      "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
    );
  }
  if (grace !== undefined && !/^[-+]?\d+$/.test(plainText(grace))) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted(grace)}: invalid syntax`);
  }
  const inBody = field(body, "dryRun");
  const dryRun = inBody === undefined ? query.getAll("dryRun") : isArray(inBody) ? inBody : [inBody];
  const causes = [
    ...dryRunProblems(dryRun),
    ...propagationProblems(propagation, field(body, "orphanDependents") !== undefined),
  ];
  if (causes.length > 0) throw invalid(deleteOptions, "", causes);
  return {
    dryRun: dryRun.length > 0,
    propagation: isPropagation(propagation)
      ? propagation
      : field(body, "orphanDependents") === true
        ? "Orphan"
        : undefined,
    gracePeriodSeconds: grace === undefined ? undefined : Math.max(0, Number(grace)),
    uid: stringAt(body, "preconditions", "uid"),
    resourceVersion: stringAt(body, "preconditions", "resourceVersion"),
  };
}

const deleteOptions = { group: "meta.k8s.io", plural: "deleteoptions", kind: "DeleteOptions" };

function isPropagation(value: string | undefined): value is "Background" | "Foreground" | "Orphan" {
  return value === "Background" || value === "Foreground" || value === "Orphan";
}

function propagationProblems(propagation: string | undefined, hasOrphan: boolean): readonly Cause[] {
  if (propagation === undefined) return [];
  const path = "propagationPolicy";
  if (hasOrphan) {
    return [invalidValue(path, propagation, "orphanDependents and deletionPropagation cannot be both set")];
  }
  if (isPropagation(propagation)) return [];
  return [notSupported(path, propagation, ["Foreground", "Background", "Orphan", "nil"])];
}

/** Deletes an object, or sets its deletionTimestamp while it has finalizers. */
export function deleteObject(
  context: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
  options: DeleteOptions,
): Outcome {
  const live = find(context, definition, ref);
  if (live === undefined) throw notFound(definition, ref.name);
  if (definition.collection === "namespaces." && protectedNamespaces.has(ref.name)) {
    throw forbidden(definition, ref.name, "this namespace may not be deleted");
  }
  checkPreconditions(definition, live, options);
  const isDefinition = definition.collection === crdCollection;
  const wanted = wantedFinalizers(live, options);
  const finalizers = isDefinition && !wanted.includes(crdCleanupFinalizer) ? [...wanted, crdCleanupFinalizer] : wanted;
  const graceSeconds = definition.collection === "pods." ? podGraceSeconds(live, options) : 0;
  const holdsNamespace = definition.collection === "namespaces.";
  if (finalizers.length > 0 || holdsNamespace || graceSeconds > 0) {
    const marked = markDeleted(context, definition, live, finalizers, graceSeconds);
    const next = isDefinition ? withTerminating(marked, apiTime(context.clock.now())) : marked;
    return { code: 200, body: shown(definition, options.dryRun ? next : commit(context, definition, live, next)) };
  }
  if (definition.collection === "pods.") {
    const last = markDeleted(context, definition, live, [], 0);
    const removed = options.dryRun
      ? last
      : context.store.remove(definition.collection, namespaceOf(live), ref.name, last);
    return { code: 200, body: shown(definition, removed ?? last) };
  }
  if (!options.dryRun) context.store.remove(definition.collection, namespaceOf(live), ref.name);
  return {
    code: 200,
    body: successStatus({
      name: ref.name,
      ...(definition.group === "" ? {} : { group: definition.group }),
      kind: definition.plural,
      uid: live.metadata.uid,
    }),
  };
}

function checkPreconditions(definition: ResourceDefinition, live: StoredObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = live.metadata;
  // Only here, Kubernetes names the resource by its kind.
  const byKind = { ...definition, plural: definition.kind };
  if (options.uid !== undefined && options.uid !== uid) {
    const why =
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). ` +
      "The object might have been deleted and then recreated";
    throw conflict(byKind, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why =
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record ` +
      `(${resourceVersion}). The object might have been modified`;
    throw conflict(byKind, name, why);
  }
}

function wantedFinalizers(live: StoredObject, { propagation }: DeleteOptions): readonly string[] {
  const present = live.metadata.finalizers ?? [];
  if (propagation === undefined) return present;
  const others = present.filter((finalizer) => finalizer !== foregroundFinalizer && finalizer !== orphanFinalizer);
  if (propagation === "Foreground") return [...others, foregroundFinalizer];
  return propagation === "Orphan" ? [...others, orphanFinalizer] : others;
}

/**
 * The grace period of a pod, as kube-apiserver decides it: none for pods without a node and for finished ones, else that of the
 * request, else that of the pod. It is never extended while the pod is being deleted.
 */
function podGraceSeconds(pod: StoredObject, options: DeleteOptions): number {
  const phase = stringAt(pod, "status", "phase");
  if (!stringAt(pod, "spec", "nodeName") || phase === "Succeeded" || phase === "Failed") return 0;
  const ownGrace = at(pod, "spec", "terminationGracePeriodSeconds");
  const wanted = options.gracePeriodSeconds ?? (typeof ownGrace !== "number" ? 30 : ownGrace < 0 ? 1 : ownGrace);
  if (pod.metadata.deletionTimestamp === undefined) return wanted;
  return Math.min(wanted, Number(pod.metadata["deletionGracePeriodSeconds"] ?? 0));
}

/** The deletionTimestamp of an object. A shorter grace period moves one that is set already. */
function deadlineOf(live: StoredObject, graceSeconds: number, now: Date): JsonObject {
  const { deletionTimestamp } = live.metadata;
  const before = Number(live.metadata["deletionGracePeriodSeconds"] ?? 0);
  const startMs = deletionTimestamp === undefined ? now.getTime() : Date.parse(deletionTimestamp) - before * 1000;
  return {
    deletionTimestamp: apiTime(new Date(startMs + graceSeconds * 1000)),
    deletionGracePeriodSeconds: graceSeconds,
  };
}

const crdCollection = "customresourcedefinitions.apiextensions.k8s.io";
/** Kinds whose deletion Kubernetes starts itself: without a grace period, and without a new generation. */
const hasOwnEnd: ReadonlySet<string> = new Set(["namespaces.", crdCollection]);

/** The condition Terminating of a CRD that is being deleted: its objects are deleted first. */
function withTerminating(crd: StoredObject, now: string): StoredObject {
  const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
  const condition = { type: "Terminating", status: "True", reason: "InstanceDeletionPending", message } as const;
  return { ...crd, ...withField({ status: crd["status"] }, ["status"], withCondition(crd, condition, now)["status"]) };
}

function markDeleted(
  { clock }: ServerContext,
  definition: ResourceDefinition,
  live: StoredObject,
  finalizers: readonly string[],
  graceSeconds: number,
): StoredObject {
  const { deletionTimestamp, generation } = live.metadata;
  const marked: StoredObject = {
    ...live,
    metadata: {
      ...live.metadata,
      ...(finalizers.length === 0 ? {} : { finalizers }),
      ...(hasOwnEnd.has(definition.collection)
        ? { deletionTimestamp: deletionTimestamp ?? apiTime(clock.now()) }
        : deadlineOf(live, graceSeconds, clock.now())),
      ...(definition.countsGeneration && deletionTimestamp === undefined && !hasOwnEnd.has(definition.collection)
        ? { generation: (generation ?? 0) + 1 }
        : {}),
    },
  };
  if (definition.collection !== "namespaces." || at(live, "status", "phase") === "Terminating") return marked;
  return { ...marked, ...withField({ status: marked["status"] }, ["status", "phase"], "Terminating") };
}
