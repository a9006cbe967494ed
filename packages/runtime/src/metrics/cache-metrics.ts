import type { ControlCaches, TargetCaches } from "@millwright/controllers";
import {
  cacheMetricNames as names,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import type { Informer, KubeObject } from "@millwright/kube";
import {
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  secretResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

/** What is measured of a cache. */
type MeasuredCache = Pick<
  Informer<KubeObject>,
  "counts" | "hasSynced" | "silentForMs" | "listedForMs" | "connectivity"
> & { readonly store: { readonly size: number } };

/** The caches of each cluster. */
export interface MeasuredCaches {
  readonly control: { readonly [Name in keyof ControlCaches]: MeasuredCache };
  readonly target?: { readonly [Name in keyof TargetCaches]: MeasuredCache } | undefined;
}

/** The label `resource` of each cache. */
const resources: Readonly<Record<string, string>> = {
  machines: machineResource.plural,
  sets: machineSetResource.plural,
  deployments: machineDeploymentResource.plural,
  classes: machineClassResource.plural,
  secrets: secretResource.plural,
  nodes: nodeResource.plural,
  pods: podResource.plural,
  budgets: podDisruptionBudgetResource.plural,
  claims: persistentVolumeClaimResource.plural,
  volumes: persistentVolumeResource.plural,
  attachments: volumeAttachmentResource.plural,
} satisfies Readonly<Record<keyof ControlCaches | keyof TargetCaches, string>>;

/** Adds the metrics of caches; read from their counters at each scrape, whatever number of objects they hold. */
export function measureCaches(registry: Registry, clusters: MeasuredCaches): void {
  const measured = Object.entries(clusters).flatMap(([cluster, caches]) =>
    Object.entries<MeasuredCache>(caches ?? {}).map(([name, cache]) => ({
      labels: { api_server: cluster, resource: resources[name] ?? name },
      cache,
    })),
  );
  type Read = (cache: MeasuredCache) => number | undefined;
  const read = (valueOf: Read) => () =>
    measured.flatMap(({ labels, cache }) => {
      const value = valueOf(cache);
      return value === undefined ? [] : [[labels, value] as const];
    });
  const { gauge, counter } = registerIn(registry);
  const labelNames = ["api_server", "resource"] as const;
  const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);
  const gauges: readonly (readonly [name: string, help: string, valueOf: Read])[] = [
    [names.objects, "Objects in a cache.", ({ store }) => store.size],
    [names.synced, "Whether a cache has had its first list.", (cache) => Number(cache.hasSynced())],
    [
      names.lostSeconds,
      "How long a cache has not been up to date, in seconds.",
      ({ connectivity }) => seconds(connectivity.lostForMs()),
    ],
    [
      names.silentSeconds,
      "Seconds since the last event, bookmark, response or attempt of a cache.",
      (cache) => seconds(cache.silentForMs()),
    ],
    [names.listAgeSeconds, "Seconds since the last complete list of a cache.", (cache) => seconds(cache.listedForMs())],
  ];
  const counters = [
    [names.lists, "Lists of caches that were started.", "lists"],
    [names.watches, "Watches of caches that were started.", "watches"],
    [names.events, "Events and bookmarks that caches received.", "events"],
    [names.failures, "Lists and watches of caches that failed.", "failures"],
  ] as const;
  for (const [name, help, valueOf] of gauges) gauge(name, help, labelNames, read(valueOf));
  for (const [name, help, count] of counters)
    counter(
      name,
      help,
      labelNames,
      read((cache) => cache.counts()[count]),
    );
}
