import {
  drainRulesOf,
  holdConditions,
  observeDrain,
  recordedRollout,
  shownHold,
} from "@millwright/controllers/reports";
import { nearestName } from "@millwright/base";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import {
  type DrainPreview,
  drainSourcesOf,
  previewDeletionDrain,
  unknownAnnotations,
  unknownKeyNotes,
} from "@millwright/runtime/reports";
import { applyChanges, type ChangedState, type PlannedChange } from "./changes/apply-changes.ts";
import type { ClusterState } from "./state/cluster-state.ts";
import { overlaps } from "./changes/overlaps.ts";
import { type ChangePreview, previewChange, type PreviewOptions } from "./simulation/preview-change.ts";

/** The part of a changed deployment or set that is checked. */
interface ChangedObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly template: { readonly spec?: { readonly class?: { readonly name?: string } } } };
}

function changedObject({ deployments, sets }: ClusterState, { kind, name }: ChangePreview): ChangedObject | undefined {
  const objects: readonly ChangedObject[] = kind === "MachineDeployment" ? deployments : sets;
  return objects.find(({ metadata }) => metadata.name === name);
}

/** Without its class no machine of a template is ever created, which a best-case simulation would not show. */
function missingClass(state: ClusterState, change: ChangePreview): string | undefined {
  const wanted = changedObject(state, change)?.spec.template.spec?.class?.name;
  const existing = state.classes.map(({ metadata }) => metadata.name);
  if (wanted === undefined || wanted === "" || existing.includes(wanted)) return undefined;
  const near = nearestName(wanted, existing);
  const meant = near === undefined ? "" : ` ("${near}" does)`;
  return `MachineClass "${wanted}" of ${change.kind} "${change.name}" does not exist${meant}: none of its machines can be created`;
}

/** The rollout that is under way already, and what a rollback returns to. */
function rolloutNotes({ deployments }: ClusterState, { kind, name }: ChangePreview): readonly string[] {
  const deployment = deployments.find(({ metadata }) => metadata.name === name);
  const rollout = kind === "MachineDeployment" && deployment !== undefined ? recordedRollout(deployment) : undefined;
  if (rollout === undefined) return [];
  const { revision, since, proven } = rollout;
  return [
    `${kind} "${name}" rolls out revision ${revision} since ${since}; its proven template is that of MachineSet "${proven}"`,
  ];
}

/** While everything of a deployment is held, nothing of the plan happens until a user decides. */
function pausesOf({ deployments }: ClusterState, { kind, name }: ChangePreview): readonly string[] {
  const deployment = deployments.find(({ metadata }) => metadata.name === name);
  if (kind !== "MachineDeployment") return [];
  return holdConditions
    .filter(({ holds }) => holds === "everything")
    .flatMap((each) => shownHold(deployment?.status?.conditions, each) ?? [])
    .map(({ message = "" }) => `${kind} "${name}" is paused. ${message}`);
}

/** An annotation with a misspelt name has no effect, but its author relies on it. */
const unknownAnnotationNotes = (state: ClusterState, change: ChangePreview): readonly string[] =>
  unknownAnnotations(change.kind, changedObject(state, change)?.metadata ?? change);

/** What the drivers of the classes of the changed objects ignore in their `providerSpec`. */
function unknownKeysOf(state: ClusterState, changes: readonly ChangePreview[]): readonly string[] {
  const wanted = new Set(changes.map((change) => changedObject(state, change)?.spec.template.spec?.class?.name));
  return unknownKeyNotes(state.classes.filter(({ metadata }) => wanted.has(metadata.name)));
}

/** What the drain of one node would do if it began now. */
export interface PlannedDrain {
  readonly machine: string;
  readonly node: string;
  readonly outcome: DrainPreview["outcome"];
  /** What blocks it until a deadline, line by line. */
  readonly because: readonly string[];
  /** RFC 3339: when it would be forced at the latest. */
  readonly deadline: string;
}

/** The effects of changes. */
export interface Plan {
  readonly namespace: string;
  /** Whether anything would happen to sets, machines or nodes. */
  readonly hasEffect: boolean;
  readonly changes: readonly ChangePreview[];
  /** Machines that the changes themselves delete, with their nodes. */
  readonly deletedMachines: readonly { readonly name: string; readonly node?: string }[];
  /** Of nodes that exist now, in the order in which they would be drained. */
  readonly drains: readonly PlannedDrain[];
  /** Further findings, a sentence each. */
  readonly notes: readonly string[];
}

const nodeOf = ({ metadata }: Machine): string | undefined => metadata.labels?.[labelKeys.node];

/** Machines whose nodes are drained, each once, in order. */
function drained(
  state: ClusterState,
  changes: readonly ChangePreview[],
  deleted: readonly Machine[],
): readonly Machine[] {
  const names = changes.flatMap(({ steps }) =>
    steps.flatMap(({ machinesDeleted, machinesUpdated }) => [
      ...machinesDeleted.map(({ name }) => name),
      ...machinesUpdated,
    ]),
  );
  const machines = new Map(state.machines.map((machine) => [machine.metadata.name, machine]));
  const order = new Set([...deleted.map(({ metadata }) => metadata.name), ...names]);
  return [...order].flatMap((name) => machines.get(name) ?? []);
}

async function simulateDrains(
  state: ClusterState,
  machines: readonly Machine[],
  now: Date,
): Promise<readonly PlannedDrain[]> {
  const nodes = new Map((state.nodes ?? []).map((node) => [node.metadata.name, node]));
  const withNodes = machines.flatMap((machine) => {
    const node = nodes.get(nodeOf(machine) ?? "");
    return node === undefined ? [] : [{ machine, node }];
  });
  if (withNodes.length === 0) return [];
  const sources = drainSourcesOf(await state.drainLists());
  return withNodes.map(({ machine, node }) => {
    const machineClass = state.classes.find(({ metadata }) => metadata.name === machine.spec.class?.name);
    const { rules } = drainRulesOf(machine.metadata, machineClass?.metadata);
    const { preview, terms } = previewDeletionDrain(machine, observeDrain(node, machine, rules, sources), now);
    return {
      machine: machine.metadata.name,
      node: node.metadata.name,
      outcome: preview.outcome,
      because: preview.because,
      deadline: new Date(terms.deadline).toISOString(),
    };
  });
}

/** A change that creates machines of a missing class waits until a user creates the class. */
const waitingFor = (change: ChangePreview, missing: string): ChangePreview =>
  change.steps.some(({ machinesCreated }) => machinesCreated.length > 0)
    ? { ...change, outcome: "waits", waitsFor: [...change.waitsFor, missing] }
    : change;

/**
 * Computes the effects of changes, in steps. Writes nothing.
 *
 * @throws ConfigError for a change that cannot be read or does not fit the state
 */
export async function planChanges(
  state: ClusterState,
  planned: readonly PlannedChange[],
  options: PreviewOptions,
): Promise<Plan> {
  return planRoots(state, applyChanges(state, planned, options.now), options);
}

/** Computes what the controllers do next with all deployments, and all sets without one, if nothing is changed. Writes nothing. */
export async function planNext(state: ClusterState, options: PreviewOptions): Promise<Plan> {
  const roots = [
    ...state.deployments.map(({ metadata }) => ({ kind: "MachineDeployment" as const, name: metadata.name })),
    ...state.sets
      .filter((set) => controllerRefOf(set) === undefined)
      .map(({ metadata }) => ({ kind: "MachineSet" as const, name: metadata.name })),
  ];
  return planRoots(state, { state, roots, deletedMachines: [], notes: [] }, options);
}

async function planRoots(state: ClusterState, changed: ChangedState, options: PreviewOptions): Promise<Plan> {
  const { state: after, roots, deletedMachines, notes } = changed;
  const previews = roots.map((root) => previewChange(after, root, options));
  const missing = previews.map((change) => missingClass(after, change));
  const changes = previews.map((change, index) => {
    const why = missing[index];
    return why === undefined ? change : waitingFor(change, why);
  });
  return {
    namespace: state.namespace,
    hasEffect: deletedMachines.length > 0 || changes.some(({ steps }) => steps.length > 0),
    changes,
    deletedMachines: deletedMachines.map((machine) => {
      const node = nodeOf(machine);
      return { name: machine.metadata.name, ...(node === undefined ? {} : { node }) };
    }),
    drains: await simulateDrains(state, drained(state, changes, deletedMachines), options.now),
    notes: [
      ...missing.filter((each) => each !== undefined && !changes.some(({ waitsFor }) => waitsFor.includes(each))),
      ...state.notes,
      ...notes,
      ...previews.flatMap((each) => [
        ...rolloutNotes(after, each),
        ...pausesOf(after, each),
        ...unknownAnnotationNotes(after, each),
      ]),
      ...unknownKeysOf(after, previews),
      // Two objects of one change have the same overlap with each other.
      ...new Set(previews.flatMap((each) => overlaps(after, each))),
    ].filter((note) => note !== undefined),
  };
}
