import type { MachineErrorCode } from "@millwright/core";
import { type Machine, type MachineStatus, readMachine } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import type { MachineDecision } from "../machine/state/decision.ts";
import { readDrainRecord } from "../drain/drain-record.ts";
import { noHistory } from "../remediation/node-history.ts";
import { noRemediationHold } from "../remediation/remediation-view.ts";
import type {
  FailedOperation,
  ClassBackoff,
  OperationKind,
  OperationResult,
  OperationView,
} from "../model/operation.ts";
import type { MachineSnapshot, NodeLink } from "../machine/state/snapshot.ts";
import { type ClassView } from "../cluster/class-view.ts";
import { conflictGuard } from "../guards/conflict.ts";
import { unreadTargetGuard } from "../guards/unread-target.ts";
import { type Hold, judge } from "../model/hold.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { aMachine, aMachineClass, aNode, type Change } from "./builders.ts";
import { aDrainView } from "./drain-views.ts";
import { testNow } from "./test-time.ts";

export { later, testNow } from "./test-time.ts";

/** A snapshot with the fields of its link beside the others, and with what the guards see that hold a living machine. */
export type SnapshotChange = Partial<MachineSnapshot & NodeLink> & {
  readonly nodeMatch?: NodeLink["match"];
  /** Whether the target cluster was never listed. */
  readonly isTargetUnread?: boolean;
};

const noLink: NodeLink = {
  match: "unknown",
  competingMachines: [],
  foreignNode: undefined,
  clockAheadMs: 0,
  unreadNode: undefined,
  sameNameNode: undefined,
};

/** The hold of a machine, by the guards of the controllers. */
const holdOf = ({ machine = aMachine(), holder, isTargetUnread = false }: SnapshotChange): Hold | undefined => {
  const guards = [
    unreadTargetGuard(() => isTargetUnread),
    conflictGuard(
      () => holder,
      () => undefined,
    ),
  ];
  return judge(guards, machine).hold;
};

/** What a pass sees of a sound machine in a target cluster, no call under way and no node, unless changed. */
export const aSnapshot = (all: SnapshotChange = {}): MachineSnapshot => {
  const {
    match = noLink.match,
    nodeMatch = match,
    competingMachines = noLink.competingMachines,
    foreignNode,
    clockAheadMs = 0,
    unreadNode,
    sameNameNode,
    isTargetUnread: _,
    ...change
  } = all;
  const link = { match: nodeMatch, competingMachines, foreignNode, clockAheadMs, unreadNode, sameNameNode };
  return { ...soundSnapshot(change), hold: holdOf(all), link, ...change };
};

const soundSnapshot = (change: Partial<MachineSnapshot>): MachineSnapshot => ({
  machine: aMachine(),
  isReadable: true,
  problems: [],
  classView: { state: "usable", machineClass: aMachineClass() },
  inputs: "class-1/secret-1",
  hasTarget: true,
  node: undefined,
  link: noLink,
  history: noHistory,
  remediation: noRemediationHold,
  wantsToken: false,
  // Most tests care for node and pods alone: they are drained without volumes, budgets and rules.
  drain:
    change.node === undefined
      ? undefined
      : aDrainView({
          node: change.node,
          pods: change.pods ?? [],
          record: readDrainRecord((change.machine ?? aMachine()).metadata),
        }),
  // A drain was followed from its start.
  drainObservedSince: 0,
  drainRulesProblem: undefined,
  pods: [],
  attachments: [],
  reported: new Map(),
  operation: undefined,
  settings: defaultMachineSettings,
});

/** A class that cannot be used. */
export const unusable = (reason: string, problem: string, isMissing = false): ClassView => ({
  state: "unusable",
  reason,
  problem,
  isMissing,
});

export const running = (kind: OperationKind, since = 0): OperationView => ({ kind, state: "running", since });

/** A call that ended so long ago that its machine waits for no node to join before its status is written. */
export const succeeded = (
  kind: OperationKind,
  result: OperationResult = {},
): Extract<OperationView, { readonly state: "done" }> => ({
  kind,
  state: "done",
  result,
  endedAt: testNow.getTime() - 60_000,
  inputs: "class-1/secret-1",
});

/** A call that was accepted just now, and is made again in a minute. */
export const pending = (kind: OperationKind, message = "wiping disks", checkAfterMs = 60_000): OperationView => ({
  kind,
  state: "pending",
  message,
  checkAt: testNow.getTime() + checkAfterMs,
});

/** A call that has waited for its turn since now. */
export const waiting = (kind: OperationKind, classBackoff?: ClassBackoff): OperationView => ({
  kind,
  state: "waiting",
  inputs: "class-1/secret-1",
  since: testNow.getTime(),
  ...(classBackoff === undefined ? {} : { classBackoff }),
});

/** A call that failed just now, as often before, and has not been written down: the next try is as far away as it can be. */
export const failed = (
  kind: OperationKind,
  code: MachineErrorCode,
  change: Partial<Omit<FailedOperation, "kind" | "code" | "state">> = {},
): FailedOperation => ({
  kind,
  state: "failed",
  code,
  message: "no luck",
  endedAt: testNow.getTime(),
  inputs: "class-1/secret-1",
  firstFailedAt: testNow.getTime(),
  failures: 20,
  jitter: 0,
  isAcknowledged: false,
  ...change,
});

/** With the VM `vm-1` and the node name `node`. */
export const withVm: Change<Machine> = {
  metadata: { labels: { node: "node" }, annotations: { "machinepriority.machine.sapcloud.io": "3" } },
  spec: { providerID: "vm-1" },
};

/** The last operation of a machine. */
export const lastly = (type: string, state: string, description: string): Change<Machine> => ({
  status: { lastOperation: { type, state, description, lastUpdateTime: "2026-01-01T00:00:00Z" } },
});

/** The node of {@link withVm}. */
export const itsNode = (change: Parameters<typeof aNode>[0] = {}): ReturnType<typeof aNode> =>
  aNode({
    ...change,
    metadata: { resourceVersion: "7", labels: { "node.gardener.cloud/machine-name": "machine" }, ...change.metadata },
    spec: { providerID: "vm-1", ...change.spec },
  });

/** The kinds of a decision's actions, in order. */
export const kindsOf = ({ actions }: MachineDecision): readonly string[] => actions.map(({ kind }) => kind);

/** The status as it reads after a decision. */
export const statusAfter = (snapshot: MachineSnapshot, { status }: MachineDecision): MachineStatus =>
  status ?? snapshot.machine.status ?? {};

/** A machine after a decision: its patches and its status written down, as the executor would. */
export function machineAfter(snapshot: MachineSnapshot, decision: MachineDecision): Machine {
  const patched = decision.actions.reduce<unknown>(
    (object, action) => (action.kind === "PatchMachine" ? applyMergePatch(object, action.patch) : object),
    snapshot.machine,
  );
  const result = readMachine(patched);
  if (!result.ok) throw new TypeError(`a decision made what cannot be: ${JSON.stringify(result.problems)}`);
  return { ...result.value, status: statusAfter(snapshot, decision) };
}
