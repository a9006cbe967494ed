import { eventReasons, ownMetricNames } from "@millwright/core/machine-api";
import type { ApiClient, EventRecorder, Log } from "@millwright/kube";
import type { Registry } from "prom-client";
import { registerIn } from "../metrics/register.ts";
import { namespaceObject } from "./namespace-object.ts";

/** A client by the name of its cluster; `target` is absent when it is that of `control`. */
export interface Clusters {
  readonly control: Pick<ApiClient, "history">;
  readonly target?: Pick<ApiClient, "history"> | undefined;
}

/** What {@link reportRewinds} reports to. */
export interface RewindReports {
  readonly namespace: string;
  readonly registry: Registry;
  readonly events: Pick<EventRecorder, "record">;
  readonly log: Log;
}

/**
 * Reports, by a log line, a metric and an event on the namespace, that an API server went back to an earlier state, as after a restore of etcd from a
 * backup: objects that were created since are missing, and deleted ones are back. An incomplete list is only logged.
 *
 * @returns ends it
 */
export function reportRewinds(clusters: Clusters, { namespace, registry, events, log }: RewindReports): () => void {
  const help = "How often an API server went back to an earlier state, as after a restore of etcd.";
  const counter = registerIn(registry).counter(ownMetricNames.apiServerRewinds, help, ["api_server"]);
  const followed = [
    ["control", clusters.control.history],
    ["target", clusters.target?.history === clusters.control.history ? undefined : clusters.target?.history],
  ] as const;
  const ends = followed.flatMap(([cluster, history]) => {
    if (history === undefined) return [];
    counter.inc({ api_server: cluster }, 0);
    return history.onRewind(({ kind, resource, found }) => {
      const fields = { cluster, resource, found };
      if (kind === "incomplete list")
        return log("warn", "A list was incomplete; all kinds are listed again before anything is decided", fields);
      counter.inc({ api_server: cluster });
      log(
        "warn",
        "The API server went back to an earlier state; all kinds are listed again before anything is decided",
        fields,
      );
      events.record(namespaceObject(namespace), {
        type: "Warning",
        reason: eventReasons.apiServerWentBack,
        message: `API server of the ${cluster} cluster went back to an earlier state (${resource}: ${found}). Check for machines and VMs that were created or deleted since the backup.`,
      });
    });
  });
  return () => {
    for (const end of ends) end();
  };
}
