import { crds, type Machine, type MachineKind, machineKinds } from "@millwright/core";
import {
  type ApiClient,
  customResourceDefinitionResource,
  describeType,
  isNotFound,
  type KubeObject,
  withTypeMeta,
} from "@millwright/kube";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";

const namespace = "default";

/** The name of a kind's definition. */
export const crdNameOf = (kind: MachineKind): string => describeType(machineKinds[kind]);

/** Deletes a definition as a person does. */
export async function deleteCrd(api: ApiClient, kind: MachineKind): Promise<void> {
  await api.delete(customResourceDefinitionResource, { name: crdNameOf(kind) });
}

/** Waits until a definition is gone, with all of its objects. */
export async function untilCrdDeleted(api: ApiClient, kind: MachineKind): Promise<void> {
  await eventually(async () => {
    const ref = { name: crdNameOf(kind) };
    expect(await api.get(customResourceDefinitionResource, ref).then(() => false, isNotFound)).toBe(true);
  }, 90_000);
}

/** Declares a kind again, and waits until it is served. */
export async function recreateCrd(api: ApiClient, kind: MachineKind): Promise<void> {
  const crd = crds().find(({ metadata }) => metadata.name === crdNameOf(kind));
  await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crdNameOf(kind) } });
  await eventually(() => api.list(machineKinds[kind], { namespace }), 60_000);
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { metadata, status: _, ...rest } = object;
  const { name, labels, annotations } = metadata;
  return {
    ...rest,
    metadata: {
      namespace,
      ...(name === undefined ? {} : { name }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  };
}

/** All objects of a kind in the form in which they can be created again; the guide has the same in jq. */
export async function exportObjects(api: ApiClient, kind: MachineKind): Promise<readonly KubeObject[]> {
  const { items } = await api.list(machineKinds[kind], { namespace });
  return items.map((item) => withoutServerFields(withTypeMeta(machineKinds[kind], item)));
}

/** Takes the finalizers off all objects of a kind, so that they go without anything being done about them. */
export async function removeFinalizers(api: ApiClient, kind: MachineKind): Promise<void> {
  for (const { metadata } of (await api.list(machineKinds[kind], { namespace })).items) {
    const ref = { namespace, name: metadata.name ?? "" };
    await api
      .patch(machineKinds[kind], ref, { metadata: { finalizers: null } }, { kind: "merge" })
      .catch(() => undefined);
  }
}

/** Makes kept objects again. */
export async function recreateObjects(
  api: ApiClient,
  kind: MachineKind,
  objects: readonly KubeObject[],
): Promise<void> {
  for (const object of objects) await eventually(() => api.create(machineKinds[kind], object), 60_000);
}

/** Machines with the VM that each stands for, sorted. */
export const vmsOf = (machines: readonly Machine[]): readonly string[] =>
  machines.map(({ metadata, spec }) => `${metadata.name} ${spec.providerID}`).toSorted();
