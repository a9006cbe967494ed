import {
  type ControllerContext,
  createControlCaches,
  createMachineClassController,
  createMachineController,
  createMachineDeploymentController,
  createMachineSetController,
  createTargetCaches,
  defaultMachineSettings,
  type MachineSettings,
} from "@millwright/controllers";
import { type Clock, type Driver, type Random, systemClock, systemRandom } from "@millwright/core";
import { type ApiClient, createEventRecorder, type Log, noLog } from "@millwright/kube";
import { createDriverHost } from "./drivers/driver-host.ts";
import { reportReadiness } from "./report-readiness.ts";

/** How a manager runs. */
export interface ManagerOptions {
  /** The cluster in which machines are declared. */
  readonly control: ApiClient;
  /** The cluster that machines join; absent: machines are VMs and nothing more. May be the same client as `control`. */
  readonly target?: ApiClient;
  /** The one namespace of the control cluster that is looked after. */
  readonly namespace: string;
  readonly drivers: readonly Driver[];
  /** Default: `defaultMachineSettings`. */
  readonly settings?: Partial<MachineSettings>;
  /** Objects of one kind that are worked on at once. Default 10. */
  readonly workers?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: nothing is written. */
  readonly log?: Log;
}

/** The controllers of one installation. */
export interface Manager {
  /**
   * Runs until the signal aborts; then driver calls under way are aborted, passes end, and it resolves. State is in the API objects: whoever starts next
   * goes on. Rejects when a cache or controller fails for good. May be called once.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Resolves when all caches have their first list, so that work begins. */
  ready(signal: AbortSignal): Promise<void>;
}

const DEFAULT_WORKERS = 10;

/** How long events that are still waiting may take at the end, milliseconds. */
const FLUSH_MS = 2_000;

/** Wires caches, controllers and drivers into one manager. */
export function createManager(options: ManagerOptions): Manager {
  const { control, target, namespace } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const log = options.log ?? noLog;
  const workers = options.workers ?? DEFAULT_WORKERS;

  const events = createEventRecorder({ api: control, component: "millwright", clock, random, log });
  const caches = createControlCaches({ api: control, clock, random, log, namespace });
  const targetCaches = target === undefined ? undefined : createTargetCaches({ api: target, clock, random, log });
  const context: ControllerContext = {
    namespace,
    control,
    caches,
    ...(target === undefined || targetCaches === undefined ? {} : { target: { api: target, caches: targetCaches } }),
    events,
    clock,
    random,
    log,
  };
  const driver = createDriverHost({ drivers: options.drivers, hasTarget: target !== undefined, clock, log });
  const machine = createMachineController(context, {
    driver,
    settings: { ...defaultMachineSettings, ...options.settings },
    workers,
  });
  const controllers = [
    machine.controller,
    createMachineSetController(context, workers),
    createMachineDeploymentController(context, workers),
    createMachineClassController(context, workers),
  ];
  const named = { ...caches, ...targetCaches };
  const informers = Object.values(named);

  const flushEvents = async (): Promise<void> => {
    const late = new AbortController();
    const timer = clock.setTimer(FLUSH_MS, () => late.abort(new Error("the events took too long")));
    await events.flush(late.signal).catch(() => undefined);
    timer.cancel();
    events.close();
  };
  let isStarted = false;

  return {
    async ready(signal) {
      await Promise.all(informers.map((informer) => informer.synced(signal)));
    },
    async start(signal) {
      if (isStarted) throw new Error("the manager was started before");
      isStarted = true;
      const stop = new AbortController();
      const both = AbortSignal.any([signal, stop.signal]);
      const parts = [
        ...informers.map((informer) => informer.run(both)),
        ...controllers.map((controller) => controller.start(both)),
        reportReadiness(named, clock, log, both),
      ];
      try {
        await Promise.all(parts);
      } finally {
        // One part that failed takes the others with it: half a manager would be worse than none.
        stop.abort(new Error("another part of the manager failed"));
        await machine.operations.close();
        await Promise.allSettled(parts);
        await flushEvents();
      }
    },
  };
}
