import { ConfigError, isRecord } from "@millwright/base";
import {
  annotationKeys,
  formatProblems,
  type Machine,
  type MachineClass,
  type MachineDeployment,
  type MachineKind,
  machineKinds,
  type MachineSet,
  type ObjectMeta,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
} from "@millwright/core/machine-api";
import { applyMergePatch, controllerRefOf, createMergePatch, equalJson } from "@millwright/kube";
import { asCreated, type ClusterState, type ManifestObject } from "../state/cluster-state.ts";
import { adoptsSet } from "./overlaps.ts";
import { rejectionsOf } from "./manifest-problems.ts";
import type { PreviewRoot } from "../simulation/preview-change.ts";

/** A change that a user considers. */
export type PlannedChange =
  | ({ readonly kind: "apply" } & ManifestObject)
  | {
      readonly kind: "scale";
      /** Absent: a deployment of that name, or else a set. */
      readonly of?: "MachineDeployment" | "MachineSet";
      readonly name: string;
      readonly replicas: number;
    }
  | { readonly kind: "delete"; readonly of: "MachineDeployment" | "MachineSet" | "Machine"; readonly name: string };

/** The state after the changes, and the objects that they affect. */
export interface ChangedState {
  readonly state: ClusterState;
  readonly roots: readonly PreviewRoot[];
  /** Machines that the changes themselves delete. */
  readonly deletedMachines: readonly Machine[];
  readonly notes: readonly string[];
}

interface Named {
  readonly metadata: { readonly name: string };
}

const find = <T extends Named>(objects: readonly T[], name: string): T | undefined =>
  objects.find(({ metadata }) => metadata.name === name);

const put = <T extends Named>(objects: readonly T[], object: T): readonly T[] => [
  ...objects.filter(({ metadata }) => metadata.name !== object.metadata.name),
  object,
];

/** The manifest that kubectl recorded when it was applied last, or an empty one. */
function lastApplied(
  live: object | undefined,
  annotations: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, unknown>> {
  if (live === undefined) return {};
  try {
    const manifest: unknown = JSON.parse(annotations?.[annotationKeys.kubectlLastApplied] ?? "{}");
    return isRecord(manifest) ? manifest : {};
  } catch {
    return {};
  }
}

/** The object after `kubectl apply`: fields that only the last manifest had are removed, then the fields of this one are merged. */
function applied(
  live: MachineDeployment | MachineSet | MachineClass | undefined,
  manifest: ManifestObject["object"],
  namespace: string,
): unknown {
  const { status: _, ...wanted } = { status: undefined, ...manifest };
  const removed = createMergePatch(lastApplied(live, live?.metadata.annotations), wanted) ?? {};
  const { name = "" } = manifest.metadata;
  const base = live ?? { metadata: asCreated(manifest.kind ?? "", name) };
  return applyMergePatch(applyMergePatch(applyMergePatch(base, removed), wanted), { metadata: { namespace } });
}

/** The object of a manifest, unless the API server would reject it. */
function readOrReject<T extends { readonly metadata: ObjectMeta }>(
  { source, object }: ManifestObject,
  kind: MachineKind,
  result: ReadResult<T>,
): T {
  const problems = rejectionsOf(kind, object, result);
  if (result.ok && problems.length === 0) return result.value;
  const name = object.metadata.name ?? "";
  throw new ConfigError(`${source}: ${kind} "${name}": ${formatProblems(problems)}`);
}

/** The deployment that controls a set or will adopt it; else the set itself. */
function rootOfSet(state: ClusterState, set: MachineSet): PreviewRoot {
  const owner = controllerRefOf(set);
  const deployment = state.deployments.find((each) =>
    owner === undefined ? adoptsSet(each, set) : each.metadata.uid === owner.uid,
  );
  return deployment === undefined
    ? { kind: "MachineSet", name: set.metadata.name }
    : { kind: "MachineDeployment", name: deployment.metadata.name };
}

const known = (names: readonly Named[]): string =>
  names.length === 0
    ? "there are none"
    : `there are ${names
        .map(({ metadata }) => metadata.name)
        .toSorted()
        .slice(0, 10)
        .join(", ")}`;

const missing = (state: ClusterState, kind: string, name: string, names: readonly Named[]): ConfigError =>
  new ConfigError(`there is no ${kind} "${name}" in namespace "${state.namespace}": ${known(names)}`);

/** A step from one state to the next. */
interface Step {
  readonly state: ClusterState;
  readonly roots?: readonly PreviewRoot[];
  readonly deleted?: Machine;
  readonly note?: string;
}

function applyManifest(state: ClusterState, manifest: ManifestObject): Step {
  const { source, object } = manifest;
  const { kind = "" } = object;
  const { name, namespace = state.namespace } = object.metadata;
  const isOurs = object.apiVersion?.split("/")[0] === machineKinds.Machine.group;
  if (!isOurs) return { state, note: `${source}: ${kind || "an object without kind"} "${name ?? ""}" is skipped` };
  if (name === undefined) throw new ConfigError(`${source}: ${kind}: metadata.name is missing; give it a name`);
  if (namespace !== state.namespace) {
    const remedy = `add --namespace ${namespace}, or remove metadata.namespace`;
    throw new ConfigError(
      `${source}: ${kind} "${name}": metadata.namespace is "${namespace}", the plan is for "${state.namespace}"; ${remedy}`,
    );
  }
  switch (kind) {
    case "MachineDeployment": {
      const raw = applied(find(state.deployments, name), object, namespace);
      const deployment = readOrReject(manifest, kind, readMachineDeployment(raw));
      return { state: { ...state, deployments: put(state.deployments, deployment) }, roots: [{ kind, name }] };
    }
    case "MachineSet": {
      const set = readOrReject(manifest, kind, readMachineSet(applied(find(state.sets, name), object, namespace)));
      const next = { ...state, sets: put(state.sets, set) };
      return { state: next, roots: [rootOfSet(next, set)] };
    }
    case "MachineClass": {
      const live = find(state.classes, name);
      const machineClass = readOrReject(manifest, kind, readMachineClass(applied(live, object, namespace)));
      const next = { ...state, classes: put(state.classes, machineClass) };
      const isChanged = live !== undefined && !equalJson(live.providerSpec, machineClass.providerSpec);
      const note = `MachineClass "${name}" changes: existing machines are not replaced for that; create a class with a new name and use it in the template`;
      return isChanged ? { state: next, note } : { state: next };
    }
    default:
      throw new ConfigError(`${source}: kind is "${kind}"; it must be MachineDeployment, MachineSet or MachineClass`);
  }
}

function scale(state: ClusterState, { of, name, replicas }: Extract<PlannedChange, { kind: "scale" }>): Step {
  const deployments = of === "MachineSet" ? [] : state.deployments;
  const sets = of === "MachineDeployment" ? [] : state.sets;
  const deployment = find(deployments, name);
  if (deployment !== undefined) {
    const scaled = { ...deployment, spec: { ...deployment.spec, replicas } };
    return {
      state: { ...state, deployments: put(state.deployments, scaled) },
      roots: [{ kind: "MachineDeployment", name }],
    };
  }
  const set = find(sets, name);
  if (set === undefined) throw missing(state, of ?? "MachineDeployment or MachineSet", name, [...deployments, ...sets]);
  const next = { ...state, sets: put(state.sets, { ...set, spec: { ...set.spec, replicas } }) };
  return { state: next, roots: [rootOfSet(next, set)] };
}

function remove(
  state: ClusterState,
  of: "MachineDeployment" | "MachineSet" | "Machine",
  name: string,
  now: Date,
): Step {
  const terminating = <T extends Named>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: now.toISOString() },
  });
  switch (of) {
    case "MachineDeployment": {
      const deployment = find(state.deployments, name);
      if (deployment === undefined) throw missing(state, of, name, state.deployments);
      return {
        state: { ...state, deployments: put(state.deployments, terminating(deployment)) },
        roots: [{ kind: of, name }],
      };
    }
    case "MachineSet": {
      const set = find(state.sets, name);
      if (set === undefined) throw missing(state, of, name, state.sets);
      return { state: { ...state, sets: put(state.sets, terminating(set)) }, roots: [rootOfSet(state, set)] };
    }
    case "Machine": {
      const machine = find(state.machines, name);
      if (machine === undefined) throw missing(state, of, name, state.machines);
      const next = { ...state, machines: put(state.machines, terminating(machine)) };
      const owner = controllerRefOf(machine);
      const set = state.sets.find(({ metadata }) => owner !== undefined && metadata.uid === owner.uid);
      return set === undefined
        ? { state: next, deleted: machine, note: `Machine "${name}" belongs to no MachineSet: it is not replaced` }
        : { state: next, deleted: machine, roots: [rootOfSet(state, set)] };
    }
  }
}

/**
 * Applies the changes that a user considers to a state.
 *
 * @throws ConfigError for an object that the API server would reject, that is in another namespace, or that does not exist; it names the field and the fix
 */
export function applyChanges(state: ClusterState, changes: readonly PlannedChange[], now: Date): ChangedState {
  const roots = new Map<string, PreviewRoot>();
  const deletedMachines: Machine[] = [];
  const notes: string[] = [];
  let current = state;
  for (const change of changes) {
    const step =
      change.kind === "apply"
        ? applyManifest(current, change)
        : change.kind === "scale"
          ? scale(current, change)
          : remove(current, change.of, change.name, now);
    current = step.state;
    for (const root of step.roots ?? []) roots.set(`${root.kind}/${root.name}`, root);
    if (step.deleted !== undefined) deletedMachines.push(step.deleted);
    if (step.note !== undefined) notes.push(step.note);
  }
  return { state: current, roots: [...roots.values()], deletedMachines, notes };
}
