import type { Driver } from "@millwright/core";
import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
} from "@millwright/core/machine-api";
import type { CloudErrorCode, Vm } from "@millwright/provider-mock";
import { isLive } from "@millwright/provider-mock";
import type { CloudCall } from "../network/cloud-wire.ts";
import { namespace } from "../world/controller-process.ts";
import { truthOf } from "../world/truth.ts";
import { classNamed, poolName, type World } from "../world/world.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** What staging a situation needs. */
export interface Stage {
  readonly world: World;
  /** Lets time pass. */
  run(ms: number): Promise<void>;
  /** Lets time pass until a request of a user is answered. */
  settle<T>(work: Promise<T>): Promise<T>;
}

/** A situation that people look at. */
export interface Situation {
  readonly replicas: number;
  readonly hasPods?: boolean;
  /** The driver of other classes. */
  readonly driver?: Driver;
  /** Brings it about, from a pool whose machines run; resolves with the object to ask for, absent: the deployment. */
  readonly stage: (stage: Stage) => Promise<string | undefined>;
}

/** Situations by the names of their transcripts. */
export type Situations = Readonly<Record<string, Situation>>;

const poolRef = { namespace, name: poolName };

/** Changes the deployment, and nothing else. */
export const patchPool = async ({ world, settle }: Stage, patch: object): Promise<void> =>
  void (await settle(world.people.patch(machineDeploymentResource, poolRef, patch, { kind: "merge" })));

/** The change of a template to another class. */
export const template = (className: string): object => ({
  spec: { template: { spec: { class: { name: className } } } },
});

/** Creates another class of the same cloud. */
export const createClass = async ({ world, settle }: Stage, name: string, change: object = {}): Promise<void> =>
  void (await settle(world.people.create(machineClassResource, { ...classNamed(name, "image-2"), ...change })));

/** The machines by name. */
export const machinesOf = ({ world }: Stage): readonly Machine[] =>
  truthOf(world)
    .machines()
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

/** The first machine by name. */
export function firstMachine(stage: Stage): Machine {
  const [first] = machinesOf(stage);
  if (first === undefined) throw new Error("the pool has no machine");
  return first;
}

/** The only set. */
export function onlySet({ world }: Stage): MachineSet {
  const [set] = truthOf(world).sets();
  if (set === undefined) throw new Error("the pool has no set");
  return set;
}

/** Requests the deletion of a machine. */
export const deleteMachine = async ({ world, settle }: Stage, name: string): Promise<void> =>
  void (await settle(world.people.delete(machineResource, { namespace, name })));

/** The live VM of a machine. */
export function vmNamed({ world }: Stage, name: string): Vm {
  const vm = world.cloud.vms().find((each) => each.name === name && isLive(each));
  if (vm === undefined) throw new Error(`machine ${name} has no VM`);
  return vm;
}

/** Lets calls of the cloud fail for good. */
export function failCalls(
  { world }: Stage,
  failing: CloudCall["operation"],
  code: CloudErrorCode,
  message?: string,
): void {
  world.cloudWire.addFault({
    ofCall: ({ operation }) =>
      operation === failing
        ? { kind: "fails", code, accepted: false, ...(message === undefined ? {} : { message }) }
        : undefined,
  });
}
