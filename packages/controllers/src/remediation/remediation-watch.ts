import { annotationKeys, labelKeys, type Machine, type MachinePhase, phaseOf } from "@millwright/core";
import { type Controller, watchTriggers } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import type { Node } from "../model/node-objects.ts";
import {
  isInFlightRemediation,
  remediationGroupOf,
  type RemediationLimit,
  remediationLimitOf,
} from "../model/remediation-budget.ts";
import { createInFlightRemediations } from "./in-flight-remediations.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import { createConnectivityWatch } from "./connectivity-watch.ts";
import { badConditionsOf, unhealthySinceOf } from "./bad-conditions.ts";
import { type NodeHistory, noHistory } from "./flapping.ts";
import { createNodeHistories } from "./node-histories.ts";
import { createOutageWatch } from "./outage-watch.ts";
import { noRemediationHold, type RemediationView } from "./remediation-view.ts";

/** What a snapshot says about the repair of a machine. */
export interface RemediationFacts {
  readonly history: NodeHistory;
  readonly remediation: RemediationView;
}

/** What is known of all machines together, as far as the repair of one depends on it. */
export interface RemediationWatch {
  /** A machine passes the gate of its group. Must be called in the turn of the event loop in which that was decided. */
  take(uid: string, group: string): void;
  /** The machine passed the gate and is not replaced after all: others may. */
  release(uid: string): void;
  read(machine: Machine, node: Node | undefined): RemediationFacts;
}

const nothingInTheWay: RemediationFacts = { history: noHistory, remediation: noRemediationHold };

/** Phases from which a machine can become Failed, or come back, by its node's health alone. */
const unhealthyPhases: ReadonlySet<MachinePhase | undefined> = new Set<MachinePhase | undefined>([
  "Unknown",
  "Failed",
  "InPlaceUpdateFailed",
  "InPlaceUpdateSuccessful",
]);

/** Phases in which a machine waits for something of its node. */
const waitingPhases: ReadonlySet<MachinePhase | undefined> = new Set([...unhealthyPhases, "Pending"]);

/** The limit for a machine: that of its deployment, else the one of the settings. */
function limitOf(
  machine: Machine,
  { caches, namespace }: ControllerContext,
  { maxInFlightRemediations }: MachineSettings,
): RemediationLimit {
  const name = machine.metadata.labels?.[labelKeys.name] ?? "";
  const deployment = caches.deployments.store.getByRef({ namespace, name });
  return remediationLimitOf(deployment, maxInFlightRemediations);
}

/** Starts to watch, and wakes machines whose replacement was held back when what held it is over. */
export function createRemediationWatch(
  context: ControllerContext,
  settings: MachineSettings,
  controller: Pick<Controller, "enqueue">,
): RemediationWatch {
  const { caches, target, clock, log, namespace } = context;
  const { store } = caches.machines;
  const permits = createInFlightRemediations();
  const keyOf = ({ metadata }: Machine): string => `${namespace}/${metadata.name}`;
  const isWaiting = (machine: Machine): boolean => unhealthyPhases.has(phaseOf(machine));
  const waitingIn = (group: string): readonly string[] => store.byIndex("group", group).filter(isWaiting).map(keyOf);
  const wake = (keys: Iterable<string>): void => {
    for (const key of keys) controller.enqueue(key, "routine");
  };
  const enqueueAll = (): void => wake(store.list().filter(isWaiting).map(keyOf));
  const wakeBlind = (): void => {
    wake(
      store
        .list()
        .filter((machine) => waitingPhases.has(phaseOf(machine)))
        .map(keyOf),
    );
  };

  const connectivity = createConnectivityWatch({
    connectivity: [caches.machines.connectivity, ...(target === undefined ? [] : [target.caches.nodes.connectivity])],
    clock,
    lostAfterMs: settings.unreachableAfterMs,
    onLost() {
      log("warn", "An API server does not answer; no machine is given up meanwhile", {});
      wakeBlind();
    },
    onRegained(lostForMs) {
      log("warn", "An API server answers again; timeouts of nodes start anew", { lostForMs: Math.round(lostForMs) });
      wakeBlind();
    },
  });
  const histories = createNodeHistories(store, clock, settings.flapWindowMs);
  const outageOf = createOutageWatch({
    machines: store,
    zoneOf: ({ spec }) =>
      spec.nodeTemplate?.metadata?.labels?.[labelKeys.zone] ??
      caches.classes.store.getByRef({ namespace, name: spec.class?.name ?? "" })?.nodeTemplate?.zone,
    rule: settings,
    clock,
    log,
    onEnd: enqueueAll,
  });

  const isGoing = (machine: Machine | undefined): boolean =>
    machine !== undefined && isInFlightRemediation(machine, settings.nodeConditions, clock.now());
  watchTriggers({
    store,
    controller,
    keys: (machine) => waitingIn(remediationGroupOf(machine)),
    when: (old, current) => isGoing(old) && !isGoing(current),
    priority: () => "routine",
  });
  watchTriggers({
    store: caches.deployments.store,
    controller,
    keys: ({ metadata }) => waitingIn(`deployment ${metadata.name}`),
    when: (old, current) =>
      old?.metadata.annotations?.[annotationKeys.maxInFlightRemediations] !==
      current?.metadata.annotations?.[annotationKeys.maxInFlightRemediations],
    priority: () => "routine",
  });
  const release = (uid: string): void => {
    const group = permits.release(uid);
    if (group !== undefined) wake(waitingIn(group));
  };
  // A permit is over when the cache shows what it was for, or that it will not be used; without it there may be room for another machine.
  store.subscribe((old, current) => {
    if (current !== undefined && phaseOf(current) !== "Failed" && isWaiting(current)) return;
    release((current ?? old)?.metadata.uid ?? "");
  });

  return {
    take: permits.take,
    release,
    read(machine, node) {
      if (target === undefined) return nothingInTheWay;
      if (phaseOf(machine) === "Pending")
        return { history: noHistory, remediation: { ...noRemediationHold, connectivity: connectivity() } };
      if (!isWaiting(machine)) return nothingInTheWay;
      const bad = node === undefined ? undefined : badConditionsOf(machine, node, settings);
      const since = node === undefined ? undefined : unhealthySinceOf(machine, node, settings);
      const history = histories.note(machine, bad?.length === 0, since);
      if (phaseOf(machine) === "Failed") return { history, remediation: noRemediationHold };
      const uid = machine.metadata.uid ?? "";
      const group = remediationGroupOf(machine);
      const peers = store.byIndex("group", group).filter(({ metadata }) => metadata.uid !== uid);
      const inFlight = permits.heldIn(group).filter((holder) => holder !== uid);
      const isInFlight = permits.holds(uid);
      const outage = outageOf(machine, clock.now().getTime());
      const remediation = {
        group,
        peers,
        inFlight,
        isInFlight,
        ...limitOf(machine, context, settings),
        outage,
        connectivity: connectivity(),
      };
      return { history, remediation };
    },
  };
}
