import { type Clock, ConfigError, isRecord, type ResourceType, systemRandom } from "@millwright/base";
import type { Driver, ListedMachine } from "@millwright/core";
import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  type KubeObject,
  listAll,
  type Log,
  newControllerRef,
  retryConflicts,
  secretResource,
  startDeadline,
} from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { readLeaders } from "../describe/read-leaders.ts";
import type { StoredObject } from "../drivers/class-source.ts";
import { createClassVms } from "../drivers/class-vms.ts";
import { type BackupKind, backupKinds } from "./backup-kinds.ts";
import { type Backup, type BackupManifest, readBackup } from "./read-backup.ts";
import { planRestore, type RestorePlan, unmetPrecondition, type VmsOfClasses } from "./restore-plan.ts";
import type { ExistingFleet, RestoreStep } from "./restore-step.ts";

/** What is restored. */
export interface RestoreOptions {
  readonly control: ApiClient;
  readonly namespace: string;
  readonly manifests: readonly BackupManifest[];
  /** Writes nothing. */
  readonly isDryRun: boolean;
  /** Whether Machines are created whatever VMs the cloud lists, also where it cannot list them. */
  readonly ignoresCloud: boolean;
  /** Loads the driver of a class; called once for each spelling of a provider. */
  readonly driverFor: (provider: string) => Promise<Driver>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** What was done with one object, or would be. */
export type RestoredObject = Pick<RestoreStep, "kind" | "name" | "action" | "because"> & {
  readonly providerId?: string;
};

/** What was restored, or would be. */
export interface RestoreReport {
  readonly namespace: string;
  readonly isDryRun: boolean;
  readonly objects: readonly RestoredObject[];
  readonly notes: readonly string[];
}

const typeOf = (kind: BackupKind): ResourceType => backupKinds.find((type) => type.kind === kind) ?? secretResource;

async function readExisting(
  { control, namespace, signal }: RestoreOptions,
  { secrets }: Backup,
): Promise<ExistingFleet> {
  const list = async (type: ResourceType): Promise<readonly KubeObject[]> =>
    (await listAll(control, type, { namespace, omitManagedFields: true }, { signal })).items;
  const [classes, sets, machines, deployments] = await Promise.all(
    [machineClassResource, machineSetResource, machineResource, machineDeploymentResource].map(list),
  );
  const found = await Promise.all(
    secrets.map(({ name }) => ignoreNotFound(control.get(secretResource, { namespace, name }, { signal }))),
  );
  return {
    secrets: found.filter((secret) => secret !== undefined),
    classes: classes ?? [],
    sets: sets ?? [],
    machines: machines ?? [],
    deployments: deployments ?? [],
  };
}

const instead = "fix that, or use --without-cloud-check to create the Machines whatever VMs there are";

/** Lists the VMs of the classes of all Machines of the backup, with classes and Secrets of the backup where there are none yet. */
async function listVms(options: RestoreOptions, backup: Backup): Promise<VmsOfClasses> {
  if (options.ignoresCloud) return new Map();
  const otherwise = (kind: string, wanted: string): StoredObject | undefined =>
    kind === secretResource.kind
      ? backup.secrets.find(({ name }) => name === wanted)?.typed
      : backup.classes.find(({ name }) => name === wanted)?.object;
  const needs = "a restore needs to get machineclasses and their secrets";
  const vmsOf = createClassVms({ ...options, needs, otherwise, remedy: instead });
  const names = new Set(backup.machines.map(({ typed }) => typed.spec.class?.name ?? "").filter((name) => name !== ""));
  const vms = new Map<string, readonly ListedMachine[]>();
  for (const name of names) vms.set(name, await vmsOf(name));
  return vms;
}

/** Controllers that lead see a set within a moment, and at the latest within this time, milliseconds. */
const SEEN_MS = 60_000;
/** The same where no Lease shows that any run, as without leader election: a restore waits so long for nothing. */
const SEEN_WITHOUT_LEASE_MS = 5_000;
const POLL_MS = 100;

/** A set whose status names what its controller has seen. */
type ObservedSet = KubeObject & { readonly status?: { readonly observedGeneration?: number } };

/** How long other clients may change an object that is to be deleted before the restore ends, milliseconds. */
const CONTENDED_MS = 60_000;

/**
 * Waits until controllers that run have seen the size of a set: by its former one, the machines that come would be surplus, and deleted.
 *
 * @throws ConfigError when controllers lead, and do not
 */
async function untilSeen(
  { control, namespace, clock, signal }: RestoreOptions,
  { metadata: { name = "", generation = 0 } }: KubeObject,
): Promise<void> {
  const leads = (await readLeaders(control, namespace, clock.now(), signal))?.leads === true;
  const deadline = startDeadline(clock, leads ? SEEN_MS : SEEN_WITHOUT_LEASE_MS, signal);
  try {
    for (;;) {
      const found = control.get<ObservedSet>(machineSetResource, { namespace, name }, { signal: deadline.signal });
      const set = await ignoreNotFound(found);
      if (set === undefined || (set.status?.observedGeneration ?? 0) >= generation) return;
      await clock.sleep(POLL_MS, deadline.signal);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!deadline.signal.aborted) throw error;
    // Where none runs, it lists sets and machines together when it starts.
    if (leads)
      throw new ConfigError(
        `the controllers have not seen the size of MachineSet ${name}, and would delete restored machines; run the same command again`,
        { cause: error },
      );
  } finally {
    deadline.clear();
  }
}

/** Writes the steps of a plan. */
function createWriter(options: RestoreOptions) {
  const { control, namespace, clock, signal } = options;
  /** Owners by kind and name, as they are now. */
  const owners = new Map<string, KubeObject>();
  const refsOf = ({ kind, owner }: RestoreStep): object => {
    const type = kind === "Machine" ? machineSetResource : machineDeploymentResource;
    const found = owner === undefined ? undefined : owners.get(`${type.kind}/${owner}`);
    return found === undefined ? {} : { ownerReferences: [newControllerRef(type, found)] };
  };
  const read = ({ kind }: RestoreStep, name: string): Promise<KubeObject | undefined> =>
    ignoreNotFound(control.get(typeOf(kind), { namespace, name }, { signal }));
  const patch = (step: RestoreStep, { metadata: { name = "", uid } }: KubeObject, metadata: object, version?: string) =>
    control.patch(
      typeOf(step.kind),
      { namespace, name },
      { metadata },
      { kind: "merge", signal, uid, resourceVersion: version },
    );
  const expectation = ({ expected }: RestoreStep): object =>
    expected === undefined ? {} : { annotations: { [annotationKeys.expectedReplicas]: String(expected) } };
  const create = async (step: RestoreStep): Promise<KubeObject> => {
    const object = { ...step.object, metadata: { ...step.object.metadata, ...refsOf(step) } };
    try {
      return await control.create(typeOf(step.kind), object, { signal });
    } catch (error) {
      // Created by an attempt whose response was lost, or by a controller.
      const found = isAlreadyExists(error) ? await read(step, step.name) : undefined;
      if (found === undefined) throw error;
      return step.expected === undefined ? found : patch(step, found, expectation(step));
    }
  };

  /** Takes the finalizers of an object whose deletion has not begun, in the version that shows it: without them the API server deletes it at once. Resolves with why not. */
  const remove = async (
    step: RestoreStep,
    { metadata: { name = "", uid } }: KubeObject,
  ): Promise<string | undefined> => {
    const deadline = startDeadline(clock, CONTENDED_MS, signal);
    const attempt = async (): Promise<string | undefined> => {
      const found = await read(step, name);
      if (found === undefined || found.metadata.uid !== uid) return undefined;
      const because = unmetPrecondition(found);
      if (because !== undefined) return because;
      await ignoreNotFound(patch(step, found, { finalizers: [] }, found.metadata.resourceVersion));
      return undefined;
    };
    try {
      return await retryConflicts(attempt, { clock, random: systemRandom, signal: deadline.signal });
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new ConfigError(`${step.kind} ${name} is changed all the time; run the same command again`);
    } finally {
      deadline.clear();
    }
  };

  const resize = async (type: ResourceType, name: string, replicas: number | undefined, uid?: string) =>
    control.patch(type, { namespace, name }, { spec: { replicas } }, { kind: "merge", signal, uid });
  /** Carries out one step; resolves with the object as it is then, or with why it is left out. */
  const carryOut = async (step: RestoreStep): Promise<KubeObject | string | undefined> => {
    const { action, current, kind } = step;
    if (action === "create") return create(step);
    if (current === undefined) return undefined;
    if (action === "replace")
      // The machines of a set get their new owner before they lose the old one.
      return (kind === "MachineSet" ? undefined : await remove(step, current)) ?? create(step);
    if (action === "scale") {
      const scaled = await resize(typeOf(kind), current.metadata.name ?? "", step.replicas, current.metadata.uid);
      for (const [name, size] of step.sets ?? [])
        await untilSeen(options, await resize(machineSetResource, name, size));
      return scaled;
    }
    if (action === "own")
      return ignoreNotFound(patch(step, current, { ownerReferences: null, ...refsOf(step), ...expectation(step) }));
    return step.expected === undefined ? current : patch(step, current, expectation(step));
  };

  return {
    know: (object: KubeObject, kind: BackupKind): void => void owners.set(`${kind}/${object.metadata.name}`, object),
    async run(step: RestoreStep): Promise<RestoreStep> {
      const result = await carryOut(step);
      if (typeof result === "string") return { ...step, action: "skip", because: result };
      if (result !== undefined) owners.set(`${step.kind}/${step.name}`, result);
      return step;
    },
    remove,
  };
}

async function carryOut(
  options: RestoreOptions,
  { steps }: RestorePlan,
  { deployments }: ExistingFleet,
): Promise<readonly RestoreStep[]> {
  const writer = createWriter(options);
  for (const deployment of deployments) writer.know(deployment, "MachineDeployment");
  const done: RestoreStep[] = [];
  const run = async (isWanted: (step: RestoreStep) => boolean): Promise<void> => {
    for (const step of steps) if (isWanted(step)) done.push(await writer.run(step));
  };
  await run(({ kind }) => kind !== "Machine" && kind !== "MachineDeployment");
  // Its sets wait for machines already: it creates none, and has room for those that come.
  await run(({ action }) => action === "scale");
  await run(({ kind }) => kind === "Machine");
  for (const step of steps)
    if (step.kind === "MachineSet" && step.action === "replace" && step.current !== undefined)
      await writer.remove(step, step.current);
  await run(({ kind, action }) => kind === "MachineDeployment" && action !== "scale");
  return done;
}

const reported = ({ kind, name, action, because, object }: RestoreStep): RestoredObject => {
  const { spec } = object;
  const id = isRecord(spec) ? spec["providerID"] : undefined;
  return {
    kind,
    name,
    action,
    ...(because === undefined ? {} : { because }),
    ...(typeof id === "string" && id !== "" ? { providerId: id } : {}),
  };
};

async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const { namespace, manifests, isDryRun } = options;
  const backup = readBackup(manifests, namespace);
  const vms = await listVms(options, backup);
  const existing = await readExisting(options, backup);
  const plan = planRestore(backup, existing, namespace, vms);
  if (plan.doubts.length > 0) throw new ConfigError(`${plan.doubts.join("; ")}; ${instead}`);
  const steps = isDryRun ? plan.steps : await carryOut(options, plan, existing);
  return { namespace, isDryRun, objects: steps.map(reported), notes: plan.notes };
}

/**
 * Creates the objects of a backup that are missing, so that Machines have their VMs and their owners again. Those that exist are left alone, but for owners that do not exist, and deletions that were requested and
 * have not begun. It may be repeated, also after it was interrupted.
 *
 * @throws ConfigError when the file or the lists of VMs cannot be used, or the API server does not allow it
 */
export async function restoreFleet(options: RestoreOptions): Promise<RestoreReport> {
  try {
    return await restore(options);
  } catch (error) {
    throw explainFailure(
      error,
      "a restore needs to get, list, create and patch machineclasses, machinedeployments, machinesets, machines and secrets",
    );
  }
}
