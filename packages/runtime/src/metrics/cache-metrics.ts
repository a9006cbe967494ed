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
import { Counter, Gauge, type Registry } from "prom-client";

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
  const labelNames = ["api_server", "resource"] as const;
  const registers = [registry];
  const gauge = (name: string, help: string, valueOf: (cache: MeasuredCache) => number | undefined): Gauge =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const { labels, cache } of measured) {
          const value = valueOf(cache);
          if (value !== undefined) this.set(labels, value);
        }
      },
    });
  const counter = (name: string, help: string, valueOf: (counts: ReturnType<MeasuredCache["counts"]>) => number) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, cache } of measured) this.inc(labels, valueOf(cache.counts()));
      },
    });
  const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);

  gauge(names.objects, "Objects in a cache.", ({ store }) => store.size);
  gauge(names.synced, "Whether a cache has had its first list.", (cache) => (cache.hasSynced() ? 1 : 0));
  gauge(names.lostSeconds, "How long a cache has not been up to date, in seconds.", ({ connectivity }) =>
    seconds(connectivity.lostForMs()),
  );
  gauge(names.silentSeconds, "Seconds since the last event, bookmark, response or attempt of a cache.", (cache) =>
    seconds(cache.silentForMs()),
  );
  gauge(names.listAgeSeconds, "Seconds since the last complete list of a cache.", (cache) =>
    seconds(cache.listedForMs()),
  );
  counter(names.lists, "Lists of caches that were started.", ({ lists }) => lists);
  counter(names.watches, "Watches of caches that were started.", ({ watches }) => watches);
  counter(names.events, "Events and bookmarks that caches received.", ({ events }) => events);
  counter(names.failures, "Lists and watches of caches that failed.", ({ failures }) => failures);
}
