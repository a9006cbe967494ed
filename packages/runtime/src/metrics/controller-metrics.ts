import { controllerMetricNames as names } from "@millwright/core/machine-api";
import type { Controller, ReconcileOutcome } from "@millwright/kube";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

/** Those of client-go's that differ from another for reconciles that only read caches and send patches, seconds. */
const queueBuckets = [0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1_000];

/** A part of controller-runtime's, seconds. */
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const outcomes: readonly ReconcileOutcome[] = ["success", "requeue_after", "requeue", "error"];

type MeasuredController = Pick<Controller, "name" | "queue" | "workers" | "observe">;

const queueLabelsOf = ({ name }: Pick<Controller, "name">) => ({ name, controller: name });

/** Adds what controllers count anyway, read at each scrape; and what only histograms show, which costs one observation per reconcile. */
export function measureControllers(registry: Registry, controllers: readonly MeasuredController[]): void {
  const { gauge, counter, histogram } = registerIn(registry);
  const ofQueues = ["name", "controller"] as const;
  const perQueue = (valueOf: (controller: MeasuredController) => number) => () =>
    controllers.map((controller) => [queueLabelsOf(controller), valueOf(controller)] as const);
  const perController = (valueOf: (controller: MeasuredController) => number) => () =>
    controllers.map((controller) => [{ controller: controller.name }, valueOf(controller)] as const);

  gauge(
    names.depth,
    "Keys that are ready and wait for a worker.",
    ofQueues,
    perQueue(({ queue }) => queue.length),
  );
  counter(
    names.adds,
    "Keys that became ready.",
    ofQueues,
    perQueue(({ queue }) => queue.counts().adds),
  );
  counter(
    names.retries,
    "Keys that were added again with backoff.",
    ofQueues,
    perQueue(({ queue }) => queue.counts().retries),
  );
  gauge(
    names.unfinishedSeconds,
    "How long all keys with a worker have been there, together, in seconds.",
    ofQueues,
    perQueue(({ queue }) => queue.inProgress().reduce((sum, { ms }) => sum + ms / 1_000, 0)),
  );
  gauge(
    names.longestSeconds,
    "How long the key that is with a worker for longest has been there, in seconds.",
    ofQueues,
    perQueue(({ queue }) => queue.counts().longestWorkMs / 1_000),
  );
  gauge(
    names.maxConcurrent,
    "Workers of a controller.",
    ["controller"],
    perController(({ workers }) => workers),
  );
  gauge(
    names.active,
    "Workers that have a key.",
    ["controller"],
    perController(({ queue }) => queue.counts().processing),
  );
  const waitHelp = "How long keys were ready before a worker took them, in seconds.";
  const waits = histogram(names.queueSeconds, waitHelp, ofQueues, queueBuckets);
  const works = histogram(names.workSeconds, "How long keys were with a worker, in seconds.", ofQueues, queueBuckets);
  const reconciles = counter(names.reconciles, "Reconciles by their result.", ["controller", "result"]);
  const errors = counter(names.errors, "Reconciles that failed with an error.", ["controller"]);
  const secondsHelp = "How long reconciles took, in seconds.";
  const seconds = histogram(names.reconcileSeconds, secondsHelp, ["controller"], reconcileBuckets);
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
