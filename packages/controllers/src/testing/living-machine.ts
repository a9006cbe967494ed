import { isRecord } from "@millwright/base";
import { type Machine, readMachine } from "@millwright/core/machine-api";
import { drainRecordPatch } from "../drain/drain-record.ts";
import { applyMergePatch } from "@millwright/kube";
import type { Node, Pod } from "../model/node-objects.ts";
import type { MachineAction, MachineDecision } from "../machine/state/decision.ts";
import type { Step } from "../machine/state/run-steps.ts";
import { defaultMachineSettings, type MachineSettings } from "../model/machine-settings.ts";
import { aSnapshot } from "./snapshots.ts";

/** A machine, its node and its pods, to which decisions are done as an API server would. */
export interface LivingMachine {
  readonly machine: Machine;
  readonly node: Node | undefined;
  readonly pods: readonly Pod[];
}

/** Options of {@link reconcileOnce}. */
export interface ReconcileOptions {
  readonly settings?: Partial<MachineSettings>;
  /** After so many writes the process dies. Default: never. */
  readonly writes?: number;
}

const versionAfter = ({ metadata }: Node): string => String(Number(metadata.resourceVersion ?? "0") + 1);

/** Merges conditions by type, as a strategic merge patch of a node's status does. */
function mergeConditions(node: Node, patch: object): Node {
  const listed: unknown = "conditions" in patch ? patch.conditions : [];
  const conditions = [...(node.status?.conditions ?? [])];
  for (const entry of Array.isArray(listed) ? listed : []) {
    if (!isRecord(entry) || typeof entry["type"] !== "string" || typeof entry["status"] !== "string")
      throw new TypeError(`no condition: ${JSON.stringify(entry)}`);
    const merged = { ...entry, type: entry["type"], status: entry["status"] };
    const index = conditions.findIndex(({ type }) => type === merged.type);
    if (index < 0) conditions.push(merged);
    else conditions[index] = { ...conditions[index], ...merged };
  }
  return { ...node, status: { ...node.status, conditions } };
}

/** Takes off the finalizers that a strategic merge patch of the metadata names. */
function withoutFinalizers(node: Node, metadata: object = {}): Node {
  const removed = new Map(Object.entries(metadata)).get("$deleteFromPrimitiveList/finalizers");
  const finalizers = node.metadata.finalizers?.filter((name) => !Array.isArray(removed) || !removed.includes(name));
  return finalizers === undefined ? node : { ...node, metadata: { ...node.metadata, finalizers } };
}

function patchMachine(machine: Machine, patch: object): Machine {
  const result = readMachine(applyMergePatch(machine, patch));
  if (!result.ok) throw new TypeError(`a decision made what cannot be: ${JSON.stringify(result.problems)}`);
  return result.value;
}

function patchNode(node: Node, patch: object): Node {
  const { metadata } = patch as { readonly metadata?: { readonly resourceVersion?: string } };
  if (metadata?.resourceVersion !== undefined && metadata.resourceVersion !== node.metadata.resourceVersion)
    throw new Error("conflict");
  // What was a node and is patched by a decision about nodes is one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return applyMergePatch(node, patch) as Node;
}

/** The world after one action. */
function after(world: LivingMachine, action: MachineAction, now: Date): LivingMachine {
  const { machine, node, pods } = world;
  const bumped = (changed: Node): Node => ({
    ...changed,
    metadata: { ...changed.metadata, resourceVersion: versionAfter(changed) },
  });
  if (action.kind === "PatchMachine") return { ...world, machine: patchMachine(machine, action.patch) };
  if (action.kind === "RecordDrain")
    return { ...world, machine: patchMachine(machine, drainRecordPatch(action.record)) };
  if (action.kind === "EvictPod") {
    const evicted = (pod: Pod): Pod =>
      pod.metadata.name === action.name && pod.metadata.deletionTimestamp === undefined
        ? { ...pod, metadata: { ...pod.metadata, deletionTimestamp: now.toISOString() } }
        : pod;
    return { ...world, pods: pods.map(evicted) };
  }
  if (action.kind === "DeletePod")
    return { ...world, pods: pods.filter(({ metadata }) => metadata.name !== action.name) };
  if (node === undefined) return world;
  if (action.kind === "PatchNode") return { ...world, node: bumped(patchNode(node, action.patch)) };
  if (action.kind === "PatchNodeStatus")
    return { ...world, node: bumped(withoutFinalizers(mergeConditions(node, action.patch), action.metadata)) };
  // Whatever else a decision asks for happens somewhere else.
  return world;
}

/** Reconciles once with one step; returns the decision and the resulting state. */
export function reconcileOnce(
  world: LivingMachine,
  step: Step,
  now: Date,
  { settings = {}, writes = Number.POSITIVE_INFINITY }: ReconcileOptions = {},
): { readonly world: LivingMachine; readonly decision: MachineDecision } {
  const decision = step(aSnapshot({ ...world, settings: { ...defaultMachineSettings, ...settings } }), now);
  let changed = world;
  for (const action of decision.actions.slice(0, writes)) changed = after(changed, action, now);
  if (decision.status !== undefined && decision.actions.length < writes)
    changed = { ...changed, machine: { ...changed.machine, status: decision.status } };
  return { world: changed, decision };
}

/** Whether a reconcile wrote nothing. */
export const isAtRest = (before: LivingMachine, { actions, status }: MachineDecision): boolean =>
  actions.length === 0 && (status === undefined || JSON.stringify(status) === JSON.stringify(before.machine.status));

/** Reconciles until nothing is written; returns the state and the last decision. Fails when it does not converge. */
export function untilAtRest(
  start: LivingMachine,
  step: Step,
  now: Date,
  options: ReconcileOptions = {},
): { readonly world: LivingMachine; readonly decision: MachineDecision } {
  let world = start;
  for (let round = 0; round < 20; round++) {
    const { world: next, decision } = reconcileOnce(world, step, now, options);
    if (isAtRest(world, decision)) return { world: next, decision };
    world = next;
  }
  throw new Error(`does not come to rest: ${JSON.stringify(world)}`);
}
