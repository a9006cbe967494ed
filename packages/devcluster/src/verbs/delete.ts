import { plainText } from "../quoting.ts";
import { namespaceOf, type StoredObject } from "../api-object.ts";
import { at, field, type Json, type JsonObject, stringAt, withField } from "../json.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";
import { find, type Machinery, type ObjectRef, shown } from "../machinery.ts";
import { badRequest, conflict, notFound, successStatus } from "../status.ts";
import { rfc3339 } from "../timestamps.ts";
import type { Outcome } from "./outcome.ts";
import { commit } from "./update.ts";

/** The finalizers by which the garbage collector holds an owner until its dependents are gone or let go. */
export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/** What a deletion may ask for, out of its body and query. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly propagation: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** Reads DeleteOptions. Throws 400 for values that Kubernetes does not know. */
export function readDeleteOptions(body: Json | undefined, query: URLSearchParams): DeleteOptions {
  const propagation = stringAt(body, "propagationPolicy") ?? query.get("propagationPolicy") ?? undefined;
  if (
    propagation !== undefined &&
    propagation !== "Background" &&
    propagation !== "Foreground" &&
    propagation !== "Orphan"
  ) {
    throw badRequest(
      `propagationPolicy: Unsupported value: "${propagation}": supported values: "Background", "Foreground", "Orphan"`,
    );
  }
  const grace = field(body, "gracePeriodSeconds") ?? query.get("gracePeriodSeconds");
  if (grace !== null && grace !== undefined && !/^\d+$/.test(plainText(grace))) {
    throw badRequest(`gracePeriodSeconds: Invalid value: ${plainText(grace)}: must be a non-negative integer`);
  }
  const dryRun = field(body, "dryRun") ?? query.get("dryRun");
  return {
    dryRun: dryRun !== null && dryRun !== undefined && plainText(dryRun) !== "",
    propagation: propagation ?? (field(body, "orphanDependents") === true ? "Orphan" : undefined),
    gracePeriodSeconds: grace === null || grace === undefined ? undefined : Number(grace),
    uid: stringAt(body, "preconditions", "uid"),
    resourceVersion: stringAt(body, "preconditions", "resourceVersion"),
  };
}

/** Deletes an object, or marks it as being deleted while finalizers hold it. */
export function deleteObject(
  machinery: Machinery,
  definition: ResourceDefinition,
  ref: ObjectRef,
  options: DeleteOptions,
): Outcome {
  const live = find(machinery, definition, ref);
  if (live === undefined) throw notFound(definition, ref.name);
  checkPreconditions(definition, live, options);
  const finalizers = wantedFinalizers(live, options);
  const graceSeconds = definition.collection === "pods." ? podGraceSeconds(live, options) : 0;
  const holdsNamespace = definition.collection === "namespaces.";
  if (finalizers.length > 0 || holdsNamespace || graceSeconds > 0) {
    const next = markDeleted(machinery, definition, live, finalizers, graceSeconds);
    return { code: 200, body: shown(definition, options.dryRun ? next : commit(machinery, definition, live, next)) };
  }
  if (!options.dryRun) machinery.store.remove(definition.collection, namespaceOf(live), ref.name);
  if (definition.collection === "pods.") return { code: 200, body: shown(definition, live) };
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
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${uid}`;
    throw conflict(definition, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `Precondition failed: ResourceVersion in precondition: ${options.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`;
    throw conflict(definition, name, why);
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
 * How long a pod may take to end, as kube-apiserver decides it: no time for pods without a node and for finished ones, else
 * what the request says, else what the pod says. A pod that is ending already never gets more time than it has.
 */
function podGraceSeconds(pod: StoredObject, options: DeleteOptions): number {
  const phase = stringAt(pod, "status", "phase");
  if (!stringAt(pod, "spec", "nodeName") || phase === "Succeeded" || phase === "Failed") return 0;
  const ownGrace = at(pod, "spec", "terminationGracePeriodSeconds");
  const wanted = options.gracePeriodSeconds ?? (typeof ownGrace === "number" ? Math.max(1, ownGrace) : 30);
  if (pod.metadata.deletionTimestamp === undefined) return wanted;
  return Math.min(wanted, Number(pod.metadata["deletionGracePeriodSeconds"] ?? 0));
}

/** The moment by which an object should be gone. A shorter grace moves a moment that is set already. */
function deadlineOf(live: StoredObject, graceSeconds: number, now: Date): JsonObject {
  const { deletionTimestamp } = live.metadata;
  const before = Number(live.metadata["deletionGracePeriodSeconds"] ?? 0);
  const startMs = deletionTimestamp === undefined ? now.getTime() : Date.parse(deletionTimestamp) - before * 1000;
  return {
    deletionTimestamp: rfc3339(new Date(startMs + graceSeconds * 1000)),
    deletionGracePeriodSeconds: graceSeconds,
  };
}

function markDeleted(
  { clock }: Machinery,
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
      ...deadlineOf(live, graceSeconds, clock.now()),
      ...(definition.countsGeneration && deletionTimestamp === undefined ? { generation: (generation ?? 0) + 1 } : {}),
    },
  };
  if (definition.collection !== "namespaces." || at(live, "status", "phase") === "Terminating") return marked;
  return { ...marked, ...withField({ status: marked["status"] }, ["status", "phase"], "Terminating") };
}
