import {
  labelKeys,
  type Machine,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type KubeObject, nodeResource, type ResourceType } from "@millwright/kube";
import type { Stage } from "./scenario.ts";

/** Machines that are copied together. */
const BATCH = 100;

/** What the API server gives an object. */
const ofServer = new Set(["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"]);

const withoutServerFields = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: Object.fromEntries(Object.entries(object.metadata).filter(([field]) => !ofServer.has(field))),
});

/** An object with other names in all its texts. */
function renamed<T extends KubeObject>(object: T, names: Readonly<Record<string, string>>): T {
  const text = Object.entries(names).reduce((all, [from, to]) => all.replaceAll(from, to), JSON.stringify(object));
  return JSON.parse(text) as T;
}

/**
 * Makes a fleet of a namespace's only machine, as the controllers would have made it: copies of the machine with a VM and a Node each, and a deployment and a set that want so
 * many. To be called while no controllers run. The Nodes stay ready: they have no Leases, so that nothing takes them for silent.
 */
export async function copyMachine(stage: Stage, namespace: string, machines: number): Promise<void> {
  const { api } = stage;
  const [machine] = (await api.list<Machine>(machineResource, { namespace })).items;
  const nodeName = machine?.metadata.labels?.[labelKeys.node];
  if (machine === undefined || nodeName === undefined)
    throw new Error(`namespace ${namespace} has no machine with a Node`);
  const { name } = machine.metadata;
  const { providerID = "" } = machine.spec;
  const node = await api.get(nodeResource, { name: nodeName });

  async function copy(names: readonly string[]): Promise<void> {
    const created = await Promise.all(
      names.map((copied) => {
        const object = withoutServerFields(renamed(machine as Machine, { [name]: copied }));
        return api.create(machineResource, { ...object, spec: { ...object.spec, providerID: undefined } });
      }),
    );
    const copies = created.map(({ metadata }) => ({ name: metadata.name ?? "", machineUid: metadata.uid ?? "" }));
    const { providerIds = [] } = await stage.world({ kind: "copy-vm", name, copies });
    await Promise.all(
      copies.map(async ({ name: copied }, index) => {
        const names = { [name]: copied, [providerID]: providerIds[index] ?? "" };
        const { spec, status } = renamed(machine as Machine, names);
        const ref = { namespace, name: copied };
        await api.create(nodeResource, withoutServerFields(renamed(node, names)));
        await api.patch(machineResource, ref, { spec }, { kind: "merge" });
        await api.patch(machineResource, ref, { status }, { kind: "merge", subresource: "status" });
      }),
    );
  }

  const suffixes = Array.from({ length: machines - 1 }, (_, index) => index.toString(36).padStart(5, "0"));
  const names = suffixes.map((suffix) => name.replace(/-[^-]*$/, `-${suffix}`));
  for (let first = 0; first < names.length; first += BATCH) await copy(names.slice(first, first + BATCH));
  const setReplicas = async (type: ResourceType): Promise<void> => {
    for (const { metadata } of (await api.list(type, { namespace })).items) {
      const ref = { namespace, name: metadata.name ?? "" };
      await api.patch(type, ref, { spec: { replicas: machines } }, { kind: "merge" });
    }
  };
  await setReplicas(machineSetResource);
  await setReplicas(machineDeploymentResource);
}
