import { isDeepStrictEqual } from "node:util";
import {
  controllerOf,
  labelKeys,
  type MachineDeployment,
  type MachineSet,
  type MachineStatus,
} from "@millwright/core/machine-api";
import { type Controller, keyOf, watchTriggers } from "@millwright/kube";
import type { ControlCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { ownersOfMachine } from "../cluster/owners-of-machine.ts";
import { withStoredConditions } from "../conditions/machine/stored-conditions.ts";
import { isInitializationDue } from "../model/initialization.ts";
import { isSameTemplate } from "../model/template-hash.ts";
import { statusOf } from "../model/status-change.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

/**
 * The status of a machine with its stored conditions, once the actions of a decision are done.
 *
 * @param decided the status of the decision, if it has one
 */
export function statusWithConditions(
  context: ControllerContext,
  snapshot: MachineSnapshot,
  decided: MachineStatus | undefined,
  now: Date,
): MachineStatus | undefined {
  const { caches, namespace } = context;
  // The actions may have stored the id of the VM, or have removed the last finalizer.
  const machine = caches.machines.store.getByRef({ namespace, name: snapshot.machine.metadata.name });
  if (machine === undefined || machine.metadata.uid !== snapshot.machine.metadata.uid || !snapshot.isReadable)
    return decided;
  const status = decided ?? statusOf(snapshot.machine);
  const { set, deployment } = ownersOfMachine(machine, context);
  const written = { ...machine, status };
  const facts = {
    machine: written,
    ...(set === undefined ? {} : { set }),
    ...(deployment === undefined ? {} : { deployment }),
    hasTarget: snapshot.hasTarget,
    isTargetReachable: true,
    // The copies in the status are judged: a flapping node changes these when it is stable, and not at each flap.
    node: "unread" as const,
    hasClass: caches.classes.store.getByRef({ namespace, name: machine.spec.class?.name ?? "" }) !== undefined,
    settings: snapshot.settings,
    areEnabled: context.conditions?.clusterApi !== false,
    isInitializationDue: isInitializationDue(written, snapshot.operation),
  };
  const isWritten = decided !== undefined && !isDeepStrictEqual(decided, snapshot.machine.status);
  const updated = withStoredConditions(facts, status, isWritten, now);
  return updated === status ? decided : updated;
}

type WithTemplate = MachineSet | MachineDeployment;

const isChanged = (old: WithTemplate | undefined, current: WithTemplate | undefined): boolean =>
  old === undefined ||
  current === undefined ||
  controllerOf(old)?.uid !== controllerOf(current)?.uid ||
  !isSameTemplate(old.spec.template, current.spec.template, labelKeys.machineTemplateHash);

/** Enqueues the machines of sets and deployments whose templates change: they are not up to date any more, or again. */
export function wireUpToDate({ sets, machines, deployments }: ControlCaches, controller: Controller): void {
  const keysOfSet = ({ metadata }: MachineSet): readonly string[] =>
    machines.store.byIndex("owner", metadata.uid ?? "").map(keyOf);
  watchTriggers({ store: sets.store, controller, when: isChanged, keys: keysOfSet });
  watchTriggers({
    store: deployments.store,
    controller,
    when: isChanged,
    keys: ({ metadata }) => sets.store.byIndex("owner", metadata.uid ?? "").flatMap(keysOfSet),
  });
}
