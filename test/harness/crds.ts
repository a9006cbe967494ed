import { crds, type Machine, type MachineKind, machineKinds } from "@millwright/core/machine-api";
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

/** The name of a kind's CRD. */
export const crdNameOf = (kind: MachineKind): string => describeType(machineKinds[kind]);

/** Deletes a CRD as a user does. */
export async function deleteCrd(api: ApiClient, kind: MachineKind): Promise<void> {
  await api.delete(customResourceDefinitionResource, { name: crdNameOf(kind) });
}

/** Waits until a CRD and all of its objects are deleted. */
export async function untilCrdDeleted(api: ApiClient, kind: MachineKind): Promise<void> {
  await eventually(async () => {
    const ref = { name: crdNameOf(kind) };
    expect(await api.get(customResourceDefinitionResource, ref).then(() => false, isNotFound)).toBe(true);
  }, 90_000);
}

/** Waits until the API server serves a kind. */
export async function untilServed(api: ApiClient, kind: MachineKind): Promise<void> {
  await eventually(() => api.list(machineKinds[kind], { namespace }), 60_000);
}

/** Creates the CRD again, and waits until the kind is served. */
export async function recreateCrd(api: ApiClient, kind: MachineKind): Promise<void> {
  const crd = crds().find(({ metadata }) => metadata.name === crdNameOf(kind));
  await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crdNameOf(kind) } });
  await untilServed(api, kind);
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

/** All objects of a kind in the form in which they can be created again; the guide does the same with jq. */
export async function exportObjects(api: ApiClient, kind: MachineKind): Promise<readonly KubeObject[]> {
  const { items } = await api.list(machineKinds[kind], { namespace });
  return items.map((item) => withoutServerFields(withTypeMeta(machineKinds[kind], item)));
}

/** Removes the finalizers of all objects of a kind, so that they are deleted without cleanup. */
export async function removeFinalizers(api: ApiClient, kind: MachineKind): Promise<void> {
  for (const { metadata } of (await api.list(machineKinds[kind], { namespace })).items) {
    const ref = { namespace, name: metadata.name ?? "" };
    await api
      .patch(machineKinds[kind], ref, { metadata: { finalizers: null } }, { kind: "merge" })
      .catch(() => undefined);
  }
}

/** Creates exported objects again. */
export async function recreateObjects(
  api: ApiClient,
  kind: MachineKind,
  objects: readonly KubeObject[],
): Promise<void> {
  for (const object of objects) await eventually(() => api.create(machineKinds[kind], object), 60_000);
}

/** Machines with their provider IDs, sorted. */
export const vmsOf = (machines: readonly Machine[]): readonly string[] =>
  machines.map(({ metadata, spec }) => `${metadata.name} ${spec.providerID}`).toSorted();
