import { annotationKeys, type Machine, machineResource } from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";
import { truthOf } from "../world/truth.ts";
import type { FaultKind, FaultStage } from "./fault.ts";

const MINUTE = 60_000;

/** What goes wrong for people is theirs to see: here it is left as it is. */
const ignore = (): undefined => undefined;

/** A machine with a VM, which no one deletes yet, and whose set will adopt what people copy of it. */
function oneMachine({ world, choices }: FaultStage): Machine | undefined {
  const truth = truthOf(world);
  const sets = new Map(truth.sets().map((set) => [set.metadata.uid, set]));
  return choices.anyOf(
    truth.machines().filter(({ metadata, spec }) => {
      const owner = sets.get(metadata.ownerReferences?.[0]?.uid ?? "");
      const isKept = metadata.deletionTimestamp === undefined && owner?.metadata.deletionTimestamp === undefined;
      const isSelected = metadata.labels?.["name"] !== undefined;
      return isKept && isSelected && owner !== undefined && spec.providerID !== undefined;
    }),
  );
}

const refOf = ({ metadata: { namespace, name } }: Machine) => ({ namespace, name });

/** The manifest of a machine under another name, as people save it. */
function copyOf(machine: Machine, name: string, more: Readonly<Record<string, string>> = {}): KubeObject {
  const { namespace = "", labels = {}, annotations = {} } = machine.metadata;
  return {
    ...machine,
    metadata: { name, namespace, labels, annotations: { ...annotations, ...more } },
    status: undefined,
  };
}

/** Something that people do to a machine at once. */
const act = (what: string, begin: (stage: FaultStage, machine: Machine) => Promise<string>): FaultKind => ({
  maxMs: 0,
  async begin(stage) {
    const machine = oneMachine(stage);
    return machine === undefined ? `no machine to ${what}` : begin(stage, machine);
  },
});

/** A change that people take back: until it is undone they try again. */
const edit = (what: string, change: object, undo: (machine: Machine) => object): FaultKind => ({
  maxMs: 10 * MINUTE,
  async begin(stage) {
    const machine = oneMachine(stage);
    if (machine === undefined) return "no machine to edit";
    const { people, outside } = stage.world;
    const patch = (body: object): Promise<unknown> =>
      people.patch(machineResource, refOf(machine), body, { kind: "merge" });
    // Without its labels or its owner it is none of its set.
    stage.world.lost.add(machine.metadata.uid ?? "");
    await patch(change).catch(ignore);
    const end = (attempt = 0): void =>
      void patch(undo(machine)).catch(() => {
        if (attempt < 10) outside.clock.setTimer(10_000, () => end(attempt + 1));
      });
    return { what: `${what} of machine ${machine.metadata.name}`, end };
  },
});

/** What people do with the manifests of machines. */
export const manifestFaults = {
  "copy-first": act("copy", async ({ world, choices }, machine) => {
    const name = `${machine.metadata.name}-copy${choices.below(100)}`;
    const more = { [annotationKeys.machinePriority]: "99" };
    await world.people.create(machineResource, copyOf(machine, name, more)).catch(ignore);
    return `copy machine ${machine.metadata.name} to ${name}, with priority 99`;
  }),
  "rename-machine": act("rename", async ({ world, choices }, machine) => {
    const { name, uid = "" } = machine.metadata;
    const renamed = `${name}-renamed${choices.below(100)}`;
    const free = (): Promise<unknown> =>
      world.people
        .patch(machineResource, refOf(machine), { metadata: { finalizers: null } }, { kind: "merge" })
        .catch(ignore);
    world.released.add(uid);
    world.lost.add(uid);
    await world.people.create(machineResource, copyOf(machine, renamed)).catch(ignore);
    await free();
    await world.people.delete(machineResource, refOf(machine)).catch(ignore);
    await free();
    return `rename machine ${name} to ${renamed}`;
  }),
  "unlabel-machine": edit("labels", { metadata: { labels: { name: null } } }, ({ metadata }) => ({
    metadata: { labels: { name: metadata.labels?.["name"] ?? null } },
  })),
  "disown-machine": edit("owner", { metadata: { ownerReferences: null } }, () => ({})),
  "edit-provider-id": edit("provider id", { spec: { providerID: "mock:///sim-1/i-000000000000" } }, ({ spec }) => ({
    spec: { providerID: spec.providerID },
  })),
} as const satisfies Readonly<Record<string, FaultKind>>;
