import { plainText } from "../../json/quoting.ts";
import { arrayAt, at, type JsonObject, objectAt, stringAt } from "../../json/json.ts";
import { ageColumn, nameColumn } from "../../resources/common-columns.ts";
import type { Column } from "../../resources/resource-definition.ts";
import { computed, size, text, typed } from "./cells.ts";

type Columns = readonly Column[];

/** Name and age, for kinds without columns of their own. */
export const defaultColumns: Columns = [
  nameColumn,
  { ...text("Created At", "metadata.creationTimestamp"), description: ageColumn.description ?? "" },
];

export const namespaceColumns: Columns = [nameColumn, text("Status", "status.phase"), ageColumn];
export const secretColumns: Columns = [nameColumn, text("Type", "type"), size("Data", "data"), ageColumn];
export const configMapColumns: Columns = [nameColumn, size("Data", "data", "binaryData"), ageColumn];
export const serviceAccountColumns: Columns = [nameColumn, ageColumn];

export const serviceColumns: Columns = [
  nameColumn,
  text("Type", "spec.type", "ClusterIP"),
  text("Cluster-IP", "spec.clusterIP", "<none>"),
  text("External-IP", "spec.externalName", "<none>"),
  computed(
    "Port(s)",
    (object) =>
      arrayAt(object, "spec", "ports")
        .map((port) => `${plainText(at(port, "port"))}/${stringAt(port, "protocol") ?? "TCP"}`)
        .join(",") || "<none>",
  ),
  ageColumn,
];

export const leaseColumns: Columns = [nameColumn, text("Holder", "spec.holderIdentity"), ageColumn];
export const csiNodeColumns: Columns = [nameColumn, size("Drivers", "spec.drivers"), ageColumn];
export const customResourceDefinitionColumns: Columns = [
  nameColumn,
  typed("Created At", "date", "metadata.creationTimestamp", ""),
];

export const disruptionBudgetColumns: Columns = [
  nameColumn,
  text("Min Available", "spec.minAvailable", "N/A"),
  text("Max Unavailable", "spec.maxUnavailable", "N/A"),
  typed("Allowed Disruptions", "integer", "status.disruptionsAllowed", 0),
  ageColumn,
];

export const volumeAttachmentColumns: Columns = [
  nameColumn,
  text("Attacher", "spec.attacher"),
  text("PV", "spec.source.persistentVolumeName"),
  text("Node", "spec.nodeName"),
  typed("Attached", "boolean", "status.attached", false),
  ageColumn,
];

const shortAccessModes = new Map([
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
]);

const accessModes = (part: "spec" | "status"): Column =>
  computed("Access Modes", (object) =>
    arrayAt(object, part, "accessModes")
      .map((mode) => shortAccessModes.get(plainText(mode)) ?? plainText(mode))
      .join(","),
  );

function claimOf(volume: JsonObject): string {
  const claim = objectAt(volume, "spec", "claimRef");
  const name = stringAt(claim, "name");
  return name === undefined ? "" : `${stringAt(claim, "namespace") ?? ""}/${name}`;
}

function phase(object: JsonObject): string {
  return stringAt(object, "metadata", "deletionTimestamp") === undefined
    ? (stringAt(object, "status", "phase") ?? "")
    : "Terminating";
}

const storageClass = text("StorageClass", "spec.storageClassName");
const attributesClass = text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>");
const volumeMode = text("VolumeMode", "spec.volumeMode", "Filesystem", 1);

export const persistentVolumeColumns: Columns = [
  nameColumn,
  text("Capacity", "spec.capacity.storage"),
  accessModes("spec"),
  text("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
  computed("Status", phase),
  computed("Claim", claimOf),
  storageClass,
  attributesClass,
  text("Reason", "status.reason"),
  ageColumn,
  volumeMode,
];

export const persistentVolumeClaimColumns: Columns = [
  nameColumn,
  computed("Status", phase),
  text("Volume", "spec.volumeName"),
  text("Capacity", "status.capacity.storage"),
  accessModes("status"),
  storageClass,
  attributesClass,
  ageColumn,
  volumeMode,
];

function classWithDefault(object: JsonObject): string {
  const annotations = objectAt(object, "metadata", "annotations");
  const isDefault = annotations["storageclass.kubernetes.io/is-default-class"] === "true";
  return `${stringAt(object, "metadata", "name") ?? ""}${isDefault ? " (default)" : ""}`;
}

export const storageClassColumns: Columns = [
  { ...nameColumn, cell: classWithDefault },
  text("Provisioner", "provisioner"),
  text("ReclaimPolicy", "reclaimPolicy", "Delete"),
  text("VolumeBindingMode", "volumeBindingMode", "Immediate"),
  typed("AllowVolumeExpansion", "boolean", "allowVolumeExpansion", false),
  ageColumn,
];
