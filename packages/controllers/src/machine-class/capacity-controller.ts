import { wallTimeOf } from "@millwright/base";
import { MachineError } from "@millwright/core";
import {
  annotationKeys,
  type MachineClass,
  machineClassResource,
  type NodeTemplate,
} from "@millwright/core/machine-api";
import { type Controller, createController, createMergePatch, messageOf } from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { createControlWriter } from "../cluster/control-writer.ts";
import { resolveNamedClass } from "../cluster/class-view.ts";
import { watchClasses } from "../cluster/watch-classes.ts";
import type { CapacityDriver } from "./capacity-driver.ts";
import { capacityVersionOf, markFor } from "./capacity-mark.ts";
import { createCapacityLookups } from "./capacity-lookups.ts";
import { type CapacityAction, decideCapacity } from "./decide-capacity.ts";
import { secretNamesOf } from "../model/class-references.ts";

/** The controller of capacities and its driver lookups. */
export interface CapacityController {
  readonly controller: Controller;
  /** Aborts lookups; resolves when they have ended. */
  close(): Promise<void>;
}

/** The patch of annotation and template; requires the version of the class that was read, so that no concurrent change is lost. */
function patchFor(machineClass: MachineClass, nodeTemplate: NodeTemplate | undefined, mark: string | null): object {
  const { resourceVersion } = machineClass.metadata;
  const template =
    nodeTemplate === undefined
      ? undefined
      : createMergePatch({ nodeTemplate: machineClass.nodeTemplate }, { nodeTemplate });
  return {
    ...template,
    metadata: {
      annotations: { [annotationKeys.filledNodeTemplate]: mark },
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}

/**
 * Makes the controller that sets the `nodeTemplate` of classes without one, for drivers that can determine it: the cluster-autoscaler needs it
 * to scale up from zero nodes.
 */
export function createCapacityController(context: ControllerContext, driver: CapacityDriver): CapacityController {
  const { caches, namespace, clock, log, events } = context;
  const lookups = createCapacityLookups(clock);
  const { store } = caches.classes;
  const writer = createControlWriter(context, machineClassResource, store);
  /** By the monotonic clock. */
  const filled = new Map<string, { readonly version: string; readonly atMs: number }>();
  const keyOf = (name: string): string => `${namespace}/${name}`;

  /** The inputs of a lookup, including secrets; a result for other inputs is obsolete. */
  const inputsOf = (machineClass: MachineClass): string =>
    JSON.stringify([
      capacityVersionOf(machineClass),
      ...secretNamesOf(machineClass).map((name) => caches.secrets.store.getByRef({ namespace, name })?.digest ?? null),
    ]);

  /** Looks up with the current values of the secrets. */
  const lookup = async (machineClass: MachineClass, signal: AbortSignal): ReturnType<CapacityDriver["capacityOf"]> => {
    const { name } = machineClass.metadata;
    const failWith = (code: "FailedPrecondition" | "Unavailable", message: string) =>
      ({ ok: false, error: new MachineError(code, message) }) as const;
    try {
      await caches.secrets.read(secretNamesOf(machineClass));
    } catch (error) {
      return failWith("Unavailable", `failed to read the Secrets of MachineClass "${name}": ${messageOf(error)}`);
    }
    const { view, secret } = resolveNamedClass(name, caches, namespace, driver);
    if (view.state === "unusable") return failWith("FailedPrecondition", view.problem);
    return driver.capacityOf({ machineClass, secret }, signal);
  };

  const lookUp = (machineClass: MachineClass): void => {
    const { name, uid = "" } = machineClass.metadata;
    lookups.start(uid, {
      inputs: inputsOf(machineClass),
      lookUp: (signal) => lookup(machineClass, signal),
      enqueue: () => controller.enqueue(keyOf(name)),
    });
  };

  const act = async (machineClass: MachineClass, action: CapacityAction): Promise<void> => {
    const { name, uid = "" } = machineClass.metadata;
    switch (action.kind) {
      case "LookUpCapacity":
        return lookUp(machineClass);
      case "RemoveMark":
        return writer.patch({ namespace, name }, patchFor(machineClass, undefined, null));
      case "Fill": {
        const version = capacityVersionOf(machineClass);
        const mark = markFor(version, action.nodeTemplate);
        await writer.patch({ namespace, name }, patchFor(machineClass, action.nodeTemplate, mark));
        filled.set(uid, { version, atMs: clock.monotonicMs() });
      }
    }
  };

  const controller = createController({
    name: "machine-class-capacity",
    workers: 1,
    waitFor: [caches.classes, caches.secrets],
    allKeys: () => store.list(namespace).map(({ metadata }) => keyOf(metadata.name)),
    clock,
    random: context.random,
    log,
    reconcile: async (key) => {
      const machineClass = store.get(key);
      if (machineClass === undefined) return { done: true };
      const { name, uid = "" } = machineClass.metadata;
      const { view, unread } = resolveNamedClass(name, caches, namespace, driver);
      const fill = filled.get(uid);
      const snapshot = {
        machineClass,
        isSupported: driver.reportsCapacity(machineClass),
        isResolvable: view.state === "usable" || unread.length > 0,
        answer: lookups.answerTo(uid, inputsOf(machineClass)),
        filled: fill === undefined ? undefined : { version: fill.version, at: wallTimeOf(clock, fill.atMs) },
      };
      const decision = decideCapacity(snapshot, clock.now());
      const result = await carryOut(decision, (action) => act(machineClass, action), {
        object: machineClass,
        writer,
        events,
        log,
      });
      if (decision.because.length > 0) lookups.markReported(uid);
      return result;
    },
  });

  watchClasses(caches, controller, (name) => [keyOf(name)]);
  store.subscribe((old, current) => {
    const uid = old?.metadata.uid;
    if (uid === undefined || uid === current?.metadata.uid) return;
    lookups.forget(uid);
    filled.delete(uid);
  });
  return { controller, close: () => lookups.close() };
}
