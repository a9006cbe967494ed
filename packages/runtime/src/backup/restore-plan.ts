import { isRecord } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";
import { providerIdKey } from "@millwright/core/driver-host";
import {
  annotationKeys,
  finalizers,
  type LabelSelector,
  machineGroup,
  type Machine,
  readMachineDeployment,
  readMachineSet,
  selectorMatches,
} from "@millwright/core/machine-api";
import { controllerRefOf, isBeingDeleted, type KubeObject } from "@millwright/kube";
import { isDeepStrictEqual } from "node:util";
import { differingPaths } from "../crds/differing-paths.ts";
import type { BackupKind } from "./backup-kinds.ts";
import { hasBegunDeletion } from "./begun-deletion.ts";
import type { ExistingFleet, RestoreStep } from "./restore-step.ts";
import { scaleSteps } from "./scale-steps.ts";
import { withAnnotations } from "./portable-object.ts";
import type { Backup, BackupObject } from "./read-backup.ts";

/** What a restore does, in this order. */
export interface RestorePlan {
  readonly steps: readonly RestoreStep[];
  /** What else a person should know, a sentence each. */
  readonly notes: readonly string[];
  /** Why the lists of VMs cannot be right: nothing may be done by them. */
  readonly doubts: readonly string[];
}

/** The VMs of classes, by name of the class; absent for one whose VMs were not listed. */
export type VmsOfClasses = ReadonlyMap<string, readonly ListedMachine[]>;

/** Finalizers with which an object is deleted by the controllers, or by the garbage collector. */
const known: ReadonlySet<string> = new Set([finalizers.machine, finalizers.secret, "foregroundDeletion", "orphan"]);

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? "";
const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? "";
const isLive = (object: KubeObject): boolean => !isBeingDeleted(object);
const named = (objects: readonly KubeObject[], name: string): KubeObject | undefined =>
  objects.find((object) => nameOf(object) === name);
const specOf = ({ spec }: KubeObject): Readonly<Record<string, unknown>> => (isRecord(spec) ? spec : {});
/** Of a set or a deployment; `undefined` for an object that cannot be read. */
function selectorOf(object: KubeObject): LabelSelector | undefined {
  const read = object.kind === "MachineSet" ? readMachineSet(object) : readMachineDeployment(object);
  return read.ok ? read.value.spec.selector : undefined;
}
function providerIdOf(machine: KubeObject): string {
  const id = specOf(machine)["providerID"];
  return typeof id === "string" ? id : "";
}
function classNameOf(machine: KubeObject): unknown {
  const reference = specOf(machine)["class"];
  return isRecord(reference) ? reference["name"] : undefined;
}
const classOf = ({ typed }: BackupObject<Machine>): string => typed.spec.class?.name ?? "";

/** The UID of the owner that is one of our kinds. */
function ownerUidOf(object: KubeObject): string | undefined {
  const owner = controllerRefOf(object);
  return owner?.apiVersion.startsWith(`${machineGroup}/`) === true ? owner.uid : undefined;
}

const notCompared: ReadonlySet<string> = new Set(["metadata", "status", "apiVersion", "kind"]);

/** How one that exists differs from the backup, without what the API server and the controllers write. Of Secrets no content is named. */
function differenceOf(kind: BackupKind, object: KubeObject, current: KubeObject): string | undefined {
  const content = (each: KubeObject): object =>
    Object.fromEntries(Object.entries(each).filter(([field]) => !notCompared.has(field)));
  const paths = differingPaths(content(current), content(object), "").map((path) => path.slice(1));
  if (paths.length === 0) return undefined;
  return kind === "Secret" ? "differs from the file" : `differs from the file: ${paths.slice(0, 5).join(", ")}`;
}

/** Why an object whose deletion was requested cannot be replaced. */
export function unmetPrecondition(current: KubeObject): string | undefined {
  const foreign = current.metadata.finalizers?.find((finalizer) => !known.has(finalizer));
  if (foreign !== undefined) return `it is being deleted, and finalizer ${foreign} keeps it; remove that first`;
  return hasBegunDeletion(current) ? "its deletion has begun" : undefined;
}

/** The step of an object that no owner matters to. */
function plainStep(kind: BackupKind, { name, object }: BackupObject<unknown>, current?: KubeObject): RestoreStep {
  const step = { kind, name, object };
  if (current === undefined) return { ...step, action: "create" };
  if (isLive(current)) {
    const because = differenceOf(kind, object, current);
    return { ...step, action: "keep", current, ...(because === undefined ? {} : { because }) };
  }
  const because = unmetPrecondition(current);
  return because === undefined
    ? { ...step, action: "replace", current }
    : { ...step, action: "skip", current, because };
}

/** A set of the backup with the one that exists, or under which name it is created. */
interface SetPlace {
  readonly backup: BackupObject<unknown>;
  readonly name: string;
  readonly current?: KubeObject;
}

/** A set that is being deleted is replaced by one of another name, which exists before the old one is gone: its deployment never lacks a set. */
function placeOfSet(backup: BackupObject<unknown>, sets: readonly KubeObject[]): SetPlace {
  const current = named(sets, backup.name);
  if (current !== undefined && isLive(current)) return { backup, name: backup.name, current };
  const twin = sets.find((set) => isLive(set) && isDeepStrictEqual(selectorOf(set), selectorOf(backup.object)));
  if (current === undefined)
    return twin === undefined ? { backup, name: backup.name } : { backup, name: nameOf(twin), current: twin };
  let name = `${backup.name}-r`;
  while (named(sets, name) !== undefined) name = `${name}-r`;
  return { backup, name: twin === undefined ? name : nameOf(twin), current };
}

/** The deployment that exists and to which a set belongs. */
function deploymentOf(set: KubeObject, owner: string | undefined, { deployments }: ExistingFleet): string | undefined {
  const live = deployments.filter(isLive);
  const found =
    live.find((each) => nameOf(each) === owner) ??
    live.find((each) => selectorMatches(selectorOf(each), set.metadata.labels));
  return found === undefined ? undefined : nameOf(found);
}

const owned = (owner: string | undefined): { readonly owner?: string } => (owner === undefined ? {} : { owner });

function stepOfSet({ backup, name, current }: SetPlace, fleet: ExistingFleet): RestoreStep {
  const object = { ...backup.object, metadata: { ...backup.object.metadata, name } };
  const owner = deploymentOf(object, backup.owner, fleet);
  const step = plainStep("MachineSet", { ...backup, name, object }, current);
  if (step.action !== "keep" || current === undefined) return { ...step, ...owned(owner) };
  return isOwnedByNone(current, fleet.deployments) ? { ...step, action: "own", ...owned(owner) } : step;
}

/** Whether the owner of an object does not exist, or is being deleted: the garbage collector deletes the object, or will. */
function isOwnedByNone(object: KubeObject, owners: readonly KubeObject[]): boolean {
  const uid = ownerUidOf(object);
  return uid !== undefined && !owners.some((owner) => isLive(owner) && uidOf(owner) === uid);
}

/** What is known of the VM of a Machine of the backup. */
type VmFacts = { readonly providerId: string } | { readonly because: string };

function vmOf(
  machine: BackupObject<Machine>,
  { machines }: Backup,
  fleet: ExistingFleet,
  vms: VmsOfClasses,
  hasSet: boolean,
): VmFacts {
  const listed = vms.get(classOf(machine));
  const own = providerIdOf(machine.object);
  const key = providerIdKey(own);
  const byName = listed?.find(({ machineName, parts = [] }) => machineName === machine.name && parts.length === 0);
  const providerId = own === "" ? (byName?.providerId ?? "") : own;
  if (listed !== undefined && own !== "" && !listed.some((vm) => providerIdKey(vm.providerId) === key))
    return { because: `its VM ${own} does not exist` };
  if (listed !== undefined && providerId === "" && hasSet) return { because: "it has no VM; its set creates another" };
  const before = machines.slice(0, machines.indexOf(machine)).map(({ object }) => object);
  const holder = [...fleet.machines, ...before].find(
    (other) =>
      nameOf(other) !== machine.name &&
      providerId !== "" &&
      providerIdKey(providerIdOf(other)) === providerIdKey(providerId),
  );
  return holder === undefined
    ? { providerId }
    : { because: `its VM ${providerId} is that of Machine ${nameOf(holder)}` };
}

/** A Machine as it is created: with the id of its VM, and with the finalizer that protects it. */
function machineObject({ object }: BackupObject<Machine>, providerId: string): KubeObject {
  const held = new Set([...(object.metadata.finalizers ?? []), finalizers.machine]);
  return {
    ...object,
    metadata: { ...object.metadata, finalizers: [...held] },
    spec: { ...specOf(object), ...(providerId === "" ? {} : { providerID: providerId }) },
  };
}

function stepOfMachine(
  machine: BackupObject<Machine>,
  backup: Backup,
  fleet: ExistingFleet,
  vms: VmsOfClasses,
  set: string | undefined,
): RestoreStep {
  const current = named(fleet.machines, machine.name);
  const step = { ...plainStep("Machine", machine, current), ...owned(set) };
  if (step.action === "keep" && current !== undefined)
    return isOwnedByNone(current, fleet.sets) ? { ...step, action: "own" } : step;
  if (step.action === "skip") return step;
  const vm = vmOf(machine, backup, fleet, vms, set !== undefined);
  return "because" in vm
    ? { ...step, action: "skip", because: vm.because }
    : { ...step, object: machineObject(machine, vm.providerId) };
}

/** Whether an object names an owner that is replaced, or one that does not exist and is created. */
function belongsTo(object: KubeObject, { action, current, name }: RestoreStep): boolean {
  if (action === "replace") return current !== undefined && uidOf(current) === ownerUidOf(object);
  return action === "create" && ownerUidOf(object) !== undefined && controllerRefOf(object)?.name === name;
}

/**
 * Live objects that are not in the backup, and whose owner is: they go to the new one, or have none until it adopts them. With the former one the garbage collector would delete them before.
 */
function leftSteps(
  kind: "Machine" | "MachineSet",
  objects: readonly KubeObject[],
  ownerSteps: readonly RestoreStep[],
  known: readonly RestoreStep[],
): readonly RestoreStep[] {
  return objects.flatMap((object): readonly RestoreStep[] => {
    const owner = ownerSteps.find((step) => belongsTo(object, step));
    const isKnown = known.some(({ current, name }) => current === object || name === nameOf(object));
    if (owner === undefined || isKnown || !isLive(object)) return [];
    return [
      {
        kind,
        name: nameOf(object),
        action: "own",
        object,
        current: object,
        ...(kind === "Machine" ? { owner: owner.name } : {}),
      },
    ];
  });
}

const expectedOf = ({ metadata }: KubeObject): number =>
  Number(metadata.annotations?.[annotationKeys.expectedReplicas]) || 0;

function withExpectation(object: KubeObject, expected: number): KubeObject {
  const { [annotationKeys.expectedReplicas]: _, ...annotations } = object.metadata.annotations ?? {};
  const without = { ...object, metadata: { ...object.metadata, annotations } };
  return expected === 0 ? without : withAnnotations(without, { [annotationKeys.expectedReplicas]: String(expected) });
}

/** A set that gets machines waits until it has them all, and those that it lacked before. */
function withExpected(step: RestoreStep, machines: readonly RestoreStep[], fleet: ExistingFleet): RestoreStep {
  const own = machines.filter(({ owner }) => owner === step.name);
  const incoming = own.filter(({ action }) => action === "create" || action === "replace" || action === "own");
  const isNew = step.action === "create" || step.action === "replace";
  if (isNew) {
    const lacking = Math.max(0, expectedOf(step.object) - own.length);
    const expected = incoming.length === 0 ? 0 : incoming.length + lacking;
    return { ...step, ...(expected === 0 ? {} : { expected }), object: withExpectation(step.object, expected) };
  }
  if (incoming.length === 0 || step.current === undefined) return step;
  const { uid } = step.current.metadata;
  const present = fleet.machines.filter(
    (machine) => ownerUidOf(machine) === uid && isLive(machine) && !incoming.some(({ current }) => current === machine),
  );
  return { ...step, expected: Math.max(incoming.length + present.length, expectedOf(step.current)) };
}

/** Classes most of whose VMs are not listed: account, region or credentials may be others than before. */
function findDoubts(backup: Backup, fleet: ExistingFleet, vms: VmsOfClasses): readonly string[] {
  return [...vms].flatMap(([name, listed]) => {
    const keys = new Set(listed.map(({ providerId }) => providerIdKey(providerId)));
    const machines = [
      ...backup.machines.map(({ object }) => object),
      ...fleet.machines.filter((machine) => !backup.machines.some((each) => each.name === nameOf(machine))),
    ];
    const ids = machines
      .filter((machine) => classNameOf(machine) === name)
      .map(providerIdOf)
      .filter((id) => id !== "");
    const found = ids.filter((id) => keys.has(providerIdKey(id))).length;
    return found * 2 < ids.length
      ? [`MachineClass ${name}: the cloud lists ${found} of the ${ids.length} VMs of its machines`]
      : [];
  });
}

/** VMs of the namespace that no Machine has, before and after. */
function ownerlessVms(
  namespace: string,
  machines: readonly RestoreStep[],
  fleet: ExistingFleet,
  vms: VmsOfClasses,
): readonly string[] {
  const restored = machines.filter(({ action }) => action !== "skip").map(({ object }) => object);
  const all = [...fleet.machines, ...restored];
  const keys = new Set(all.map((machine) => providerIdKey(providerIdOf(machine))));
  const names = new Set(all.filter((machine) => providerIdOf(machine) === "").map(nameOf));
  const found = new Map(
    [...vms.values()]
      .flat()
      .filter(({ machineNamespace = namespace, parts = [] }) => machineNamespace === namespace && parts.length === 0)
      .filter(({ providerId, machineName }) => !keys.has(providerIdKey(providerId)) && !names.has(machineName))
      .map((vm) => [vm.providerId, vm.machineName]),
  );
  return [...found].map(([providerId, name]) => `VM ${providerId} of Machine ${name} has no Machine`);
}

/** Decides what a restore does, from what the file, the API server and the cloud have. */
export function planRestore(backup: Backup, fleet: ExistingFleet, namespace: string, vms: VmsOfClasses): RestorePlan {
  const places = backup.sets.map((set) => placeOfSet(set, fleet.sets));
  const setNameOf = ({ owner, object }: BackupObject<unknown>): string | undefined => {
    const { labels } = object.metadata;
    const place =
      places.find(({ backup: { name } }) => name === owner) ??
      places.find((each) => selectorMatches(selectorOf(each.backup.object), labels));
    if (place !== undefined) return place.name;
    const found = fleet.sets.find((set) => isLive(set) && selectorMatches(selectorOf(set), labels));
    return found === undefined ? undefined : nameOf(found);
  };
  const plain = (kind: BackupKind, objects: readonly BackupObject<unknown>[], existing: readonly KubeObject[]) =>
    objects.map((object) => plainStep(kind, object, named(existing, object.name)));
  const deployments = plain("MachineDeployment", backup.deployments, fleet.deployments);
  const ownSets = places.map((place) => stepOfSet(place, fleet));
  const ownMachines = backup.machines.map((machine) => stepOfMachine(machine, backup, fleet, vms, setNameOf(machine)));
  const machines = [...ownMachines, ...leftSteps("Machine", fleet.machines, ownSets, ownMachines)];
  const known = [...ownSets, ...incomingSets(machines, ownSets, fleet)];
  const sets = [...known, ...leftSteps("MachineSet", fleet.sets, deployments, known)];
  const scales = scaleSteps([...sets, ...machines], fleet);
  return {
    steps: [
      ...plain("Secret", backup.secrets, fleet.secrets),
      ...plain("MachineClass", backup.classes, fleet.classes),
      ...sets.map((set) => withExpected(set, machines, fleet)),
      ...scales,
      ...machines,
      ...deployments.filter(({ name }) => !scales.some((step) => step.name === name)),
    ],
    notes: [...backup.notes, ...ownerlessVms(namespace, machines, fleet, vms)],
    doubts: findDoubts(backup, fleet, vms),
  };
}

/** Sets that are not in the backup, and get machines of it. */
function incomingSets(
  machines: readonly RestoreStep[],
  sets: readonly RestoreStep[],
  fleet: ExistingFleet,
): readonly RestoreStep[] {
  const wanted = new Set(
    machines.map(({ owner }) => owner).filter((owner) => !sets.some(({ name }) => name === owner)),
  );
  return fleet.sets
    .filter((set) => wanted.has(nameOf(set)))
    .map((set): RestoreStep => ({ kind: "MachineSet", name: nameOf(set), action: "keep", object: set, current: set }));
}
