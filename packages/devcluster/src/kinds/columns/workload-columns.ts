import { plainText } from "../../json/quoting.ts";
import { arrayAt, at, entriesOf, objectAt, stringAt } from "../../json/json.ts";
import { ageColumn, nameColumn } from "../../resources/common-columns.ts";
import type { Column } from "../../resources/resource-definition.ts";
import { selectorText } from "../../selectors/selector-text.ts";
import { computed, count, text } from "./cells.ts";

const ready = computed(
  "Ready",
  (object) =>
    `${plainText(at(object, "status", "readyReplicas") ?? 0)}/${plainText(at(object, "spec", "replicas") ?? 0)}`,
);

const ofContainers = (name: string, key: string): Column =>
  computed(
    name,
    (object) =>
      arrayAt(object, "spec", "template", "spec", "containers")
        .map((container) => stringAt(container, key) ?? "")
        .join(","),
    1,
  );

const containers = [ofContainers("Containers", "name"), ofContainers("Images", "image")];
const selector = computed("Selector", (object) => selectorText(objectAt(object, "spec", "selector")), 1);

const nodeSelector = computed(
  "Node Selector",
  (object) =>
    entriesOf(objectAt(object, "spec", "template", "spec", "nodeSelector"))
      .map(([key, value]) => `${key}=${plainText(value)}`)
      .join(",") || "<none>",
);

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  ready,
  text("Up-to-date", "status.updatedReplicas", "0"),
  text("Available", "status.availableReplicas", "0"),
  ageColumn,
  ...containers,
  selector,
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  count("Desired", "spec.replicas"),
  count("Current", "status.replicas"),
  count("Ready", "status.readyReplicas"),
  ageColumn,
  ...containers,
  selector,
];

export const statefulSetColumns: readonly Column[] = [nameColumn, ready, ageColumn, ...containers];

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  count("Desired", "status.desiredNumberScheduled"),
  count("Current", "status.currentNumberScheduled"),
  count("Ready", "status.numberReady"),
  count("Up-to-date", "status.updatedNumberScheduled"),
  count("Available", "status.numberAvailable"),
  nodeSelector,
  ageColumn,
  ...containers,
  selector,
];

const subjects = (name: string, kind: string): Column =>
  computed(
    name,
    (binding) =>
      arrayAt(binding, "subjects")
        .filter((subject) => stringAt(subject, "kind") === kind)
        .map((subject) => {
          const place = kind === "ServiceAccount" ? `${stringAt(subject, "namespace") ?? ""}/` : "";
          return `${place}${stringAt(subject, "name") ?? ""}`;
        })
        .join(", "),
    1,
  );

export const bindingColumns: readonly Column[] = [
  nameColumn,
  computed(
    "Role",
    (binding) => `${stringAt(binding, "roleRef", "kind") ?? ""}/${stringAt(binding, "roleRef", "name") ?? ""}`,
  ),
  ageColumn,
  subjects("Users", "User"),
  subjects("Groups", "Group"),
  subjects("ServiceAccounts", "ServiceAccount"),
];
