import type { Machine, MachineStatus } from "@millwright/core";
import { type Controller, createController, keyOf, watchTriggers, keyFields } from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { waitForTarget } from "../cluster/unread-target.ts";
import { createDrainInterests } from "../drain/drain-interests.ts";
import { createEvictionQueue } from "../drain/eviction-queue.ts";
import { createPodKnowledge } from "../drain/known-pods.ts";
import { createObservedDrains } from "../drain/observed-drains.ts";
import { createVolumeIds } from "../drain/volume-ids.ts";
import { createMachineExecutor } from "./act.ts";
import { decideMachine } from "./decide.ts";
import type { MachineAction, MachineDecision } from "./state/decision.ts";
import { isDrainCarriedOut } from "./deletion/drain-carried-out.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";
import { handOverStatus } from "./deletion/hand-over.ts";
import { interruptedDeletion, interruption } from "./deletion/interrupted.ts";
import { createMachineProtection, watchProtection } from "./deletion/owner-protection.ts";
import { mayNeedFallbackClass } from "./deletion/fallback-class.ts";
import { isClassChange, isSecretChange } from "../cluster/class-view.ts";
import type { BudgetVerdict } from "../model/deletion-budget.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import { createRemediationWatch } from "../remediation/remediation-watch.ts";
import { wireClaims } from "./claim-triggers.ts";
import { observeMachine } from "./observe.ts";
import { createOperations, type Operations } from "./operations/operations.ts";
import { reportCircuits } from "./operations/report-circuits.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import { isDeleting } from "../model/phase.ts";
import { createMachineStatusWriter } from "./status-writer.ts";
import { statusWithConditions, wireUpToDate } from "./store-conditions.ts";
import { wireTargetCluster } from "./target-triggers.ts";
import type { VmOwners } from "../model/vm-holder.ts";
import type { MissingVms } from "../vm-lists/missing-vms.ts";
import { createNodeReads } from "./state/node-reads.ts";
import { createReportedProblems } from "./state/reported-problems.ts";

/** The controller of machines and its driver calls. */
export interface MachineController {
  readonly controller: Controller;
  readonly operations: Operations;
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
  readonly settings: MachineSettings;
  readonly workers: number;
  /** Whether scale-down by the cluster-autoscaler is disabled on the nodes of a rollout. Default: `true`. */
  readonly disablesScaleDown?: boolean;
  /** Wraps what starts driver calls. Default: they are started. */
  readonly wrapOperations?: (operations: Operations) => Operations;
}

/** Whether more has to be read before a decision. */
const isIncomplete = (seen: ReturnType<typeof observeMachine>): boolean =>
  seen.resolved.unread.length > 0 ||
  seen.isClassUnchecked ||
  seen.deletionVerdict?.verdict === "unknown" ||
  seen.protected.state === "unknown";

/** Enters the deletion of a machine that begins now. */
function enterDeletion(
  budget: ControllerContext["deletionBudget"],
  { machine, pausedBy, protectedBy }: MachineSnapshot,
  verdict: BudgetVerdict | undefined,
): void {
  if (verdict?.verdict === "proceed" && pausedBy === undefined && protectedBy === undefined)
    budget?.enter(machine, verdict.cause, verdict.isApproved);
}

/** Maximum number of reads when the Secrets change while they are read. */
const MAX_READS = 3;

/** Makes the controller of Machines: one VM per machine, from creation to the last finalizer. */
export function createMachineController(
  context: ControllerContext,
  {
    driver,
    missingVms,
    vmOwners,
    settings,
    workers,
    disablesScaleDown,
    wrapOperations = (all) => all,
  }: MachineControllerOptions,
): MachineController {
  const { caches, target, clock, namespace, deletionBudget } = context;
  const limits = {
    get perGroup() {
      return settings.maxConcurrentCreationsPerClass;
    },
    get inAll() {
      return settings.maxConcurrentCreations;
    },
    get exhaustedRetryMs() {
      return settings.resourceExhaustedRetryMs;
    },
  };
  const operations = wrapOperations(createOperations(clock, limits, reportCircuits(context)));
  const reported = createReportedProblems();
  const nodeReads = createNodeReads(clock);
  const protection = createMachineProtection(context);
  const interests = createDrainInterests();
  const volumeIds = createVolumeIds(clock);
  const evictions =
    target === undefined ? undefined : createEvictionQueue({ api: target.api, clock, random: context.random });
  const podKnowledge = target === undefined ? undefined : createPodKnowledge(target.caches.pods);
  const observedDrains = createObservedDrains(clock);
  const keyOfName = (name: string): string => `${namespace}/${name}`;
  const executor = createMachineExecutor(context, {
    operations,
    driver,
    settings,
    remediations: { start: (uid, group) => remediations.start(uid, group), cancel: (uid) => remediations.cancel(uid) },
    evictions,
    volumeIds,
    podKnowledge,
    nodeReads,
    enqueue: (machine) => controller.enqueue(keyOfName(machine.metadata.name)),
  });

  const statuses = createMachineStatusWriter(clock, executor.machines, caches.machines.store);

  const observe = (key: string): ReturnType<typeof observeMachine> | undefined => {
    const machine = caches.machines.store.get(key);
    return machine === undefined
      ? undefined
      : observeMachine(machine, {
          context,
          operations,
          reported,
          nodeReads,
          remediations,
          driver,
          protection,
          missingVms,
          vmOwners,
          settings,
          disablesScaleDown,
          evictions: evictions ?? noEvictions,
          volumeIds,
          podKnowledge,
          observedDrains,
        });
  };

  /** Records what is known of the machine's drain; `undefined`: there is no machine. */
  const noteDrain = (key: string, snapshot: MachineSnapshot | undefined): void => {
    interests.note(key, snapshot?.drain);
    podKnowledge?.note(key, snapshot?.drain?.node);
    observedDrains.note(key, isDrainCarriedOut(snapshot));
  };

  const isUnchanged = ({ metadata }: Machine): boolean =>
    caches.machines.store.getByRef(metadata)?.metadata.resourceVersion === metadata.resourceVersion;

  /** Reads what a decision lacks. */
  const readMissing = async (seen: ReturnType<typeof observeMachine>): Promise<void> => {
    await caches.secrets.read(seen.resolved.unread);
    if (seen.isClassUnchecked) await context.classChecks?.check(seen.resolved);
    if (seen.deletionVerdict?.verdict === "unknown") await context.crdGuard?.refresh("Machine", seen.snapshot.machine);
    if (seen.protected.state === "unknown") await protection.refresh(seen.snapshot.machine);
  };

  const controller = createController({
    name: "machine",
    workers,
    waitFor: [
      caches.machines,
      caches.sets,
      caches.deployments,
      caches.classes,
      caches.secrets,
      ...(context.crdGuard === undefined ? [] : [context.crdGuard]),
      ...(target === undefined
        ? []
        : waitForTarget(context, {
            controller: "machine",
            caches: target.caches,
            unreachableAfterMs: settings.unreachableAfterMs,
            onRead() {
              for (const machine of caches.machines.store.list(namespace)) controller.enqueue(keyOf(machine));
            },
          })),
    ],
    allKeys: () => caches.machines.store.list(namespace).map(keyOf),
    clock,
    random: context.random,
    log: context.log,
    reconcile: async (key) => {
      let seen = observe(key);
      for (let reads = 0; seen !== undefined && isIncomplete(seen); reads++) {
        if (reads === MAX_READS)
          throw new Error(
            "Secrets of the MachineClass, or CustomResourceDefinitions, change faster than they can be read",
          );
        await readMissing(seen);
        // Observed and decided in one turn of the event loop: otherwise two machines could use the same remediation budget.
        seen = observe(key);
      }
      noteDrain(key, seen?.snapshot);
      if (seen === undefined) return { done: true };
      const { snapshot, resolved } = seen;
      const { machine } = snapshot;
      const decision = decideMachine(snapshot, clock.now());
      const statusAfter = (status: MachineStatus | undefined): MachineStatus | undefined =>
        statusWithConditions(context, snapshot, status, clock.now());
      // With its actions: a driver call whose outcome is not stored must not be acknowledged.
      const waitMs = statuses.waitMs(machine, () => statusAfter(decision.status));
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      enterDeletion(deletionBudget, snapshot, seen.budgetVerdict);
      const subject = { object: machine, writer: statuses, events: context.events, log: context.log };
      let failing: MachineAction | undefined;
      const act = async (action: MachineAction): Promise<void> => {
        failing = action;
        await executor.act(machine, resolved, action);
        failing = undefined;
      };
      const result = await carryOut(decision, act, { ...subject, statusAfter }).catch(async (error: unknown) => {
        const why = isDeleting(machine) ? interruption(error, failing) : undefined;
        if (why !== undefined) {
          const reported = interruptedDeletion(snapshot, decision, why, clock.now());
          await carryOut(reported, act, subject).catch(() => undefined);
        }
        throw error;
      });
      // Another process may have written the same: then no event of the writes brings the machine back.
      if (acknowledgeStored(operations, snapshot, decision) && isUnchanged(machine)) controller.enqueue(key);
      reported.record(machine.metadata.uid ?? "", decision.because);
      return result;
    },
  });

  const handOverMachine = async (key: string): Promise<void> => {
    const seen = observe(key);
    if (seen === undefined || seen.deletionVerdict?.verdict === "unknown") return;
    const status = handOverStatus(seen.snapshot, clock.now());
    if (status === undefined) return;
    await statuses
      .writeStatus(seen.snapshot.machine, status)
      .catch((error: unknown) =>
        context.log("warn", "Failed to mark a machine as Terminating", { ...keyFields(key), error }),
      );
  };

  const remediations = createRemediationWatch(context, settings, controller);
  wireControlCluster(context, controller, [operations, reported, nodeReads, protection, statuses]);
  watchProtection(context, (machine) => controller.enqueue(keyOf(machine)));
  wireClaims(caches, controller);
  deletionBudget?.onChange((machine) => controller.enqueue(keyOf(machine)));
  missingVms?.onChange((key) => controller.enqueue(key));
  wireUpToDate(caches, controller);
  vmOwners?.onChange((key) => controller.enqueue(key));
  if (target !== undefined && evictions !== undefined)
    wireTargetCluster(context, target.caches, controller, { interests, evictions, volumeIds });
  return {
    controller: {
      ...controller,
      start: async (signal) => void (await Promise.all([controller.start(signal), remediations.run(signal)])),
    },
    operations,
    pendingEvictions: () => evictions?.depth ?? 0,
    async handOver() {
      const terminating = caches.machines.store.list(namespace).filter(isDeleting);
      await Promise.all(terminating.map((machine) => handOverMachine(keyOf(machine))));
    },
    async close() {
      await Promise.all([operations.close(), volumeIds.close(), evictions?.close()]);
    },
  };
}

/**
 * Acknowledges the outcome of a driver call that the writes of a decision have stored. Before the status is stored, the driver would be called again for what is known.
 *
 * @returns whether the next decision does not see the call any more
 */
function acknowledgeStored(
  operations: Operations,
  { machine, operation }: MachineSnapshot,
  { actions }: MachineDecision,
): boolean {
  if (!actions.some(({ kind }) => kind === "AcknowledgeOperation")) return false;
  operations.acknowledge(machine.metadata.uid ?? "", operation);
  return operation?.state === "done";
}

/** Without a target cluster no pod is evicted. */
const noEvictions = { view: () => undefined };

/** Enqueues machines when they, their classes or the secrets of their classes change. */
function wireControlCluster(
  { caches, namespace, crdGuard }: ControllerContext,
  controller: Controller,
  memories: readonly { forget(uid: string): void }[],
): void {
  // A machine may be deleted through a fallback class.
  const keysOfClass = (name: string): string[] =>
    [
      ...caches.machines.store.byIndex("class", name),
      ...caches.machines.store.list(namespace).filter(mayNeedFallbackClass),
    ].map(keyOf);
  watchTriggers({
    store: caches.machines.store,
    controller,
    keys: ({ metadata }) => [`${namespace}/${metadata.name}`],
  });
  caches.machines.store.subscribe((old, current) => {
    if (current !== undefined || old?.metadata.uid === undefined) return;
    for (const memory of memories) memory.forget(old.metadata.uid);
  });
  crdGuard?.onChange(() => {
    for (const machine of caches.machines.store.list(namespace))
      if (machine.metadata.deletionTimestamp !== undefined) controller.enqueue(keyOf(machine));
  });
  watchTriggers({
    store: caches.classes.store,
    controller,
    when: isClassChange,
    keys: ({ metadata }) => keysOfClass(metadata.name),
  });
  watchTriggers({
    store: caches.secrets.store,
    controller,
    when: isSecretChange,
    keys: ({ metadata }) =>
      caches.classes.store
        .byIndex("secret", metadata.name)
        .flatMap((machineClass) => keysOfClass(machineClass.metadata.name)),
  });
}
