import { plainText } from "../../json/quoting.ts";
import { arrayAt, at, entriesOf, isObject, type Json, type JsonObject, objectAt, stringAt } from "../../json/json.ts";
import { selectorText } from "../../selectors/selector-text.ts";
import { ageText } from "../../objects/timestamps.ts";
import type { Column } from "../../resources/resource-definition.ts";

const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  cell: (object) => stringAt(object, "metadata", "name") ?? "",
};

const ageColumn: Column = {
  name: "Age",
  type: "string",
  cell: (object, now) => ageText(stringAt(object, "metadata", "creationTimestamp"), now),
};

const count = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: "integer",
  cell: (object) => at(object, ...path) ?? 0,
});

const readyOf: Column = {
  name: "Ready",
  type: "string",
  cell: (object) =>
    `${plainText(at(object, "status", "readyReplicas") ?? 0)}/${plainText(at(object, "spec", "replicas") ?? 0)}`,
};

const ofContainers = (name: string, key: string): Column => ({
  name,
  type: "string",
  priority: 1,
  cell: (object) =>
    arrayAt(object, "spec", "template", "spec", "containers")
      .map((container) => stringAt(container, key) ?? "")
      .join(","),
});

const containers = ofContainers("Containers", "name");
const images = ofContainers("Images", "image");

const selector: Column = {
  name: "Selector",
  type: "string",
  priority: 1,
  cell: (object) => {
    const value = at(object, "spec", "selector");
    return isObject(value) ? selectorText(value) : "";
  },
};

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  readyOf,
  { ...count("Up-to-date", "status", "updatedReplicas"), type: "string" },
  { ...count("Available", "status", "availableReplicas"), type: "string" },
  ageColumn,
  containers,
  images,
  selector,
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  count("Desired", "spec", "replicas"),
  count("Current", "status", "replicas"),
  count("Ready", "status", "readyReplicas"),
  ageColumn,
  containers,
  images,
  selector,
];

export const statefulSetColumns: readonly Column[] = [nameColumn, readyOf, ageColumn, containers, images];

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  count("Desired", "status", "desiredNumberScheduled"),
  count("Current", "status", "currentNumberScheduled"),
  count("Ready", "status", "numberReady"),
  count("Up-to-date", "status", "updatedNumberScheduled"),
  count("Available", "status", "numberAvailable"),
  {
    name: "Node Selector",
    type: "string",
    cell: (object) =>
      entriesOf(objectAt(object, "spec", "template", "spec", "nodeSelector"))
        .map(([key, value]) => `${key}=${plainText(value)}`)
        .join(",") || "<none>",
  },
  ageColumn,
  containers,
  images,
  selector,
];

function subjectsOf(name: string, kind: string): Column {
  return {
    name,
    type: "string",
    priority: 1,
    cell: (binding: JsonObject): Json =>
      arrayAt(binding, "subjects")
        .filter((subject) => stringAt(subject, "kind") === kind)
        .map((subject) =>
          kind === "ServiceAccount"
            ? `${stringAt(subject, "namespace") ?? ""}/${stringAt(subject, "name") ?? ""}`
            : (stringAt(subject, "name") ?? ""),
        )
        .join(", "),
  };
}

export const bindingColumns: readonly Column[] = [
  nameColumn,
  {
    name: "Role",
    type: "string",
    cell: (binding) => `${stringAt(binding, "roleRef", "kind") ?? ""}/${stringAt(binding, "roleRef", "name") ?? ""}`,
  },
  ageColumn,
  subjectsOf("Users", "User"),
  subjectsOf("Groups", "Group"),
  subjectsOf("ServiceAccounts", "ServiceAccount"),
];
