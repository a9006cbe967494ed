import {
  containsPlaceholder,
  labelKeys,
  type Machine,
  type ObjectMeta,
  type SecretData,
  userDataKey,
  userDataPlaceholders,
  validateMachine,
} from "@millwright/core";
import type { ControlCaches, TargetCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { Node } from "../cluster/node-objects.ts";
import type { Hold } from "../definitions/decide-hold.ts";
import type { DrainView } from "../drain/drain-view.ts";
import type { EvictionQueue } from "../drain/eviction-queue.ts";
import { observeDrain } from "../drain/observe-drain.ts";
import type { VolumeIds } from "../drain/volume-ids.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { type ResolvedClass, resolveClass } from "./class-view.ts";
import { hasId } from "./creation/coming-up.ts";
import { remedyFor, standInFor } from "./creation/stand-in-class.ts";
import type { MachineDriver } from "./driver-port.ts";
import { markedStage } from "./deletion/marked-stage.ts";
import { betterClaims } from "./node-sync/claims.ts";
import type { OperationView } from "./operations/operation.ts";
import { type DrainRulesView, drainRulesOf } from "./drain/drain-rules.ts";
import { isDraining } from "./drain/draining.ts";
import type { RepairWatch } from "./health/repair-watch.ts";
import type { Operations } from "./operations/operations.ts";
import { isDeleting } from "./phase.ts";
import type { ClassView, MachineSettings, MachineSnapshot } from "./snapshot.ts";
import type { Told } from "./told.ts";

/** Where a machine's snapshot is read from. */
export interface MachineSources {
  readonly context: ControllerContext;
  readonly operations: Operations;
  readonly told: Told;
  readonly repairs: Pick<RepairWatch, "read">;
  readonly driver: MachineDriver;
  readonly settings: MachineSettings;
  /** What is remembered of drains. */
  readonly evictions: Pick<EvictionQueue, "view">;
  readonly volumeIds: Pick<VolumeIds, "idOf" | "waitUntil">;
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

/** The node that has the machine's node name and is that of another VM. */
function findForeignNode(machine: Machine, { nodes }: TargetCaches): Node | undefined {
  const named = nodes.store.get(machine.metadata.labels?.[labelKeys.node] ?? "");
  return named === undefined || belongsTo(named, machine) ? undefined : named;
}

/** All machines that could take the node for theirs. */
function claimantsOf(node: Node, { machines }: ControlCaches): readonly Machine[] {
  const vm = node.spec?.providerID ?? "";
  return [
    ...machines.store.byIndex("node", node.metadata.name),
    ...(vm === "" ? [] : machines.store.byIndex("providerId", vm)),
  ].filter((machine) => belongsTo(node, machine));
}

/** Whether the node is that of another machine by the id of its VM, and this one has no id that says where it is: its label alone takes no node from that machine. */
function isAnothers(node: Node, machine: Machine, caches: ControlCaches): boolean {
  const vm = node.spec?.providerID ?? "";
  if (vm === "" || machine.spec.providerID === vm) return false;
  return caches.machines.store.byIndex("providerId", vm).some(({ metadata }) => metadata.uid !== machine.metadata.uid);
}

/** The class of a machine; for one that goes and has lost its own, another through which its VM can be deleted. */
function resolveFor(machine: Machine, { caches, namespace }: ControllerContext, driver: MachineDriver): ResolvedClass {
  const own = resolveClass(machine, caches, namespace, driver);
  if (own.view.state === "usable" || machine.metadata.deletionTimestamp === undefined) return own;
  const standIn = standInFor(machine, caches, namespace, driver);
  if (standIn !== undefined) return standIn;
  return { ...own, view: { ...own.view, problem: `${own.view.problem}${remedyFor(machine)}` } };
}

/** The node under whose name the driver says that the VM will join. */
function namesakeOf(operation: OperationView | undefined, target: TargetCaches | undefined): Node | undefined {
  if (operation?.state !== "done") return undefined;
  return target?.nodes.store.get(operation.result.nodeName ?? "");
}

const noRules: DrainRulesView = { rules: [] };

/** The metadata of the machine's class as it is in the cache, usable or not. */
const classOf = ({ spec }: Machine, { caches, namespace }: ControllerContext): ObjectMeta | undefined =>
  caches.classes.store.getByRef({ namespace, name: spec.class?.name ?? "" })?.metadata;

/** Reads what the drain of the machine's node looks at. A driver that cannot be asked is not waited for. */
function drainOf(
  machine: Machine,
  node: Node,
  { pods, budgets, claims, volumes, attachments }: TargetCaches,
  classView: ClassView,
  rules: DrainRulesView["rules"],
  { evictions, volumeIds }: Pick<MachineSources, "evictions" | "volumeIds">,
): DrainView {
  const provider = classView.state === "usable" ? classView.machineClass.provider : undefined;
  return observeDrain(node, machine, rules, {
    podsOn: (name) => pods.store.byIndex("node", name),
    budgetsIn: (namespace) => budgets.store.byIndex("namespace", namespace),
    claim: (namespace, name) => claims.store.getByRef({ namespace, name }),
    volume: (name) => volumes.store.get(name),
    attachmentsOf: (name) => attachments.store.byIndex("volume", name),
    podsWithClaim: (claim) => pods.store.byIndex("claim", claim),
    eviction: (uid) => evictions.view(uid),
    volumeId: (name) => (provider === undefined ? undefined : volumeIds.idOf(provider, name)),
    ...(provider === undefined ? {} : { volumeIdUntil: (name: string) => volumeIds.waitUntil(provider, name) }),
  });
}

const asksForToken = (secret: SecretData): boolean =>
  containsPlaceholder(secret[userDataKey]?.reveal() ?? "", userDataPlaceholders.bootstrapToken);

/** Reads everything that a decision about the machine looks at, from caches alone. Of no use for a decision while `resolved.unread` names secrets, or `hold` wants to be asked for. */
export function observeMachine(
  machine: Machine,
  { context, operations, told, repairs, driver, settings, evictions, volumeIds }: MachineSources,
): { readonly snapshot: MachineSnapshot; readonly resolved: ResolvedClass; readonly hold: Hold | undefined } {
  const target = context.target?.caches;
  const resolved = resolveFor(machine, context, driver);
  const found = target === undefined ? undefined : findNode(machine, target);
  // What goes with a machine must be its own.
  const isKept = found !== undefined && isDeleting(machine) && isAnothers(found, machine, context.caches);
  const node = isKept ? undefined : found;
  const drained = target !== undefined && isDraining(machine, node) ? node : undefined;
  const { rules, problem } =
    drained === undefined ? noRules : drainRulesOf(machine.metadata, classOf(machine, context));
  const deleted = isDeleting(machine) ? node : undefined;
  const operation = operations.get(machine.metadata.uid ?? "");
  const shapeProblems = shapeProblemsOf(machine);
  const hold = context.definitions?.holdOf("Machine", machine, markedStage({ machine }) !== undefined);
  const snapshot: MachineSnapshot = {
    machine,
    isReadable: shapeProblems.length === 0,
    problems: shapeProblems.length > 0 ? shapeProblems : validateMachine(machine),
    heldBy: hold?.verdict === "held" ? hold.definition : undefined,
    classView: resolved.view,
    inputs: resolved.inputs,
    hasTarget: target !== undefined,
    node,
    betterClaims: node === undefined ? [] : betterClaims(node, machine, claimantsOf(node, context.caches)),
    foreignNode: target === undefined ? undefined : findForeignNode(machine, target),
    ...repairs.read(machine, node),
    namesake: namesakeOf(operation, target),
    wantsToken: target !== undefined && !hasId(machine) && asksForToken(resolved.secret),
    drain:
      target === undefined || drained === undefined
        ? undefined
        : drainOf(machine, drained, target, resolved.view, rules, { evictions, volumeIds }),
    drainRulesProblem: problem,
    pods: deleted === undefined ? [] : (target?.pods.store.byIndex("node", deleted.metadata.name) ?? []),
    attachments: deleted === undefined ? [] : (target?.attachments.store.byIndex("node", deleted.metadata.name) ?? []),
    told: told.of(machine.metadata.uid ?? ""),
    operation,
    settings,
  };
  return { snapshot, resolved, hold };
}
