import { labelKeys, type Machine, validateMachine } from "@millwright/core";
import type { TargetCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { Node } from "../cluster/node-objects.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { type ResolvedClass, resolveClass } from "./class-view.ts";
import type { MachineDriver } from "./driver-port.ts";
import { isDraining } from "./draining.ts";
import type { Operations } from "./operations.ts";
import type { MachineSettings, MachineSnapshot } from "./snapshot.ts";
import type { Told } from "./told.ts";

/** Where a machine's snapshot is read from. */
export interface MachineSources {
  readonly context: ControllerContext;
  readonly operations: Operations;
  readonly told: Told;
  readonly driver: MachineDriver;
  readonly settings: MachineSettings;
}

/** A node of the same name that belongs to another VM is not the machine's (machine-controller.md, F35). */
const belongsTo = (node: Node, machine: Machine): boolean => {
  const vm = machine.spec.providerID ?? "";
  const its = node.spec?.providerID ?? "";
  return vm === "" || its === "" || vm === its;
};

/** The node of a machine: by the label that was stored, else by provider id, else by the name that we put on the node. */
function findNode(machine: Machine, { nodes }: TargetCaches): Node | undefined {
  const named = nodes.store.get(machine.metadata.labels?.[labelKeys.node] ?? "");
  const vm = machine.spec.providerID ?? "";
  const candidates = [
    ...(named === undefined ? [] : [named]),
    ...(vm === "" ? [] : nodes.store.byIndex("providerId", vm)),
    ...nodes.store.byIndex("machine", machine.metadata.name),
  ];
  return candidates.find((node) => belongsTo(node, machine));
}

/** Reads everything that a decision about the machine looks at, from caches alone. */
export function observeMachine(
  machine: Machine,
  { context, operations, told, driver, settings }: MachineSources,
): { readonly snapshot: MachineSnapshot; readonly resolved: ResolvedClass } {
  const target = context.target?.caches;
  const resolved = resolveClass(machine, context.caches, context.namespace, driver);
  const node = target === undefined ? undefined : findNode(machine, target);
  const isDrained = target !== undefined && node !== undefined && isDraining(machine, node);
  const shapeProblems = shapeProblemsOf(machine);
  const snapshot: MachineSnapshot = {
    machine,
    isReadable: shapeProblems.length === 0,
    problems: shapeProblems.length > 0 ? shapeProblems : validateMachine(machine),
    classView: resolved.view,
    inputs: resolved.inputs,
    hasTarget: target !== undefined,
    node,
    pods: isDrained ? target.pods.store.byIndex("node", node.metadata.name) : [],
    attachments: isDrained ? target.attachments.store.byIndex("node", node.metadata.name) : [],
    told: told.of(machine.metadata.uid ?? ""),
    operation: operations.get(machine.metadata.uid ?? ""),
    settings,
  };
  return { snapshot, resolved };
}
