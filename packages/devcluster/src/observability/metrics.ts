import type { ObjectStore } from "../storage/object-store.ts";
import type { RequestLog } from "./request-log.ts";

/**
 * The metrics of the server in Prometheus' text format, under the names that kube-apiserver uses: requests by verb,
 * resource and code, running watches, stored objects, memory.
 */
export function metricsText(requests: RequestLog, store: ObjectStore): string {
  const counted = requests.counts();
  const labelsOf = ({ verb, group, version, resource, subresource, code }: (typeof counted)[number]): string =>
    labels({ verb: verb.toUpperCase(), group, version, resource, subresource, code: String(code) });
  return [
    "# HELP apiserver_request_total Requests answered, by verb, resource and code; 0 stands for a lost connection.",
    "# TYPE apiserver_request_total counter",
    ...counted.map((row) => `apiserver_request_total${labelsOf(row)} ${row.count}`),
    "# HELP apiserver_request_duration_seconds Time taken by requests.",
    "# TYPE apiserver_request_duration_seconds summary",
    ...counted.flatMap((row) => [
      `apiserver_request_duration_seconds_sum${labelsOf(row)} ${row.durationMs / 1000}`,
      `apiserver_request_duration_seconds_count${labelsOf(row)} ${row.count}`,
    ]),
    "# HELP apiserver_longrunning_requests Watches that run.",
    "# TYPE apiserver_longrunning_requests gauge",
    ...[...requests.watches()].map(([key, count]) => {
      const slash = key.indexOf("/");
      const text = labels({ verb: "WATCH", group: key.slice(0, slash), resource: key.slice(slash + 1) });
      return `apiserver_longrunning_requests${text} ${count}`;
    }),
    "# HELP apiserver_storage_objects Objects stored, by resource.",
    "# TYPE apiserver_storage_objects gauge",
    ...store
      .collections()
      .map((name) => `apiserver_storage_objects${labels({ resource: name.replace(/\.$/, "") })} ${store.count(name)}`),
    "# HELP process_resident_memory_bytes Memory of the process that the server runs in.",
    "# TYPE process_resident_memory_bytes gauge",
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    "",
  ].join("\n");
}

function labels(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(([name, value]) => `${name}="${escaped(value)}"`);
  return `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`);
}
