import { plainText } from "../../json/quoting.ts";
import { arrayAt, at, entriesOf, type Json, type JsonObject, objectAt, stringAt } from "../../json/json.ts";
import { ageText } from "../../objects/timestamps.ts";
import { createdDescription, nameDescription } from "../../resources/column-descriptions.ts";
import type { Column } from "../../resources/resource-definition.ts";

/** Reads a cell of an object; `missing` is shown for an absent value. */
function textColumn(name: string, path: readonly string[], missing = "", priority = 0): Column {
  return { name, type: "string", priority, cell: (object) => shown(at(object, ...path)) ?? missing };
}

function shown(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: nameDescription,
  cell: (object) => stringAt(object, "metadata", "name") ?? "",
};

const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: createdDescription,
  cell: (object, now) => ageText(stringAt(object, "metadata", "creationTimestamp"), now),
};

const countColumn = (name: string, ...paths: readonly (readonly string[])[]): Column => ({
  name,
  type: "integer",
  cell: (object) =>
    paths.reduce((sum, path) => sum + entriesOf(objectAt(object, ...path)).length + arrayAt(object, ...path).length, 0),
});

/** Name and age, for kinds without columns of their own. */
export const defaultColumns: readonly Column[] = [
  nameColumn,
  { ...ageColumn, name: "Created At", cell: (object) => stringAt(object, "metadata", "creationTimestamp") ?? "" },
];

export const namespaceColumns: readonly Column[] = [nameColumn, textColumn("Status", ["status", "phase"]), ageColumn];

export const secretColumns: readonly Column[] = [
  nameColumn,
  textColumn("Type", ["type"]),
  countColumn("Data", ["data"]),
  ageColumn,
];

export const configMapColumns: readonly Column[] = [
  nameColumn,
  countColumn("Data", ["data"], ["binaryData"]),
  ageColumn,
];

export const serviceAccountColumns: readonly Column[] = [nameColumn, ageColumn];

export const serviceColumns: readonly Column[] = [
  nameColumn,
  textColumn("Type", ["spec", "type"], "ClusterIP"),
  textColumn("Cluster-IP", ["spec", "clusterIP"], "<none>"),
  textColumn("External-IP", ["spec", "externalName"], "<none>"),
  {
    name: "Port(s)",
    type: "string",
    cell: (object) =>
      arrayAt(object, "spec", "ports")
        .map((port) => `${plainText(at(port, "port"))}/${stringAt(port, "protocol") ?? "TCP"}`)
        .join(",") || "<none>",
  },
  ageColumn,
];

export const leaseColumns: readonly Column[] = [
  nameColumn,
  textColumn("Holder", ["spec", "holderIdentity"]),
  ageColumn,
];

export const csiNodeColumns: readonly Column[] = [nameColumn, countColumn("Drivers", ["spec", "drivers"]), ageColumn];

export const customResourceDefinitionColumns: readonly Column[] = [
  nameColumn,
  {
    name: "Created At",
    type: "date",
    cell: (object) => stringAt(object, "metadata", "creationTimestamp") ?? "",
  },
];

export const disruptionBudgetColumns: readonly Column[] = [
  nameColumn,
  textColumn("Min Available", ["spec", "minAvailable"], "N/A"),
  textColumn("Max Unavailable", ["spec", "maxUnavailable"], "N/A"),
  { name: "Allowed Disruptions", type: "integer", cell: (object) => at(object, "status", "disruptionsAllowed") ?? 0 },
  ageColumn,
];

export const volumeAttachmentColumns: readonly Column[] = [
  nameColumn,
  textColumn("Attacher", ["spec", "attacher"]),
  textColumn("PV", ["spec", "source", "persistentVolumeName"]),
  textColumn("Node", ["spec", "nodeName"]),
  { name: "Attached", type: "boolean", cell: (object) => at(object, "status", "attached") ?? false },
  ageColumn,
];

const shortAccessModes = new Map([
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
]);

function accessModes(...path: readonly string[]): (object: JsonObject) => string {
  return (object) =>
    arrayAt(object, ...path)
      .map((mode) => shortAccessModes.get(plainText(mode)) ?? plainText(mode))
      .join(",");
}

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

export const persistentVolumeColumns: readonly Column[] = [
  nameColumn,
  textColumn("Capacity", ["spec", "capacity", "storage"]),
  { name: "Access Modes", type: "string", cell: accessModes("spec", "accessModes") },
  textColumn("Reclaim Policy", ["spec", "persistentVolumeReclaimPolicy"]),
  { name: "Status", type: "string", cell: phase },
  { name: "Claim", type: "string", cell: claimOf },
  textColumn("StorageClass", ["spec", "storageClassName"]),
  textColumn("VolumeAttributesClass", ["spec", "volumeAttributesClassName"], "<unset>"),
  textColumn("Reason", ["status", "reason"]),
  ageColumn,
  textColumn("VolumeMode", ["spec", "volumeMode"], "Filesystem", 1),
];

export const persistentVolumeClaimColumns: readonly Column[] = [
  nameColumn,
  { name: "Status", type: "string", cell: phase },
  textColumn("Volume", ["spec", "volumeName"]),
  textColumn("Capacity", ["status", "capacity", "storage"]),
  { name: "Access Modes", type: "string", cell: accessModes("status", "accessModes") },
  textColumn("StorageClass", ["spec", "storageClassName"]),
  textColumn("VolumeAttributesClass", ["spec", "volumeAttributesClassName"], "<unset>"),
  ageColumn,
  textColumn("VolumeMode", ["spec", "volumeMode"], "Filesystem", 1),
];

export const storageClassColumns: readonly Column[] = [
  {
    ...nameColumn,
    cell: (object) => {
      const name = stringAt(object, "metadata", "name") ?? "";
      const annotations = objectAt(object, "metadata", "annotations");
      return annotations["storageclass.kubernetes.io/is-default-class"] === "true" ? `${name} (default)` : name;
    },
  },
  textColumn("Provisioner", ["provisioner"]),
  textColumn("ReclaimPolicy", ["reclaimPolicy"], "Delete"),
  textColumn("VolumeBindingMode", ["volumeBindingMode"], "Immediate"),
  { name: "AllowVolumeExpansion", type: "boolean", cell: (object) => at(object, "allowVolumeExpansion") ?? false },
  ageColumn,
];

function lastSeen(event: JsonObject, now: Date): string {
  const moments = [
    stringAt(event, "series", "lastObservedTime"),
    stringAt(event, "lastTimestamp"),
    stringAt(event, "eventTime"),
    stringAt(event, "firstTimestamp"),
  ];
  return ageText(
    moments.find((moment) => moment !== undefined && moment !== ""),
    now,
  );
}

function involved(event: JsonObject): string {
  const object = objectAt(event, "involvedObject");
  return `${(stringAt(object, "kind") ?? "").toLowerCase()}/${stringAt(object, "name") ?? ""}`;
}

export const eventColumns: readonly Column[] = [
  { name: "Last Seen", type: "string", cell: lastSeen },
  textColumn("Type", ["type"]),
  textColumn("Reason", ["reason"]),
  { name: "Object", type: "string", cell: involved },
  textColumn("Subobject", ["involvedObject", "fieldPath"], "", 1),
  {
    name: "Source",
    type: "string",
    priority: 1,
    cell: (event) =>
      [
        stringAt(event, "source", "component") ?? stringAt(event, "reportingComponent") ?? "",
        stringAt(event, "source", "host") ?? "",
      ]
        .filter((part) => part !== "")
        .join(", "),
  },
  { name: "Message", type: "string", cell: (event) => (stringAt(event, "message") ?? "").trim() },
  {
    name: "First Seen",
    type: "string",
    priority: 1,
    cell: (event, now) => ageText(stringAt(event, "firstTimestamp") ?? stringAt(event, "eventTime"), now),
  },
  {
    name: "Count",
    type: "string",
    priority: 1,
    cell: (event) => plainText(at(event, "series", "count") ?? at(event, "count") ?? 1),
  },
  { ...nameColumn, priority: 1 },
];
