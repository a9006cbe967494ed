import {
  machineDeploymentResource,
  machineResource,
  annotationKeys,
  labelKeys,
  machineSetResource,
} from "@millwright/core";
import { nodeResource } from "@millwright/kube";
import { namespace } from "../world/controller-process.ts";
import { truthOf } from "../world/truth.ts";
import { poolName } from "../world/world.ts";
import type { FaultKind, FaultStage } from "./fault.ts";

/** What goes wrong for people is theirs to see: here it is left as it is. */
const ignore = (): undefined => undefined;

const patchPool = async ({ world }: Pick<FaultStage, "world">, patch: object): Promise<void> => {
  await world.people
    .patch(machineDeploymentResource, { namespace, name: poolName }, patch, { kind: "merge" })
    .catch(ignore);
};

const oneMachine = ({ world, choices }: FaultStage) => choices.anyOf(truthOf(world).machines());

/** Something that people do at once. */
const act = (begin: (stage: FaultStage) => Promise<string>): FaultKind => ({ maxMs: 0, begin });

/** What people do while all this goes on. */
export const people = {
  scale: act(async (stage) => {
    const replicas = stage.choices.below(7);
    await patchPool(stage, { spec: { replicas } });
    return `scale to ${replicas}`;
  }),
  roll: act(async (stage) => {
    const version = String(stage.choices.below(1_000));
    await patchPool(stage, { spec: { template: { metadata: { labels: { version } } } } });
    return `new template ${version}`;
  }),
  "roll-back": act(async (stage) => {
    await patchPool(stage, { spec: { rollbackTo: { revision: 0 } } });
    return "roll back";
  }),
  pause: {
    maxMs: 20 * 60_000,
    async begin(stage) {
      await patchPool(stage, { spec: { paused: true } });
      return { what: "pause", end: () => void patchPool(stage, { spec: { paused: null } }) };
    },
  },
  "delete-machine": act(async (stage) => {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to delete";
    const { name } = machine.metadata;
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
    await world.people.delete(nodeResource, { name }).catch(ignore);
    const returns = choices.chance(0.5);
    if (returns) world.kubelets.registerAgain(name);
    return `delete node ${name}${returns ? ", which registers again" : ""}`;
  }),
  "edit-machine": act(async (stage) => {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to edit";
    const { name } = machine.metadata;
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
    const { name, uid = "" } = machine.metadata;
    stage.world.released.add(uid);
    await stage.world.people.delete(machineResource, { namespace, name }).catch(ignore);
    const patch = { metadata: { finalizers: null } };
    await stage.world.people.patch(machineResource, { namespace, name }, patch, { kind: "merge" }).catch(ignore);
    return `delete machine ${name} and take its finalizers away`;
  }),
  "delete-set": act(async (stage) => {
    const set = stage.choices.anyOf(truthOf(stage.world).sets());
    if (set === undefined) return "no set to delete";
    const { name } = set.metadata;
    await stage.world.people.delete(machineSetResource, { namespace, name }).catch(ignore);
    return `delete machine set ${name}`;
  }),
  "copy-machine": act(async (stage) => {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to copy";
    const name = `${machine.metadata.name}-copy`;
    const { labels = {}, annotations = {} } = machine.metadata;
    await stage.world.people
      .create(machineResource, { ...machine, metadata: { name, namespace, labels, annotations }, status: {} })
      .catch(ignore);
    return `copy machine ${machine.metadata.name} to ${name}`;
  }),
} as const satisfies Readonly<Record<string, FaultKind>>;
