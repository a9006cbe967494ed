import type { Clock, Random } from "@millwright/base";
import type { CheckOutcome } from "@millwright/core";
import type { RequiredPermission } from "@millwright/core/machine-api";
import { type ApiClient, backoffDelay, type Log } from "@millwright/kube";
import type { CheckedApi } from "../doctor/check-api.ts";
import { checkKinds } from "../doctor/check-kinds.ts";
import { checkPermissions } from "../doctor/check-permissions.ts";

/** A cluster whose prerequisites are checked. */
export interface PrerequisiteCluster {
  readonly api: CheckedApi & Pick<ApiClient, "rejectedForMs">;
  /** What it is used for; one cluster may be both. */
  readonly roles: readonly RequiredPermission["cluster"][];
}

/** What {@link followPrerequisites} works with. */
export interface PrerequisiteOptions {
  readonly clusters: readonly PrerequisiteCluster[];
  /** Of the machines. */
  readonly namespace: string;
  /** Resolves when all caches have their first list: what was missing may be there. */
  ready(signal: AbortSignal): Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What the controllers need from their clusters. */
export interface Prerequisites {
  /** What is missing, each with its remedy, in one line; empty before the first check. */
  problems(): readonly string[];
  /** Checks each cluster once, and again with a backoff while something is missing. Then it sends no more requests. Resolves when nothing is missing or the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** While something is missing. A check is about seven requests, and one for each missing permission. */
const RETRY = { initialMs: 10_000, maxMs: 60_000 };

const nameOf = (roles: PrerequisiteCluster["roles"]): string =>
  roles.length > 1 ? "control and target cluster" : `${roles[0] ?? "control"} cluster`;

/** A renewed kubeconfig or token is read within this time after the first rejection, milliseconds. */
const REJECTED_MS = 5_000;

/** What keeps the process from being ready although its prerequisites were met once. */
function rejectionBy({ api, roles }: PrerequisiteCluster): readonly string[] {
  const ms = api.rejectedForMs?.() ?? 0;
  if (ms < REJECTED_MS) return [];
  const seconds = Math.floor(ms / 1_000);
  return [
    `${nameOf(roles)}: The API server rejects the credentials for ${seconds} s (401 Unauthorized). Renew the token or certificate in the kubeconfig: it is read again.`,
  ];
}

const isFailed = ({ status }: CheckOutcome): boolean => status === "failed";

async function checkCluster(
  { api, roles }: PrerequisiteCluster,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly CheckOutcome[]> {
  const [kinds, permissions] = await Promise.all([
    roles.includes("control") ? checkKinds(api, signal) : Promise.resolve(undefined),
    checkPermissions(api, roles, namespace, signal),
  ]);
  return [...(kinds === undefined ? [] : [kinds]), ...permissions].filter(({ status }) => status !== "ok");
}

/** Logs what was not found before, and what is not found any more. */
function logChanges(log: Log, cluster: string, before: readonly CheckOutcome[], after: readonly CheckOutcome[]): void {
  for (const { name, message, remedy } of after)
    if (!before.some((each) => each.name === name && each.message === message))
      log("warn", "A prerequisite is not met", {
        cluster,
        check: name,
        because: message,
        ...(remedy === undefined ? {} : { remedy }),
      });
  for (const { name } of before)
    if (!after.some((each) => each.name === name)) log("info", "A prerequisite is met now", { cluster, check: name });
}

/**
 * Checks at the start what `millwright doctor` checks of clusters: CRDs, their version, and permissions. What is missing is logged once, with its remedy, and keeps the process from being
 * ready. The controllers start all the same: caches wait for kinds, and what lacks a permission is retried.
 */
export function followPrerequisites({
  clusters,
  namespace,
  ready,
  clock,
  random,
  log,
}: PrerequisiteOptions): Prerequisites {
  const found = new Map<PrerequisiteCluster, readonly CheckOutcome[]>();

  const follow = async (cluster: PrerequisiteCluster, synced: Promise<void>, signal: AbortSignal): Promise<void> => {
    const name = nameOf(cluster.roles);
    let isSynced = false;
    for (let failures = 0; ; failures++) {
      const outcomes = await checkCluster(cluster, namespace, signal);
      logChanges(log, name, found.get(cluster) ?? [], outcomes);
      found.set(cluster, outcomes);
      if (!outcomes.some(isFailed)) break;
      const wait = new AbortController();
      const sleep = clock.sleep(backoffDelay(failures, RETRY, random), AbortSignal.any([signal, wait.signal]));
      await (isSynced ? sleep : Promise.race([sleep, synced.then(() => void (isSynced = true))]));
      wait.abort(new Error("the caches are ready"));
      await sleep.catch(() => undefined);
      signal.throwIfAborted();
    }
    log("info", "The prerequisites of a cluster are met", { cluster: name });
  };

  return {
    problems: () =>
      clusters.flatMap((cluster) => [
        ...rejectionBy(cluster),
        ...(found.get(cluster) ?? [])
          .filter(isFailed)
          .map(({ name, message, remedy }) =>
            `${nameOf(cluster.roles)}: ${name}: ${message} ${remedy ?? ""}`.trimEnd().replaceAll("\n", " "),
          ),
      ]),
    async run(signal) {
      // One that never becomes ready rejects only when the signal aborts.
      const synced = ready(signal);
      synced.catch(() => undefined);
      await Promise.allSettled(clusters.map((cluster) => follow(cluster, synced, signal)));
    },
  };
}
