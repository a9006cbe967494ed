import {
  finalizers,
  type Machine,
  machineApiVersion,
  type MachineClass,
  type MachineDeployment,
  machineDeploymentResource,
  type MachinePhase,
  type MachineSet,
  machineSetResource,
  readMachine,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
} from "@millwright/core/machine-api";
import { applyMergePatch, isApiObject, newControllerRef } from "@millwright/kube";
import type { Node } from "../model/node-objects.ts";

/** The namespace that all built objects live in. */
export const testNamespace = "shoot--test";

/** Where the object of that name is. */
export const refOf = (name: string) => ({ namespace: testNamespace, name });

/** Part of an object, laid over it like a merge patch: maps are merged, lists replaced, null removes. */
export type Change<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Key in keyof T]?: Change<T[Key]> | null }
    : T;

const labels = { name: "pool" };
const classReference = { kind: "MachineClass", name: "small" };
const template = { metadata: { labels }, spec: { class: classReference } };

/** Lays changes over a base, gives the object a UID that follows from its name, and reads it, so that no test runs on a shape that cannot be. */
function build<T>(read: (raw: unknown) => ReadResult<T>, base: object, changes: readonly object[]): T {
  const named = changes.reduce<unknown>(applyMergePatch, base);
  if (!isApiObject(named)) throw new TypeError("a change took away the metadata");
  const { name = "" } = named.metadata;
  const result = read({ ...named, metadata: { uid: `uid-${name}`, ...named.metadata } });
  if (!result.ok) throw new TypeError(`a builder made what cannot be: ${JSON.stringify(result.problems)}`);
  return result.value;
}

const metadataOf = (name: string, extra: object = {}) => ({
  name,
  namespace: testNamespace,
  generation: 1,
  creationTimestamp: "2026-01-01T00:00:00Z",
  ...extra,
});

/** A machine without VM and owner, in the empty phase, unless changed: `aMachine(named("a"), inPhase("Running"), ownedBy(set))`. */
export const aMachine = (...changes: readonly Change<Machine>[]): Machine =>
  build(
    readMachine,
    {
      apiVersion: machineApiVersion,
      kind: "Machine",
      metadata: metadataOf("machine", { labels, finalizers: [finalizers.machine] }),
      spec: { class: classReference },
    },
    changes,
  );

/** A set of three machines of class `small`, with finalizer and revision 1. */
export const aMachineSet = (...changes: readonly Change<MachineSet>[]): MachineSet =>
  build(
    readMachineSet,
    {
      apiVersion: machineApiVersion,
      kind: "MachineSet",
      metadata: metadataOf("set", { labels, finalizers: [finalizers.machine] }),
      spec: { replicas: 3, selector: { matchLabels: labels }, template },
    },
    changes,
  );

/** A deployment of three machines of class `small`: RollingUpdate, surge 1, unavailable 0, with finalizer. */
export const aMachineDeployment = (...changes: readonly Change<MachineDeployment>[]): MachineDeployment =>
  build(
    readMachineDeployment,
    {
      apiVersion: machineApiVersion,
      kind: "MachineDeployment",
      metadata: metadataOf("pool", { finalizers: [finalizers.machine] }),
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template,
      },
    },
    changes,
  );

/** A class `small` of the mock driver. */
export const aMachineClass = (...changes: readonly Change<MachineClass>[]): MachineClass =>
  build(
    readMachineClass,
    {
      apiVersion: machineApiVersion,
      kind: "MachineClass",
      metadata: metadataOf("small"),
      provider: "mock",
      providerSpec: {},
      secretRef: { name: "small", namespace: testNamespace },
    },
    changes,
  );

/** A Ready node without taints; metadata is merged, spec and status are taken as given. */
export const aNode = (
  change: Partial<Omit<Node, "metadata">> & { metadata?: Partial<Node["metadata"]> } = {},
): Node => {
  const { name = "node", ...metadata } = change.metadata ?? {};
  return {
    metadata: { name, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    spec: change.spec ?? {},
    status: change.status ?? { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }] },
  };
};

/** The name, and with it the UID. */
export const named = (name: string) => ({ metadata: { name } });

/** Managed by that set or deployment. */
export const ownedBy = (owner: MachineSet | MachineDeployment) => ({
  metadata: {
    ownerReferences: [
      newControllerRef(owner.kind === "MachineDeployment" ? machineDeploymentResource : machineSetResource, owner),
    ],
  },
});

/** A machine's phase, since `at`. */
export const inPhase = (phase: MachinePhase, at = "2026-01-01T00:00:00Z") => ({
  status: { currentStatus: { phase, lastUpdateTime: at } },
});

/** Created at that time. */
export const createdAt = (creationTimestamp: string) => ({ metadata: { creationTimestamp } });

/** Terminating since that time. */
export const beingDeleted = (deletionTimestamp = "2026-01-01T00:00:00Z") => ({ metadata: { deletionTimestamp } });

export const annotated = (annotations: Readonly<Record<string, string>>) => ({ metadata: { annotations } });

export const labeled = (own: Readonly<Record<string, string>>) => ({ metadata: { labels: own } });
