import { arrayAt, field, objectAt, stringAt, type JsonObject } from "../../json/json.ts";
import { ageColumn, nameColumn } from "../../resources/common-columns.ts";
import type { Column } from "../../resources/resource-definition.ts";
import { computed, text, wide } from "./cells.ts";

const rolePrefix = "node-role.kubernetes.io/";

function readiness(node: JsonObject): string {
  const states: string[] = [];
  for (const condition of arrayAt(node, "status", "conditions")) {
    if (field(condition, "type") !== "Ready") continue;
    states.push(field(condition, "status") === "True" ? "Ready" : "NotReady");
  }
  if (states.length === 0) states.push("Unknown");
  if (field(objectAt(node, "spec"), "unschedulable") === true) states.push("SchedulingDisabled");
  return states.join(",");
}

function roles(node: JsonObject): string {
  const labels = objectAt(node, "metadata", "labels");
  const found = Object.keys(labels)
    .filter((key) => key.startsWith(rolePrefix) && key.length > rolePrefix.length)
    .map((key) => key.slice(rolePrefix.length));
  const single = stringAt(labels, "kubernetes.io/role");
  if (single !== undefined && single !== "") found.push(single);
  return found.length === 0 ? "<none>" : [...new Set(found)].toSorted().join(",");
}

const address = (name: string, type: string): Column =>
  computed(
    name,
    (node) => {
      const found = arrayAt(node, "status", "addresses").find((entry) => field(entry, "type") === type);
      return stringAt(found, "address") ?? "<none>";
    },
    1,
  );

/** The columns of `kubectl get nodes`. */
export const nodeColumns: readonly Column[] = [
  nameColumn,
  computed("Status", readiness),
  computed("Roles", roles),
  ageColumn,
  text("Version", "status.nodeInfo.kubeletVersion"),
  address("Internal-IP", "InternalIP"),
  address("External-IP", "ExternalIP"),
  wide("OS-Image", "status.nodeInfo.osImage", "<unknown>"),
  wide("Kernel-Version", "status.nodeInfo.kernelVersion", "<unknown>"),
  wide("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "<unknown>"),
];
