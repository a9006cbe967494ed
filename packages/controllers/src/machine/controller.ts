import type { Machine } from "@millwright/core/machine-api";
import { type Controller, createController, keyFields, keyOf } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { waitForTarget } from "../cluster/wait-for-target.ts";
import { machineGuards } from "../guards/machine-guards.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import type { Guard } from "../model/hold.ts";
import type { Live } from "../model/live.ts";
import type { OperationView } from "../model/operation.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import { isDeleting } from "../model/phase.ts";
import type { VmOwners } from "../model/vm-holder.ts";
import { createRemediationWatch } from "../remediation/remediation-watch.ts";
import type { MissingVms } from "../vm-lists/missing-vms.ts";
import { createMachineExecutor } from "./act.ts";
import { wireClaims } from "./claim-triggers.ts";
import { wireControlCluster } from "./control-triggers.ts";
import { handOverStatus } from "./deletion/hand-over.ts";
import { createMachineMemory, type MachineMemory } from "./memory.ts";
import { observeMachine, vmHolderOf } from "./observe.ts";
import type { Operations } from "./operations/operations.ts";
import { type MachineReconciler, reconcileMachine } from "./reconcile.ts";
import { createMachineStatusWriter } from "./status-writer.ts";
import { wireUpToDate } from "./store-conditions.ts";
import { wireTargetCluster } from "./target-triggers.ts";

/** The controller of machines and its driver calls. */
export interface MachineController {
  readonly controller: Controller;
  readonly operations: Operations;
  /** Why Machines are not acted on, in the order in which it applies. */
  readonly guards: readonly Guard<Machine>[];
  /** Evictions and deletions of pods that the API server has not answered, over all drains. */
  readonly pendingEvictions: () => number;
  /** Leaves machines that are being deleted to the next process, which may be MCM: all are Terminating. To be called after all controllers have stopped. */
  handOver(): Promise<void>;
  /** Aborts driver calls and sends no more evictions; resolves when all calls have ended. */
  close(): Promise<void>;
}

/** Options of {@link createMachineController}, besides the shared context. */
export interface MachineControllerOptions {
  readonly driver: MachineDriver;
  /** Default: nothing lists VMs, and a VM that was deleted in the cloud is noticed by its node. */
  readonly missingVms?: MissingVms;
  /** Default: of Machines that name one VM, the older one keeps it, unless its id or node shows for which it was created. */
  readonly vmOwners?: VmOwners;
  /** May be replaced while the controller runs: each reconcile reads the current ones. */
  readonly settings: Live<MachineSettings>;
  readonly workers: number;
  /** Whether scale-down by the cluster-autoscaler is disabled on the nodes of a rollout. Default: `true`. */
  readonly disablesScaleDown?: boolean;
  /** Wraps what starts driver calls. Default: they are started. */
  readonly wrapOperations?: (operations: Operations) => Operations;
}

/** The caches that must have their first lists. */
function cachesOf(
  context: ControllerContext,
  guards: MachineReconciler["guards"],
  unreachableAfterMs: number,
  onRead: () => void,
): Parameters<typeof createController>[0]["waitFor"] {
  const { caches, target } = context;
  const ofTarget = target === undefined ? undefined : { controller: "machine", caches: target.caches };
  return [
    caches.machines,
    caches.sets,
    caches.deployments,
    caches.classes,
    caches.secrets,
    ...guards.flatMap(({ waitFor = [] }) => waitFor),
    ...(ofTarget === undefined ? [] : waitForTarget(context, { ...ofTarget, unreachableAfterMs, onRead })),
  ];
}

/** Enqueues machines when what their reconcile reads changes. */
function wireTriggers(
  context: ControllerContext,
  controller: Controller,
  { guards, memory, statuses }: Pick<MachineReconciler, "guards" | "memory" | "statuses">,
  { missingVms }: Pick<MachineControllerOptions, "missingVms">,
): void {
  const { caches, target } = context;
  const { operations, reported, nodeReads, restoredTaints, interests, evictions, volumeIds } = memory;
  wireControlCluster(context, controller, [operations, reported, nodeReads, restoredTaints, ...guards, statuses]);
  for (const guard of guards) guard.onChange?.((machine) => controller.enqueue(keyOf(machine)));
  wireClaims(caches, controller);
  missingVms?.onChange((key) => controller.enqueue(key));
  wireUpToDate(caches, controller);
  if (target !== undefined && evictions !== undefined)
    wireTargetCluster(context, target.caches, controller, { interests, evictions, volumeIds });
}

/** Marks a machine as Terminating, unless a hold keeps its phase. */
async function handOverMachine(
  key: string,
  { context, observe, statuses }: Pick<MachineReconciler, "context" | "observe" | "statuses">,
): Promise<void> {
  const seen = observe(key);
  if (seen === undefined || seen.missing.some(({ mayKeepPhase }) => mayKeepPhase === true)) return;
  const status = handOverStatus(seen.snapshot, context.clock.now());
  if (status === undefined) return;
  await statuses
    .writeStatus(seen.snapshot.machine, status)
    .catch((error: unknown) =>
      context.log("warn", "Failed to mark a machine as Terminating", { ...keyFields(key), error }),
    );
}

/** Makes the controller of Machines: one VM per machine, from creation to the last finalizer. */
export function createMachineController(
  context: ControllerContext,
  options: MachineControllerOptions,
): MachineController {
  const { driver, settings, workers, vmOwners, wrapOperations = (all) => all } = options;
  const { caches, namespace, clock, random, log } = context;
  const memory: MachineMemory = createMachineMemory(context, settings, wrapOperations);
  let made: Controller | undefined;
  // What changes before the controller exists needs no key: it starts with all of them.
  const enqueue: Controller["enqueue"] = (...request) => made?.enqueue(...request);
  const remediations = createRemediationWatch(context, settings, { enqueue });
  const executor = createMachineExecutor(context, {
    ...memory,
    driver,
    settings,
    remediations,
    enqueue: ({ metadata }) => enqueue(`${namespace}/${metadata.name}`),
  });
  const statuses = createMachineStatusWriter(clock, executor.machines, caches.machines.store);
  const operationOf = (uid: string): OperationView | undefined => memory.operations.get(uid);
  const guards = machineGuards(context, {
    operationOf,
    holderOf: (machine) => vmHolderOf(machine, operationOf(machine.metadata.uid ?? ""), { context, vmOwners }),
    vmOwners,
  });
  const sources = { ...options, ...memory, context, guards, remediations };
  const reconciler: MachineReconciler = {
    context,
    observe(key) {
      const machine = caches.machines.store.get(key);
      return machine === undefined ? undefined : observeMachine(machine, { ...sources, settings: settings.current() });
    },
    guards,
    memory,
    executor,
    statuses,
    enqueue,
  };
  const allKeys = (): string[] => caches.machines.store.list(namespace).map(keyOf);
  const controller = createController({
    name: "machine",
    workers,
    waitFor: cachesOf(context, guards, settings.current().unreachableAfterMs, () => {
      for (const key of allKeys()) enqueue(key);
    }),
    allKeys,
    clock,
    random,
    log,
    reconcile: (key) => reconcileMachine(key, reconciler),
  });
  made = controller;
  wireTriggers(context, controller, reconciler, options);
  return {
    controller: {
      ...controller,
      start: async (signal) => void (await Promise.all([controller.start(signal), remediations.run(signal)])),
    },
    operations: memory.operations,
    guards,
    pendingEvictions: () => memory.evictions?.depth ?? 0,
    async handOver() {
      const terminating = caches.machines.store.list(namespace).filter(isDeleting);
      await Promise.all(terminating.map((machine) => handOverMachine(keyOf(machine), reconciler)));
    },
    close: memory.close,
  };
}
