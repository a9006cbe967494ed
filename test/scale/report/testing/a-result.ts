import type { RunResult } from "../run-result.ts";

/** A result for tests, with some fields of its own; `undefined` removes a field. */
export function aResult(change: { readonly [Key in keyof RunResult]?: RunResult[Key] | undefined }): RunResult {
  const result = {
    scenario: "create",
    subject: "millwright",
    build: "built",
    commit: "abc",
    server: "kube-apiserver v1.35.4",
    machines: 10,
    date: "2026-05-06T07:08:09.000Z",
    computer: { cpu: "Test CPU", cores: 2, memoryGiB: 8, system: "Linux 6.1", node: "v24.0.0" },
    wallSeconds: 3,
    requests: [
      { verb: "patch", resource: "machines", count: 70 },
      { verb: "create", resource: "events", count: 30 },
    ],
    requestCount: 100,
    processes: [
      {
        name: "millwright",
        cpuSeconds: 2,
        threads: [
          { name: "MainThread", cpuSeconds: 1.5 },
          { name: "V8Worker", cpuSeconds: 0.5 },
        ],
        peakMiB: 200,
        residentMiB: 180,
        readMiB: 3,
        writtenMiB: 1,
      },
    ],
    cpuSeconds: 2,
    peakMiB: 200,
    others: [{ name: "etcd", cpuSeconds: 1 }],
    otherRequests: { "bench-world": 10 },
    eventLoop: { p50Ms: 20, p99Ms: 40, maxMs: 60 },
    queues: { machine: { count: 30, meanMs: 1, p99Ms: 10 } },
    creation: { count: 10, p50Ms: 500, p99Ms: 900, maxMs: 950 },
    watchEvents: { machines: 60 },
    ...change,
  };
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined)) as unknown as RunResult;
}
