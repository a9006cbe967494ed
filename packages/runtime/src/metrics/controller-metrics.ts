import { controllerMetricNames as names } from "@millwright/core/machine-api";
import type { Controller, ReconcileOutcome } from "@millwright/kube";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Those of client-go's that differ from another for reconciles that only read caches and send patches, seconds. */
const queueBuckets = [0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1_000];

/** A part of controller-runtime's, seconds. */
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const outcomes: readonly ReconcileOutcome[] = ["success", "requeue_after", "requeue", "error"];

type MeasuredController = Pick<Controller, "name" | "queue" | "workers" | "observe">;

/** Adds what controllers count anyway, read at each scrape; and what only histograms show, which costs one observation per reconcile. */
export function measureControllers(registry: Registry, controllers: readonly MeasuredController[]): void {
  const registers = [registry];
  const queueLabels = ["name", "controller"] as const;
  const queueGauge = (name: string, help: string, valueOf: (controller: MeasuredController) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: queueLabels,
      registers,
      collect() {
        for (const controller of controllers) this.set(queueLabelsOf(controller), valueOf(controller));
      },
    });
  const queueCounter = (name: string, help: string, valueOf: (controller: MeasuredController) => number): Counter =>
    new Counter({
      name,
      help,
      labelNames: queueLabels,
      registers,
      collect() {
        this.reset();
        for (const controller of controllers) this.inc(queueLabelsOf(controller), valueOf(controller));
      },
    });
  const workerGauge = (name: string, help: string, valueOf: (controller: MeasuredController) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ["controller"],
      registers,
      collect() {
        for (const controller of controllers) this.set({ controller: controller.name }, valueOf(controller));
      },
    });

  queueGauge(names.depth, "Keys that are ready and wait for a worker.", ({ queue }) => queue.length);
  queueCounter(names.adds, "Keys that became ready.", ({ queue }) => queue.counts().adds);
  queueCounter(names.retries, "Keys that were added again with backoff.", ({ queue }) => queue.counts().retries);
  queueGauge(names.unfinishedSeconds, "How long all keys with a worker have been there, together, in seconds.", (c) =>
    c.queue.inProgress().reduce((sum, { ms }) => sum + ms / 1_000, 0),
  );
  queueGauge(
    names.longestSeconds,
    "How long the key that is with a worker for longest has been there, in seconds.",
    ({ queue }) => queue.counts().longestWorkMs / 1_000,
  );
  workerGauge(names.maxConcurrent, "Workers of a controller.", ({ workers }) => workers);
  workerGauge(names.active, "Workers that have a key.", ({ queue }) => queue.counts().processing);
  observeControllers(registry, controllers);
}

const queueLabelsOf = ({ name }: Pick<Controller, "name">) => ({ name, controller: name });

function observeControllers(registry: Registry, controllers: readonly MeasuredController[]): void {
  const registers = [registry];
  const waits = new Histogram({
    name: names.queueSeconds,
    help: "How long keys were ready before a worker took them, in seconds.",
    labelNames: ["name", "controller"],
    buckets: queueBuckets,
    registers,
  });
  const works = new Histogram({
    name: names.workSeconds,
    help: "How long keys were with a worker, in seconds.",
    labelNames: ["name", "controller"],
    buckets: queueBuckets,
    registers,
  });
  const reconciles = new Counter({
    name: names.reconciles,
    help: "Reconciles by their result.",
    labelNames: ["controller", "result"],
    registers,
  });
  const errors = new Counter({
    name: names.errors,
    help: "Reconciles that failed with an error.",
    labelNames: ["controller"],
    registers,
  });
  const seconds = new Histogram({
    name: names.reconcileSeconds,
    help: "How long reconciles took, in seconds.",
    labelNames: ["controller"],
    buckets: reconcileBuckets,
    registers,
  });
  for (const controller of controllers) {
    const { name } = controller;
    const queue = queueLabelsOf(controller);
    waits.zero(queue);
    works.zero(queue);
    seconds.zero({ controller: name });
    errors.inc({ controller: name }, 0);
    for (const result of outcomes) reconciles.inc({ controller: name, result }, 0);
    controller.observe({
      waited: (ms) => waits.observe(queue, ms / 1_000),
      worked: (ms) => works.observe(queue, ms / 1_000),
      reconciled(result, ms) {
        reconciles.inc({ controller: name, result });
        if (result === "error") errors.inc({ controller: name });
        seconds.observe({ controller: name }, ms / 1_000);
      },
    });
  }
}
