import {
  type ConnectivityView,
  type ApiClient,
  type Controller,
  nodeResource,
  watchTriggers,
  createConnectivityWatch,
  createServerProof,
  isRejection,
  type ServerProof,
} from "@millwright/kube";
import type { ResourceType } from "@millwright/base";
import { annotationKeys, labelKeys, type Machine, machineResource, phaseOf } from "@millwright/core/machine-api";
import type { ControllerContext } from "../cluster/context.ts";
import type { Live } from "../model/live.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import { unhealthyConditionsOf } from "../model/node-health.ts";
import type { Node } from "../model/node-objects.ts";
import {
  isInFlightRemediation,
  isUnhealthy,
  remediationGroupOf,
  type RemediationLimit,
  remediationLimitOf,
} from "../model/remediation-budget.ts";
import { createInFlightRemediations } from "./in-flight-remediations.ts";
import { creationDeadline, type ObservedSince } from "../model/timeouts.ts";
import { createObservedTimes } from "./observed-times.ts";
import { isDeleting } from "../model/phase.ts";
import { createNodeHistories, type NodeHistory, noHistory } from "./node-history.ts";
import { createOutageWatch } from "./outage.ts";
import { noRemediationHold, type RemediationView } from "./remediation-view.ts";

/** What a snapshot contains about the remediation of a machine. */
export interface RemediationFacts {
  readonly observed?: ObservedSince | undefined;
  readonly history: NodeHistory;
  readonly remediation: RemediationView;
}

/** What is known of all machines together, as far as the remediation of one depends on it. */
export interface RemediationWatch {
  /** Counts a machine against the budget of its group. Must be called in the turn of the event loop in which that was decided. */
  start(uid: string, group: string): void;
  /** The machine is not remediated after all: others may be. */
  cancel(uid: string): void;
  /** `isVmMissing`: the VM does not exist, whatever the node reports. Default: false. */
  read(machine: Machine, node: Node | undefined, isVmMissing?: boolean): RemediationFacts;
  /** Asks the API servers whether they respond, while timeouts depend on it. Resolves when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Whether a machine waits for something of its node. */
const waitsForNode = (machine: Machine): boolean => isUnhealthy(machine) || phaseOf(machine) === "Pending";

/** The limit for a machine: that of its deployment, else that of the settings. */
function limitOf(
  machine: Machine,
  { caches, namespace }: ControllerContext,
  { maxInFlightRemediations }: MachineSettings,
): RemediationLimit {
  const name = machine.metadata.labels?.[labelKeys.name] ?? "";
  const deployment = caches.deployments.store.getByRef({ namespace, name });
  return remediationLimitOf(deployment, maxInFlightRemediations);
}

/** Enqueues unhealthy machines whose remediation was paused or deferred when its cause is over. */
function createRequeue({ caches, namespace }: ControllerContext, controller: Pick<Controller, "enqueue">) {
  const { store } = caches.machines;
  const keyOf = ({ metadata }: Machine): string => `${namespace}/${metadata.name}`;
  const enqueue = (keys: readonly string[]): void => {
    for (const key of keys) controller.enqueue(key, "routine");
  };
  const unhealthyIn = (group: string): readonly string[] => store.byIndex("unhealthyGroup", group).map(keyOf);
  return {
    unhealthyIn,
    group: (group: string): void => enqueue(unhealthyIn(group)),
    allUnhealthy: (): void => enqueue(store.list().filter(isUnhealthy).map(keyOf)),
    allWaiting: (): void => enqueue(store.list().filter(waitsForNode).map(keyOf)),
  };
}

/** Enqueues the unhealthy machines of a group when one of its remediations ends, or when its limit changes. */
function watchBudgets(
  { caches, clock }: ControllerContext,
  settings: Live<MachineSettings>,
  controller: Pick<Controller, "enqueue">,
  unhealthyIn: (group: string) => readonly string[],
): void {
  const isInFlight = (machine: Machine | undefined): boolean =>
    machine !== undefined && isInFlightRemediation(machine, settings.current().nodeConditions, clock.now());
  watchTriggers({
    store: caches.machines.store,
    controller,
    keys: (machine) => unhealthyIn(remediationGroupOf(machine)),
    when: (old, current) => isInFlight(old) && !isInFlight(current),
    priority: () => "routine",
  });
  watchTriggers({
    store: caches.deployments.store,
    controller,
    keys: ({ metadata }) => unhealthyIn(`deployment ${metadata.name}`),
    when: (old, current) =>
      old?.metadata.annotations?.[annotationKeys.maxInFlightRemediations] !==
      current?.metadata.annotations?.[annotationKeys.maxInFlightRemediations],
    priority: () => "routine",
  });
}

/** Proofs that the API servers respond, needed while the timeout of a machine runs that its node does not end. */
function createProofs(
  { caches, control, target, namespace, clock, log }: ControllerContext,
  settings: Live<MachineSettings>,
  observedOf: (uid: string) => ObservedSince | undefined,
  enqueueWaiting: () => void,
): readonly ServerProof[] {
  if (target === undefined) return [];
  const lostAfterMs = settings.current().unreachableAfterMs;
  const hasTimeout = (machine: Machine): boolean => {
    if (isDeleting(machine) || phaseOf(machine) === "Failed") return false;
    if (isUnhealthy(machine)) return true;
    if (phaseOf(machine) !== "Pending") return false;
    // Most machines join long before: until then there is nothing to prove.
    const observed = observedOf(machine.metadata.uid ?? "");
    return (
      creationDeadline({ machine, settings: settings.current(), observed }) - 2 * lostAfterMs < clock.now().getTime()
    );
  };
  const proofOf = (
    api: Pick<ApiClient, "list">,
    type: ResourceType,
    scope: { readonly namespace?: string },
  ): ServerProof =>
    createServerProof({
      clock,
      lostAfterMs,
      isNeeded: () => caches.machines.store.list(namespace).some(hasTimeout),
      probe: (timeoutMs, signal) =>
        api.list(type, { ...scope, limit: 1, metadataOnly: true }, { timeoutMs, signal }).then(() => true, isRejection),
      onLost() {
        log("warn", "Remediation and timeouts of nodes paused: an API server does not respond", { kind: type.kind });
        enqueueWaiting();
      },
      onRegained(lostForMs) {
        const ms = Math.round(lostForMs);
        log("warn", "An API server responds again; node timeouts restart", { kind: type.kind, durationMs: ms });
        enqueueWaiting();
      },
    });
  return [proofOf(control, machineResource, { namespace }), proofOf(target.api, nodeResource, {})];
}

/** Watches the connectivity of all caches, logs its losses, and enqueues the machines whose timeouts they pause. */
function watchConnectivity(
  { caches, control, target, clock, log }: ControllerContext,
  settings: Live<MachineSettings>,
  enqueueWaiting: () => void,
  proofs: readonly ServerProof[],
): () => ConnectivityView {
  return createConnectivityWatch({
    connectivity: [caches.machines.connectivity, ...(target === undefined ? [] : [target.caches.nodes.connectivity])],
    proofs,
    clock,
    lostAfterMs: settings.current().unreachableAfterMs,
    onLost() {
      const isRejected = [control, target?.api].some((api) => (api?.rejectedForMs?.() ?? 0) > 0);
      const why = isRejected ? "rejects the credentials (401)" : "is unreachable";
      log("warn", `Remediation and timeouts of nodes paused: an API server ${why}`, {});
      enqueueWaiting();
    },
    onRegained(lostForMs) {
      log("warn", "An API server is reachable again; node timeouts restart", { durationMs: Math.round(lostForMs) });
      enqueueWaiting();
    },
  });
}

/** Starts to watch all machines for what pauses or defers remediation. */
export function createRemediationWatch(
  context: ControllerContext,
  settings: Live<MachineSettings>,
  controller: Pick<Controller, "enqueue">,
): RemediationWatch {
  const { caches, target, clock, log, namespace } = context;
  const { store } = caches.machines;
  const requeue = createRequeue(context, controller);
  const inFlight = createInFlightRemediations();
  const observedTimes = createObservedTimes(store, clock);
  const proofs = createProofs(context, settings, (uid) => observedTimes.of(uid), requeue.allWaiting);
  const connectivity = watchConnectivity(context, settings, requeue.allWaiting, proofs);
  const histories = createNodeHistories(store, clock, settings.current().flapWindowMs);
  const outageOf = createOutageWatch({
    machines: store,
    zoneOf: ({ spec }) =>
      spec.nodeTemplate?.metadata?.labels?.[labelKeys.zone] ??
      caches.classes.store.getByRef({ namespace, name: spec.class?.name ?? "" })?.nodeTemplate?.zone,
    rule: settings,
    clock,
    log,
    onEnd: requeue.allUnhealthy,
  });
  watchBudgets(context, settings, controller, requeue.unhealthyIn);
  const cancel = (uid: string): void => {
    const group = inFlight.end(uid);
    if (group !== undefined) requeue.group(group);
  };
  // A remediation is no longer in flight when the cache shows it, or shows that it will not happen; then the budget may allow another one.
  store.subscribe((old, current) => {
    if (current !== undefined && phaseOf(current) !== "Failed" && waitsForNode(current)) return;
    cancel((current ?? old)?.metadata.uid ?? "");
  });
  const remediationOf = (machine: Machine): RemediationView => {
    const uid = machine.metadata.uid ?? "";
    const group = remediationGroupOf(machine);
    return {
      group,
      peers: store.byIndex("group", group).filter(({ metadata }) => metadata.uid !== uid),
      inFlight: inFlight.inGroup(group).filter((other) => other !== uid),
      isInFlight: inFlight.has(uid),
      ...limitOf(machine, context, settings.current()),
      outage: outageOf(machine, clock.now().getTime()),
      connectivity: connectivity(),
    };
  };

  return {
    start: inFlight.start,
    cancel,
    run: async (signal) => void (await Promise.all(proofs.map((proof) => proof.run(signal)))),
    read(machine, node, isVmMissing = false) {
      const observed = observedTimes.of(machine.metadata.uid ?? "");
      const noFacts: RemediationFacts = { observed, history: noHistory, remediation: noRemediationHold };
      if (target === undefined) return noFacts;
      if (phaseOf(machine) === "Pending") {
        // The budget is computed from all machines of the group: only when it is needed, which is decided a moment later.
        const isOverdue =
          creationDeadline({ machine, settings: settings.current(), observed }) < clock.now().getTime() + 1_000;
        const remediation = isOverdue
          ? remediationOf(machine)
          : {
              ...noRemediationHold,
              isInFlight: inFlight.has(machine.metadata.uid ?? ""),
              connectivity: connectivity(),
            };
        return { ...noFacts, remediation };
      }
      if (!isUnhealthy(machine)) return noFacts;
      const unhealthy = node === undefined ? undefined : unhealthyConditionsOf(machine, node, settings.current());
      const history = histories.record(machine, unhealthy?.length === 0 && !isVmMissing);
      if (phaseOf(machine) === "Failed") return { ...noFacts, history };
      return { observed, history, remediation: remediationOf(machine) };
    },
  };
}
