import { at, jsonEqual, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import { isFinished, nodeNameOf } from "./pod-state.ts";
import { claimKeysOf, waitsForConsumer } from "./pod-volumes.ts";
import { statusPatch } from "./status-patch.ts";
import { type Action, claimEvent, isDeleting, type Item, keyOfItem, type View } from "./view.ts";

/**
 * Binds claims to volumes, and creates a CSI volume for a claim of a storage class without a free one: the simplest binder and
 * provisioner. A claim with WaitForFirstConsumer is bound when a pod that uses it has a node.
 */
export function bindClaims(view: View): readonly Action[] {
  return view.claims.flatMap((claim): readonly Action[] => {
    if (isDeleting(claim) || stringAt(claim, "status", "phase") === "Bound") return [];
    if (waitsForConsumer(view, claim) && !hasConsumer(view, claim)) return waiting(view, claim);
    const volume = volumeFor(view, claim);
    if (volume !== undefined) return bind(claim, volume);
    const className = stringAt(claim, "spec", "storageClassName") ?? "";
    const storageClass = view.storageClasses.find(({ metadata }) => metadata.name === className);
    if (storageClass === undefined || stringAt(claim, "spec", "volumeName")) return [];
    const provisioner = stringAt(storageClass, "provisioner") ?? "";
    const done = `Successfully provisioned volume ${volumeNameFor(claim)}`;
    const events = [claimEvent(claim, provisioner, "ProvisioningSucceeded", done)];
    return [{ do: "create", kind: "volumes", object: newVolume(claim, storageClass), events }];
  });
}

function hasConsumer({ pods }: View, claim: Item): boolean {
  const key = keyOfItem(claim);
  return pods.some((pod) => nodeNameOf(pod) !== "" && !isFinished(pod) && claimKeysOf(pod).includes(key));
}

function waiting(view: View, claim: Item): readonly Action[] {
  const message = "waiting for first consumer to be created before binding";
  const events = [claimEvent(claim, "persistentvolume-controller", "WaitForFirstConsumer", message)];
  return view.isNew(`consumer/${claim.metadata.uid}`) ? [{ do: "record", events }] : [];
}

/** The volume that the claim names, that names the claim, or that is free with its class and access modes. */
function volumeFor({ volumes }: View, claim: Item): Item | undefined {
  const key = keyOfItem(claim);
  const named = stringAt(claim, "spec", "volumeName") ?? "";
  if (named !== "") return volumes.find(({ metadata }) => metadata.name === named);
  const reserved = volumes.find((volume) => claimKeyOf(volume) === key);
  if (reserved !== undefined) return reserved;
  return volumes.find(
    (volume) =>
      claimKeyOf(volume) === undefined &&
      !isDeleting(volume) &&
      (stringAt(volume, "status", "phase") ?? "Available") === "Available" &&
      (stringAt(volume, "spec", "storageClassName") ?? "") === (stringAt(claim, "spec", "storageClassName") ?? "") &&
      jsonEqual(at(volume, "spec", "accessModes"), at(claim, "spec", "accessModes")),
  );
}

function claimKeyOf(volume: Item): string | undefined {
  const name = stringAt(volume, "spec", "claimRef", "name");
  return name === undefined ? undefined : `${stringAt(volume, "spec", "claimRef", "namespace") ?? ""}/${name}`;
}

/** One step at a time, so that the next reconcile continues after a failure. */
function bind(claim: Item, volume: Item): readonly Action[] {
  if (stringAt(volume, "spec", "claimRef", "uid") !== claim.metadata.uid) {
    return [{ do: "patch", kind: "volumes", item: volume, patch: { spec: { claimRef: referenceTo(claim) } } }];
  }
  const bound = statusPatch("volumes", volume, { phase: "Bound" });
  if (bound.length > 0) return bound;
  const { name } = volume.metadata;
  if (stringAt(claim, "spec", "volumeName") !== name) {
    return [{ do: "patch", kind: "claims", item: claim, patch: { spec: { volumeName: name } } }];
  }
  return statusPatch("claims", claim, {
    phase: "Bound",
    accessModes: at(volume, "spec", "accessModes") ?? [],
    capacity: objectAt(volume, "spec", "capacity"),
  });
}

function referenceTo({ metadata }: Item): JsonObject {
  const { namespace = "", name, uid } = metadata;
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
}

function volumeNameFor(claim: Item): string {
  return `pvc-${claim.metadata.uid}`;
}

function newVolume(claim: Item, storageClass: Item): JsonObject {
  const name = volumeNameFor(claim);
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      accessModes: at(claim, "spec", "accessModes") ?? ["ReadWriteOnce"],
      capacity: objectAt(claim, "spec", "resources", "requests"),
      claimRef: referenceTo(claim),
      csi: { driver: stringAt(storageClass, "provisioner") ?? "simulated.csi", volumeHandle: name },
      persistentVolumeReclaimPolicy: stringAt(storageClass, "reclaimPolicy") ?? "Delete",
      storageClassName: storageClass.metadata.name,
    },
  };
}
