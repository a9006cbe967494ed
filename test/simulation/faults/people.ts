import {
  type Machine,
  machineDeploymentResource,
  machineResource,
  annotationKeys,
  labelKeys,
  machineSetResource,
} from "@millwright/core/machine-api";
import { isNotFound, nodeResource, type ObjectRef } from "@millwright/kube";
import { truthOf } from "../world/truth.ts";
import { poolName } from "../world/world.ts";
import { approveLosses } from "./approvals.ts";
import type { FaultKind, FaultStage } from "./fault.ts";

/** What goes wrong for people is theirs to see: here it is left as it is. */
const ignore = (): undefined => undefined;

/** One of the deployments; it is there until people delete it. */
const onePool = ({ world, choices }: FaultStage): ObjectRef => {
  const { namespace, name } = choices.anyOf(truthOf(world).pools())?.metadata ?? { name: poolName };
  return { namespace, name };
};

const patchPool = async ({ world }: Pick<FaultStage, "world">, patch: object, ref: ObjectRef): Promise<void> => {
  await world.people.patch(machineDeploymentResource, ref, patch, { kind: "merge" }).catch(ignore);
};

/** What people take back they try until it works: the API server may be down for a minute. */
const takeBack = (stage: Pick<FaultStage, "world">, patch: object, ref: ObjectRef): void => {
  const { people, outside } = stage.world;
  const again = (error: unknown): void => {
    if (!isNotFound(error)) outside.clock.setTimer(10_000, () => takeBack(stage, patch, ref));
  };
  void people.patch(machineDeploymentResource, ref, patch, { kind: "merge" }).catch(again);
};

const nameOf = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;

const oneMachine = ({ world, choices }: FaultStage) => choices.anyOf(truthOf(world).machines());

/** Something that people do at once. */
const act = (begin: (stage: FaultStage) => Promise<string>): FaultKind => ({ maxMs: 0, begin });

/** Whether it is the copy of a machine that no set has adopted yet. */
const isCopyToAdopt = ({ metadata }: Machine): boolean =>
  metadata.name.endsWith("-copy") && (metadata.ownerReferences ?? []).length === 0;

/** What people do while all this goes on. */
export const people = {
  scale: act(async (stage) => {
    const replicas = stage.choices.below(6);
    const pool = onePool(stage);
    await patchPool(stage, { spec: { replicas } }, pool);
    return `scale ${nameOf(pool)} to ${replicas}`;
  }),
  roll: act(async (stage) => {
    const version = String(stage.choices.below(1_000));
    const pool = onePool(stage);
    await patchPool(stage, { spec: { template: { metadata: { labels: { version } } } } }, pool);
    return `new template ${version} of ${nameOf(pool)}`;
  }),
  "roll-back": act(async (stage) => {
    const pool = onePool(stage);
    await patchPool(stage, { spec: { rollbackTo: { revision: 0 } } }, pool);
    return `roll back ${nameOf(pool)}`;
  }),
  pause: {
    maxMs: 20 * 60_000,
    async begin(stage) {
      const pool = onePool(stage);
      await patchPool(stage, { spec: { paused: true } }, pool);
      return { what: `pause ${nameOf(pool)}`, end: () => takeBack(stage, { spec: { paused: null } }, pool) };
    },
  },
  recreate: {
    maxMs: 15 * 60_000,
    async begin(stage) {
      const pool = onePool(stage);
      await patchPool(stage, { spec: { strategy: { type: "Recreate", rollingUpdate: null } } }, pool);
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
      const end = (): void => takeBack(stage, { spec: { strategy } }, pool);
      return { what: `${nameOf(pool)} replaces all machines at once`, end };
    },
  },
  "canary-steps": {
    maxMs: 20 * 60_000,
    async begin(stage) {
      const pool = onePool(stage);
      const annotated = (steps: string | null) => ({
        metadata: { annotations: { [annotationKeys.canarySteps]: steps } },
      });
      await patchPool(stage, annotated("1/1m,50%/2m"), pool);
      return { what: `${nameOf(pool)} rolls in steps`, end: () => takeBack(stage, annotated(null), pool) };
    },
  },
  cordon: {
    maxMs: 15 * 60_000,
    async begin({ world, choices }) {
      const name = choices.anyOf(truthOf(world).nodeNames());
      if (name === undefined) return "no node to cordon";
      const set = async (unschedulable: boolean | null): Promise<void> =>
        void (await world.people
          .patch(nodeResource, { name }, { spec: { unschedulable } }, { kind: "merge" })
          .catch(ignore));
      await set(true);
      return { what: `cordon node ${name}`, end: () => void set(null) };
    },
  },
  "delete-machine": act(async (stage) => {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to delete";
    const { namespace, name, uid = "" } = machine.metadata;
    stage.world.requested.add(uid);
    if (stage.choices.chance(0.3)) {
      const patch = { metadata: { labels: { [labelKeys.forceDeletion]: "True" } } };
      await stage.world.people.patch(machineResource, { namespace, name }, patch, { kind: "merge" }).catch(ignore);
    }
    await stage.world.people.delete(machineResource, { namespace, name }).catch(ignore);
    return `delete machine ${name}`;
  }),
  "delete-node": act(async ({ world, choices }) => {
    const name = choices.anyOf(truthOf(world).nodeNames());
    if (name === undefined) return "no node to delete";
    // A machine whose Node someone deletes is deleted, too.
    for (const { metadata } of truthOf(world).machines())
      if (metadata.labels?.[labelKeys.node] === name) world.requested.add(metadata.uid ?? "");
    await world.people.delete(nodeResource, { name }).catch(ignore);
    const returns = choices.chance(0.5);
    if (returns) world.kubelets.registerAgain(name);
    return `delete node ${name}${returns ? ", which registers again" : ""}`;
  }),
  "edit-machine": act(async (stage) => {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to edit";
    const { namespace, name } = machine.metadata;
    const patch = stage.choices.oneOf<object>([
      { metadata: { annotations: { [annotationKeys.machinePriority]: "1" } } },
      { metadata: { labels: { [labelKeys.node]: null } } },
      { metadata: { annotations: { "example.com/edited": "true" } } },
      { spec: { healthTimeout: "2m" } },
    ]);
    await stage.world.people.patch(machineResource, { namespace, name }, patch, { kind: "merge" }).catch(ignore);
    return `edit machine ${name}: ${JSON.stringify(patch)}`;
  }),
  "remove-finalizers": act(async (stage) => {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to release";
    const { namespace, name, uid = "" } = machine.metadata;
    stage.world.released.add(uid);
    stage.world.requested.add(uid);
    await stage.world.people.delete(machineResource, { namespace, name }).catch(ignore);
    const patch = { metadata: { finalizers: null } };
    await stage.world.people.patch(machineResource, { namespace, name }, patch, { kind: "merge" }).catch(ignore);
    approveLosses(stage.world);
    return `delete machine ${name} and take its finalizers away`;
  }),
  "delete-set": act(async (stage) => {
    const set = stage.choices.anyOf(truthOf(stage.world).sets());
    if (set === undefined) return "no set to delete";
    const { namespace, name, uid = "" } = set.metadata;
    // No other set would adopt the copy, and it would stay as people made it.
    if (truthOf(stage.world).machines().some(isCopyToAdopt)) return "a set is still to adopt the copy of a machine";
    stage.world.requested.add(uid);
    await stage.world.people.delete(machineSetResource, { namespace, name }).catch(ignore);
    return `delete machine set ${name}`;
  }),
  "copy-machine": act(async (stage) => {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to copy";
    const sets = truthOf(stage.world).sets();
    const owner = sets.find(({ metadata }) => metadata.uid === machine.metadata.ownerReferences?.[0]?.uid);
    // No set would adopt the copy, and it would stay as people made it.
    if (owner?.metadata.deletionTimestamp !== undefined) return "the set of the machine to copy is being deleted";
    if (machine.metadata.labels?.["name"] === undefined) return "the machine to copy has lost its labels";
    const name = `${machine.metadata.name}-copy`;
    const { namespace = "", labels = {}, annotations = {} } = machine.metadata;
    await stage.world.people
      .create(machineResource, { ...machine, metadata: { name, namespace, labels, annotations }, status: {} })
      .catch(ignore);
    return `copy machine ${machine.metadata.name} to ${name}`;
  }),
} as const satisfies Readonly<Record<string, FaultKind>>;
