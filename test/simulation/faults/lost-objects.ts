import { isRecord } from "@millwright/base";
import {
  annotationKeys,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { apiTime, ignoreNotFound, isAlreadyExists, type KubeObject, type ResourceType } from "@millwright/kube";
import { createMockDriver } from "@millwright/provider-mock";
import { restoreFleet } from "@millwright/runtime/checks";
import type { Choices } from "../world/streams.ts";
import { truthOf } from "../world/truth.ts";
import type { World } from "../world/world.ts";
import type { FaultKind, FaultOutcome, FaultStage } from "./fault.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** An object as an export has it. */
interface Exported {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

const types = [machineDeploymentResource, machineSetResource, machineResource] as const;

/** What `kubectl get -o json` has of a namespace, owners first. */
function exportOf({ server }: World, namespace: string, hasTerminating = false): readonly Exported[] {
  return types.flatMap((type) =>
    server.objects
      .list(`${type.plural}.${type.group}`, namespace)
      .filter(({ metadata }) => hasTerminating || metadata["deletionTimestamp"] === undefined)
      // The schemas of the CRDs vouch for what is stored.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      .map((object): Exported => ({ type, object: object as unknown as KubeObject })),
  );
}

/** How an export is applied: as it is, without what names other objects of before, or by `millwright restore`. */
type Form = "raw" | "stripped" | "by millwright restore";

function manifestOf({ object }: Exported, form: Form): KubeObject {
  const { metadata, ...rest } = object;
  const { resourceVersion: _, uid: __, ...kept } = metadata;
  if (form === "raw") return { ...rest, metadata: kept };
  const { name, namespace = "", labels = {}, annotations = {} } = metadata;
  return { ...rest, status: undefined, metadata: { name: name ?? "", namespace, labels, annotations } };
}

const providerIdOf = ({ object: { spec } }: Exported): unknown => (isRecord(spec) ? spec["providerID"] : undefined);

const refOf = ({ object: { metadata } }: Exported) => ({
  namespace: metadata.namespace ?? "",
  name: metadata.name ?? "",
});

const ownersOf = ({ object: { metadata } }: Exported): readonly unknown[] =>
  (metadata.ownerReferences ?? []).map(({ uid }) => uid);

const isStored = ({ server }: World, { type, object: { metadata } }: Exported): boolean =>
  server.objects.get(`${type.plural}.${type.group}`, metadata.namespace ?? "", metadata.name ?? "") !== undefined;

/** Takes the finalizers of an object away and deletes it; what depends on it stays. Resolves with whether it is gone. */
async function lose(world: World, lost: Exported, isCollected: boolean): Promise<boolean> {
  const { people, requested, released, lost: machines } = world;
  const ref = refOf(lost);
  const { uid = "" } = lost.object.metadata;
  const free = (): Promise<unknown> =>
    ignoreNotFound(people.patch(lost.type, ref, { metadata: { finalizers: null } }, { kind: "merge" }));
  // Of a lost set, too, others are created for its machines.
  for (const { metadata } of truthOf(world).machines())
    if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) machines.add(metadata.uid ?? "");
  released.add(uid);
  try {
    await free();
    await ignoreNotFound(people.delete(lost.type, ref, isCollected ? { propagation: "Orphan" } : {}));
    // The controllers may have put them back meanwhile: then they have seen a deletion that people requested.
    if (isStored(world, lost)) requested.add(uid);
    await free();
  } catch {
    requested.add(uid);
    return false;
  }
  if (lost.type === machineResource) machines.add(uid);
  return true;
}

/** Creates an object again; people try until it works. */
async function create(world: World, exported: Exported, form: Form): Promise<void> {
  const { people, outside } = world;
  await people.create(exported.type, manifestOf(exported, form)).catch((error: unknown) => {
    if (!isAlreadyExists(error)) outside.clock.setTimer(10_000, () => void create(world, exported, form));
  });
}

/** People run `millwright restore`, until it works. */
async function restore(world: World, lost: readonly Exported[], attempt = 0): Promise<void> {
  const { people: control, outside, cloud } = world;
  const [first] = lost;
  if (first === undefined) return;
  await restoreFleet({
    control,
    namespace: refOf(first).namespace,
    manifests: lost.map(({ type, object }) => ({
      source: "export",
      object: { ...object, apiVersion: `${type.group}/${type.version}`, kind: type.kind },
    })),
    isDryRun: false,
    ignoresCloud: false,
    driverFor: async () => createMockDriver({ cloud }),
    clock: outside.clock,
    log: () => undefined,
    signal: new AbortController().signal,
  }).catch((error: unknown) => {
    world.transcript.add(
      "note",
      "people",
      `millwright restore: ${error instanceof Error ? error.message : String(error)}`,
    );
    if (attempt < 30) outside.clock.setTimer(20_000, () => void restore(world, lost, attempt + 1));
  });
}

/** Machines that the garbage collector deletes, and whose deletion is held for that, are exported as they are and restored, as their message has it. */
async function restoreHeld(world: World, namespace: string): Promise<void> {
  const held = world.server.objects
    .list(`${machineResource.plural}.${machineResource.group}`, namespace)
    .filter((object) => JSON.stringify(object["status"] ?? "").includes("Was Machine"))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    .map((object): Exported => ({ type: machineResource, object: object as unknown as KubeObject }));
  if (held.length === 0) return;
  for (const { object } of held) world.released.add(object.metadata.uid ?? "");
  const names = held.map(({ object }) => object.metadata.name).join(", ");
  world.transcript.add("note", "people", `millwright restore of machines ${names}`);
  await restore(world, held);
  // Those whose VM does not exist are not restored.
  const until = apiTime(new Date(world.outside.clock.now().getTime() + HOUR));
  const patch = { metadata: { annotations: { [annotationKeys.approveDeletions]: until } } };
  for (const each of held)
    if (
      !truthOf(world)
        .liveVms()
        .some(({ providerId }) => providerId === providerIdOf(each))
    )
      await world.people.patch(machineResource, refOf(each), patch, { kind: "merge" }).catch(() => undefined);
}

/** The garbage collector is late, and still at owners that were deleted without what they own: it takes them off objects that were restored meanwhile, and that it may have deleted. */
async function orphanLate(world: World, namespace: string, gone: readonly Exported[]): Promise<void> {
  const uids: ReadonlySet<unknown> = new Set(gone.map(({ object }) => object.metadata.uid));
  for (const each of exportOf(world, namespace, true)) {
    const patch = { metadata: { uid: each.object.metadata.uid, ownerReferences: null } };
    if (ownersOf(each).some((uid) => uids.has(uid)))
      await world.people.patch(each.type, refOf(each), patch, { kind: "merge" }).catch(() => undefined);
  }
}

const orders: readonly [string, ...string[]] = ["owners first", "machines first", "any order"];

function ordered(lost: readonly Exported[], order: string, choices: Choices): readonly Exported[] {
  if (order === "machines first") return lost.toReversed();
  if (order === "owners first") return lost;
  return lost
    .map((each) => ({ each, key: choices.below(1_000_000) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ each }) => each);
}

/** What is lost of an export: some machines, sets or deployments, or all of it. */
function selectLost(exported: readonly Exported[], choices: Choices): readonly Exported[] {
  const what = choices.oneOf([
    [machineResource],
    [machineResource],
    [machineSetResource],
    [machineDeploymentResource],
    [machineSetResource, machineResource],
    types,
  ] as const);
  const share = choices.oneOf([0.4, 1, 1]);
  return exported.filter(({ type }) => what.some((each) => each === type) && choices.chance(share));
}

/** Sets of lost deployments that do not exist any more: a deployment whose deletion was seen before its finalizers were gone took them with it. */
const lostWith = (world: World, gone: readonly Exported[], exported: readonly Exported[]): readonly Exported[] =>
  exported.filter(
    (each) =>
      each.type === machineSetResource &&
      !gone.includes(each) &&
      gone.some(({ object: { metadata } }) => ownersOf(each).includes(metadata.uid)) &&
      !isStored(world, each),
  );

/** Most machines of a set are lost while no process runs, and the cluster autoscaler lowers the replicas to those that are left. Later they are restored. */
async function loseMost({ world, choices, durationMs }: FaultStage): Promise<FaultOutcome> {
  const truth = truthOf(world);
  const pool = truth.pool();
  const replicas = pool?.spec.replicas ?? 0;
  const namespace = pool?.metadata.namespace ?? "";
  const machines = exportOf(world, namespace).filter(({ type }) => type === machineResource);
  const isWhole = truth.machines().every(({ status }) => status?.currentStatus?.phase === "Running");
  const isOneSet = new Set(machines.flatMap(ownersOf)).size === 1;
  // Fewer are created again at once: the deletion budget always allows ten.
  const left = choices.below(Math.max(1, Math.min(3, replicas - 10)));
  if (!isWhole || !isOneSet || machines.length !== replicas || replicas - left <= 10) return "the fleet is not whole";
  const exported = machines.slice(left);
  for (const process of world.processes) process.crash();
  const gone: Exported[] = [];
  for (const each of exported) if (await lose(world, each, false)) gone.push(each);
  const scale = (count: number): void =>
    void world.people
      .patch(
        machineDeploymentResource,
        { namespace, name: pool?.metadata.name ?? "" },
        { spec: { replicas: count } },
        { kind: "merge" },
      )
      .catch(() => undefined);
  // Once the set has recorded what it lost: a process leads again within two minutes.
  const lowerMs = 5 * MINUTE + durationMs / 10;
  if (lowerMs < durationMs)
    world.outside.clock.setTimer(lowerMs, () => {
      // Unless a person approved that others are created in their place.
      if (truth.pool()?.spec.replicas === replicas && truth.machines().length < replicas)
        for (const { object } of gone) world.awaiting.add(object.metadata.uid ?? "");
      scale(left);
    });
  const end = (): void => {
    scale(replicas);
    void restore(world, gone);
  };
  return {
    what: `lost while no process runs: ${gone.length} of ${replicas} machines; the autoscaler lowers the fleet to ${left}`,
    end,
  };
}

/** Some objects are lost, and created again from an export. */
async function loseObjects({ world, choices }: FaultStage) {
  const namespace = choices.anyOf(truthOf(world).pools())?.metadata.namespace ?? "default";
  const exported = exportOf(world, namespace);
  const lost = selectLost(exported, choices);
  const [form, order] = [choices.oneOf<Form>(["raw", "stripped", "by millwright restore"]), choices.oneOf(orders)];
  const collector = choices.oneOf(["runs", "stops for the loss", "stops for long"]);
  const lagMs = collector === "stops for long" ? choices.between(0, 20 * MINUTE) : 0;
  const stopped =
    collector === "runs" ? undefined : world.server.clusterFaults.add({ kind: "garbage-collector-stops" });
  // Machines first: nothing of them is left to the garbage collector.
  const gone: Exported[] = [];
  // A set has the record of the machines that it has lost.
  if (lost.some(({ type }) => type !== machineResource)) world.awaiting.clear();
  for (const each of lost.toReversed()) if (await lose(world, each, stopped === undefined)) gone.unshift(each);
  const names = gone.map(({ type, object }) => `${type.kind} ${object.metadata.name}`).join(", ");
  const end = async (): Promise<void> => {
    const missing = [...gone, ...lostWith(world, gone, exported)];
    if (form === "by millwright restore") await restore(world, missing);
    else for (const each of ordered(missing, order, choices)) await create(world, each, form);
    world.outside.clock.setTimer(lagMs, () => stopped?.remove());
    if (form === "raw" && stopped === undefined && choices.chance(0.5))
      world.outside.clock.setTimer(choices.between(0, 30_000), () => void orphanLate(world, namespace, gone));
    // What was lost of another export meanwhile may be restored later.
    for (const minutes of [5, 10, 20, 40, 80, 160])
      world.outside.clock.setTimer(minutes * MINUTE, () => void restoreHeld(world, namespace));
  };
  return {
    what: `lost: ${names}; to be restored ${form}, ${order}; the garbage collector ${collector}`,
    end: () => void end(),
  };
}

/** Objects that are lost. */
export const lostObjectFaults = {
  "objects-lost": { maxMs: 12 * MINUTE, begin: loseObjects },
  /** Longer than the quarantine of VMs without machine. */
  "objects-lost-for-long": { maxMs: 90 * MINUTE, begin: loseObjects },
  "most-machines-lost": { maxMs: 90 * MINUTE, begin: loseMost },
} as const satisfies Readonly<Record<string, FaultKind>>;
