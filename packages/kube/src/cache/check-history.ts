import type { Clock, ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import type { Scope } from "../client/call-options.ts";
import { describeType } from "../objects/resource-type.ts";
import { isNewer } from "../objects/resource-version.ts";
import type { Reflector } from "./reflector.ts";

/** What {@link checkHistory} needs. */
export interface HistoryCheckOptions {
  readonly api: Pick<ApiClient, "list" | "history">;
  /** A kind that the client may list. */
  readonly type: ResourceType;
  /** Where objects of the kind are listed. Default: everywhere. */
  readonly scope?: Pick<Scope, "namespace">;
  /** The cache of the kind. */
  readonly cache: Pick<Reflector, "resourceVersion" | "isCurrent">;
  readonly clock: Pick<Clock, "sleep">;
  /** Default 25 s: a restore is found within a minute. */
  readonly periodMs?: number;
}

const defaultPeriodMs = 25_000;

/**
 * Finds out that an idle API server went back to an earlier state: kube-apiserver accepts a watch from a version that it has not reached yet, and sends nothing. When a period passes
 * without an event of the kind, one object of it is listed, and the version of the list is compared. Not needed where leases are renewed, whose versions show the same. Resolves when the
 * signal aborts; never rejects.
 */
export async function checkHistory(options: HistoryCheckOptions, signal: AbortSignal): Promise<void> {
  const { cache, clock, periodMs = defaultPeriodMs } = options;
  let before: string | undefined;
  while (!signal.aborted) {
    const version = cache.isCurrent() ? cache.resourceVersion() : undefined;
    // A failure is reported by the caches, whose requests fail as well.
    if (version !== undefined && version === before) await compare(options, version, signal).catch(() => undefined);
    before = version;
    await clock.sleep(periodMs, signal).catch(() => undefined);
  }
}

/** Reports the server when it is at a lower version than it was. */
async function compare(
  { api, type, scope, cache }: HistoryCheckOptions,
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { metadata } = await api.list(type, { ...scope, limit: 1, metadataOnly: true }, { signal });
  // Another request may have found the same meanwhile.
  if (!cache.isCurrent() || !isNewer(version, metadata.resourceVersion)) return;
  const found = `a list at version ${metadata.resourceVersion} after version ${version}`;
  api.history?.report({ resource: describeType(type), found });
}
