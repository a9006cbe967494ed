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
import type { TargetCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { createMatchNode, findNode, machinesMatching } from "../cluster/node-candidates.ts";
import { isTargetUnread } from "../cluster/unread-target.ts";
import { type FoundNode, type MatchNode } from "../model/pick-node.ts";
import type { Node } from "../model/node-objects.ts";
import type { BudgetVerdict } from "../model/deletion-budget.ts";
import type { DeletionVerdict } from "../model/crd-guard.ts";
import type { DrainView } from "../drain/drain-view.ts";
import type { EvictionQueue } from "../drain/eviction-queue.ts";
import { observeDrain } from "../drain/observe-drain.ts";
import type { PodKnowledge } from "../drain/known-pods.ts";
import type { ObservedDrains } from "../drain/observed-drains.ts";
import type { VolumeIds } from "../drain/volume-ids.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { isUnchecked, withVerdict } from "../cluster/class-checks.ts";
import { type ResolvedClass, resolveClass } from "../cluster/class-view.ts";
import { hasId } from "../model/provisioning.ts";
import { claimedVm, type VmHolder, type VmOwners } from "../model/vm-holder.ts";
import { findVmHolder } from "../cluster/find-vm-holder.ts";
import type { MachineProtection, ProtectionView } from "./deletion/owner-protection.ts";
import { remedyFor, fallbackClassFor } from "./deletion/fallback-class.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import { markedStage } from "../model/marked-stage.ts";
import { joinsInRollout } from "./node-sync/kept-from-scaler.ts";
import { competingMachines } from "./node-sync/competing-machines.ts";
import { belongsToOther, otherMachineOf } from "./node-sync/other-owner.ts";
import type { OperationView } from "../model/operation.ts";
import { type DrainRulesView, drainRulesOf } from "./drain/drain-rules.ts";
import { isDraining } from "./drain/draining.ts";
import type { RemediationWatch } from "../remediation/remediation-watch.ts";
import type { Operations } from "./operations/operations.ts";
import type { MissingVms } from "../vm-lists/missing-vms.ts";
import { isDeleting } from "../model/phase.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";
import type { MatchedNode } from "../model/pick-node.ts";
import type { ClassView } from "../cluster/class-view.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import type { NodeReads } from "./state/node-reads.ts";
import type { ReportedStates } from "./state/reported-problems.ts";

/** Sources of a machine's snapshot. */
export interface MachineSources {
  readonly context: ControllerContext;
  readonly operations: Operations;
  readonly reported: ReportedStates;
  readonly nodeReads: Pick<NodeReads, "isRecent">;
  readonly remediations: Pick<RemediationWatch, "read">;
  readonly driver: MachineDriver;
  readonly protection: Pick<MachineProtection, "of">;
  /** Absent: nothing lists VMs. */
  readonly missingVms?: Pick<MissingVms, "has"> | undefined;
  readonly vmOwners?: Pick<VmOwners, "ownerOf"> | undefined;
  readonly settings: MachineSettings;
  /** Whether scale-down by the cluster-autoscaler is disabled on the nodes of a rollout. Default: true. */
  readonly disablesScaleDown?: boolean | undefined;
  /** State of drains that is kept in memory. */
  readonly evictions: Pick<EvictionQueue, "view">;
  readonly volumeIds: Pick<VolumeIds, "idOf" | "waitUntil">;
  /** Absent without a target cluster. */
  readonly podKnowledge: Pick<PodKnowledge, "of"> | undefined;
  readonly observedDrains: Pick<ObservedDrains, "since">;
}

/** Whether the driver must have accepted the class before anything is decided: an existing VM is worked on with any class. */
const needsVerdict = (machine: Machine): boolean => !hasId(machine) && machine.metadata.deletionTimestamp == null;

/** The class of a machine; for a terminating machine without a usable class, a fallback class. */
function resolveFor(
  machine: Machine,
  { caches, namespace, classChecks }: ControllerContext,
  driver: MachineDriver,
): ResolvedClass {
  const own = resolveClass(machine, caches, namespace, driver);
  if (needsVerdict(machine)) return withVerdict(own, classChecks);
  if (own.view.state === "usable" || machine.metadata.deletionTimestamp === undefined) return own;
  const fallback = fallbackClassFor(machine, caches, namespace, driver);
  if (fallback !== undefined) return fallback;
  return { ...own, view: { ...own.view, problem: `${own.view.problem}${remedyFor(machine)}` } };
}

/** By how much the clock of the API server of the nodes is ahead of that of the machines. */
const clockAheadOf = ({ target, clock }: Pick<ControllerContext, "target" | "clock">): number =>
  (target?.clock ?? clock).now().getTime() - clock.now().getTime();

/** The node with the name that the driver's last result contains, and whether it belongs to that VM. */
function sameNameNodeOf(
  machine: Machine,
  operation: OperationView | undefined,
  context: Pick<ControllerContext, "target" | "clock">,
  match: MatchNode,
): MatchedNode | undefined {
  if (operation?.state !== "done") return undefined;
  const { providerId = "", nodeName = "" } = operation.result;
  const node = context.target?.caches.nodes.store.get(nodeName);
  const { metadata, spec } = machine;
  const withVm = {
    ...machine,
    metadata: { ...metadata, labels: { ...metadata.labels, [labelKeys.node]: nodeName } },
    spec: { ...spec, providerID: providerId },
  };
  if (node === undefined) return undefined;
  return { node, match: match(withVm, node), clockAheadMs: clockAheadOf(context) };
}

const noNode: FoundNode = { node: undefined, match: "unknown", foreignNode: undefined };

const noRules: DrainRulesView = { rules: [] };

/** The metadata of the machine's class as it is in the cache, usable or not. */
const classOf = ({ spec }: Machine, { caches, namespace }: ControllerContext): ObjectMeta | undefined =>
  caches.classes.store.getByRef({ namespace, name: spec.class?.name ?? "" })?.metadata;

type DrainMemory = Pick<MachineSources, "context" | "evictions" | "volumeIds" | "podKnowledge">;

/** Reads the inputs of a drain. Without a driver there is no wait for volume ids. */
function drainOf(
  machine: Machine,
  node: Node,
  { pods, budgets, claims, volumes, attachments }: TargetCaches,
  classView: ClassView,
  rules: DrainRulesView["rules"],
  { context, evictions, volumeIds, podKnowledge }: DrainMemory,
): DrainView {
  const provider = classView.state === "usable" ? classView.machineClass.provider : undefined;
  const key = `${context.namespace}/${machine.metadata.name}`;
  return observeDrain(node, machine, rules, {
    ...(podKnowledge === undefined ? {} : { knownPods: (drained: Node) => podKnowledge.of(key, drained) }),
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

/** The node of a machine, and whether it is the machine's to change. */
interface ObservedNode extends Pick<MachineSnapshot, "node" | "nodeMatch" | "competingMachines" | "foreignNode"> {
  /** Whether another machine has precedence for the node: it is neither drained nor deleted. */
  readonly isDisputed: boolean;
}

const withoutNode = { node: undefined, nodeMatch: "unknown", competingMachines: [], isDisputed: false } as const;

function observeNode(
  machine: Machine,
  context: ControllerContext,
  match: MatchNode,
  holder: VmHolder | undefined,
): ObservedNode {
  const { caches, namespace, target } = context;
  const found = target === undefined ? noNode : findNode(machine, target.caches, match);
  if (found.node === undefined || holder !== undefined) return { ...withoutNode, foreignNode: found.foreignNode };
  const claims = {
    nodeMatch: found.match,
    match,
    claimants: machinesMatching(found.node, caches),
    machineNamed: (name: string) => caches.machines.store.getByRef({ namespace, name }),
    clockAheadMs: clockAheadOf(context),
  };
  const other = otherMachineOf(found.node, machine, claims);
  const competing = competingMachines(found.node, machine, claims.claimants, match);
  const rivals = other === undefined || competing.includes(other) ? competing : [...competing, other].toSorted();
  const isDisputed = other !== undefined || (found.match !== "same" && competing.length > 0);
  // A deletion affects only the machine's own node.
  const isKept = isDeleting(machine) && (isDisputed || belongsToOther(found.node, machine, claims));
  return isKept
    ? { ...withoutNode, foreignNode: found.node }
    : {
        node: found.node,
        nodeMatch: found.match,
        competingMachines: rivals,
        foreignNode: found.foreignNode,
        isDisputed,
      };
}

/** The Node of a terminating machine, or the one that it names, when it was not read just now. */
function unreadNodeOf(
  machine: Machine,
  node: Node | undefined,
  reads: Pick<NodeReads, "isRecent">,
): string | undefined {
  const { metadata } = machine;
  const name = node?.metadata.name ?? metadata.labels?.[labelKeys.node] ?? "";
  return !isDeleting(machine) || name === "" || reads.isRecent(metadata.uid ?? "", name) ? undefined : name;
}

/** What uses a node that is to be deleted. */
function usesOf(
  node: Node | undefined,
  target: TargetCaches | undefined,
): Pick<MachineSnapshot, "pods" | "attachments"> {
  if (node === undefined || target === undefined) return { pods: [], attachments: [] };
  const { name } = node.metadata;
  return { pods: target.pods.store.byIndex("node", name), attachments: target.attachments.store.byIndex("node", name) };
}

/** Reads everything that a decision about the machine looks at, from caches alone. Of no use for a decision while `resolved.unread` names secrets, or `deletionVerdict` or `protected` is unknown. */
export function observeMachine(
  machine: Machine,
  {
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
    evictions,
    volumeIds,
    podKnowledge,
    observedDrains,
  }: MachineSources,
): {
  readonly snapshot: MachineSnapshot;
  readonly resolved: ResolvedClass;
  /** Whether the driver has to check the class before a decision. */
  readonly isClassUnchecked: boolean;
  readonly deletionVerdict: DeletionVerdict | undefined;
  readonly protected: ProtectionView;
  readonly budgetVerdict: BudgetVerdict | undefined;
} {
  const target = context.target?.caches;
  const resolved = resolveFor(machine, context, driver);
  const match = createMatchNode(context.caches, context.namespace, context.matchVm);
  const operation = operations.get(machine.metadata.uid ?? "");
  const holder = findVmHolder(machine, claimedVm(machine, operation), { ...context, vmOwners }, match);
  const { node, isDisputed, ...link } = observeNode(machine, context, match, holder);
  const isVmMissing = missingVms?.has(machine) ?? false;
  const drained = target !== undefined && !isDisputed && isDraining(machine, node) ? node : undefined;
  const { rules, problem } =
    drained === undefined ? noRules : drainRulesOf(machine.metadata, classOf(machine, context));
  const shapeProblems = shapeProblemsOf(machine);
  const deletionVerdict = context.crdGuard?.deletionVerdictOf(
    "Machine",
    machine,
    markedStage({ machine }) !== undefined,
  );
  const view = protection.of(machine);
  const budgetVerdict = context.deletionBudget?.ofMachine(machine);
  const snapshot: MachineSnapshot = {
    machine,
    isReadable: shapeProblems.length === 0,
    problems: shapeProblems.length > 0 ? shapeProblems : validateMachine(machine),
    pausedBy: deletionVerdict?.verdict === "paused" ? deletionVerdict.crd : undefined,
    protectedBy: view.state === "protected" ? view.by : undefined,
    heldBy: budgetVerdict?.verdict === "proceed" ? undefined : budgetVerdict,
    classView: resolved.view,
    inputs: resolved.inputs,
    hasTarget: target !== undefined,
    isTargetUnread: isTargetUnread(context),
    node,
    ...link,
    unreadNode: unreadNodeOf(machine, node, nodeReads),
    clockAheadMs: clockAheadOf(context),
    ...remediations.read(machine, node, isVmMissing),
    holder,
    isVmMissing,
    sameNameNode: sameNameNodeOf(machine, operation, context, match),
    wantsToken: target !== undefined && !hasId(machine) && asksForToken(resolved.secret),
    drain:
      target === undefined || drained === undefined
        ? undefined
        : drainOf(machine, drained, target, resolved.view, rules, { context, evictions, volumeIds, podKnowledge }),
    drainObservedSince: observedDrains.since(`${context.namespace}/${machine.metadata.name}`),
    drainRulesProblem: problem,
    ...usesOf(isDeleting(machine) ? node : undefined, target),
    reported: reported.of(machine.metadata.uid ?? ""),
    isKeptFromScaler: joinsInRollout(machine, node, context, disablesScaleDown),
    operation,
    settings,
  };
  const isClassUnchecked = needsVerdict(machine) && isUnchecked(resolved, context.classChecks);
  return { snapshot, resolved, isClassUnchecked, deletionVerdict, protected: view, budgetVerdict };
}
