import {
  type ApiObject,
  type Controller,
  createController,
  keyOf,
  type ReadonlyStore,
  watchTriggers,
} from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { waitForTarget } from "../cluster/wait-for-target.ts";
import { type OwnerKeys, watchConditionInputs } from "../conditions/owner/watch-condition-inputs.ts";
import type { Guard } from "../model/hold.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";

/**
 * How much reconciles of objects that own machines may read: see docs/project/decisions/large-fleets.md. Exported for tests.
 */
export const ownerPace = {
  /** Machines that the reconciles of one controller read per second; each costs ten to twenty microseconds. */
  costPerSecond: 2_500,
  /** Objects with no more machines than this are never delayed. */
  freeCost: 100,
  /** Maximum delay of a reconcile, milliseconds: that of a changed spec, too. */
  maxDelayMs: 5_000,
} as const;

/** Options of a controller of objects that own machines. */
export interface OwningControllerOptions<T extends ApiObject> {
  /** For logs and metrics. */
  readonly name: string;
  readonly workers: number;
  readonly store: ReadonlyStore<T>;
  /** Why its objects are not acted on. */
  readonly guards: readonly Guard<ApiObject>[];
  readonly keysOfClass: OwnerKeys["ofClass"];
  readonly keysOfMachine: OwnerKeys["ofMachine"];
  /** How many machines a reconcile of an object reads. */
  readonly machinesOf: (object: T) => number;
  readonly reconcile: Parameters<typeof createController>[0]["reconcile"];
}

/**
 * Creates a controller of objects that own machines, directly or not: it starts when all caches for their conditions are filled, and is triggered by the
 * objects themselves, by their guards and by their condition inputs. The caller adds the triggers of owned objects.
 */
export function createOwningController<T extends ApiObject>(
  context: ControllerContext,
  { name, workers, store, guards, keysOfClass, keysOfMachine, machinesOf, reconcile }: OwningControllerOptions<T>,
): Controller {
  const { caches, namespace, target, clock, random, log, conditions } = context;
  const { unreachableAfterMs } = conditions?.settings ?? defaultMachineSettings;
  const allKeys = (): readonly string[] => store.list(namespace).map(keyOf);
  const enqueueAll = (): void => {
    for (const key of allKeys()) controller.enqueue(key);
  };
  const controller = createController({
    name,
    workers,
    waitFor: [
      caches.deployments,
      caches.sets,
      caches.machines,
      caches.classes,
      ...guards.flatMap(({ waitFor = [] }) => waitFor),
      ...(target === undefined
        ? []
        : waitForTarget(context, {
            controller: name,
            caches: { nodes: target.caches.nodes },
            unreachableAfterMs,
            onRead: enqueueAll,
          })),
    ],
    allKeys,
    clock,
    random,
    log,
    reconcile,
    pace: {
      ...ownerPace,
      costOf: (key) => {
        const object = store.get(key);
        return object === undefined ? 0 : machinesOf(object);
      },
    },
  });
  watchTriggers({ store, controller, keys: (object) => [keyOf(object)] });
  for (const guard of guards) guard.onChange?.((object) => controller.enqueue(keyOf(object)));
  watchConditionInputs(context, controller, { ofClass: keysOfClass, ofMachine: keysOfMachine, all: allKeys });
  return controller;
}
