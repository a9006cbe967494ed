import type { DeleteOptions, ListOptions, ReadOptions, Scope, WatchOptions, WriteOptions } from "./call-options.ts";
import type { Query } from "./resource-path.ts";

/** The header that asks for partial objects. Servers that know none, fakes for example, may answer with whole ones. */
export function acceptHeader(as: string, { metadataOnly }: ReadOptions): Readonly<Record<string, string>> {
  return metadataOnly === true ? { accept: `application/json;as=${as};g=meta.k8s.io;v=v1,application/json` } : {};
}

function queryOfScope(scope: Scope): Query {
  return { labelSelector: scope.labelSelector, fieldSelector: scope.fieldSelector };
}

/** What a list is asked with. */
export function queryOfList(options: ListOptions): Query {
  return {
    ...queryOfScope(options),
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

/** What a watch is asked with. */
export function queryOfWatch(options: WatchOptions, timeoutSeconds: number): Query {
  return {
    ...queryOfScope(options),
    watch: true,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    sendInitialEvents: options.sendInitialEvents === true ? true : undefined,
    allowWatchBookmarks: options.allowBookmarks ?? true,
    timeoutSeconds,
  };
}

/** What any write is asked with. */
export function queryOfWrite(options: WriteOptions, fieldManager: string | undefined): Query {
  return {
    fieldManager: options.fieldManager ?? fieldManager,
    dryRun: options.dryRun === true ? "All" : undefined,
  };
}

/** The `DeleteOptions` object that is sent along with a deletion. */
export function bodyOfDelete(options: DeleteOptions): object {
  const preconditions = {
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.resourceVersion === undefined ? {} : { resourceVersion: options.resourceVersion }),
  };
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(options.propagation === undefined ? {} : { propagationPolicy: options.propagation }),
    ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
    ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
  };
}
