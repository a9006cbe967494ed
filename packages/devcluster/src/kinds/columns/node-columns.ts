import { arrayAt, field, objectAt, stringAt, type JsonObject } from "../../json/json.ts";
import { ageText } from "../../objects/timestamps.ts";
import type { Column } from "../../resources/resource-definition.ts";

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

function address(type: string): (node: JsonObject) => string {
  return (node) => {
    const found = arrayAt(node, "status", "addresses").find((entry) => field(entry, "type") === type);
    return stringAt(found, "address") ?? "<none>";
  };
}

function nodeInfo(key: string): (node: JsonObject) => string {
  return (node) => stringAt(node, "status", "nodeInfo", key) || "<unknown>";
}

/** The columns of `kubectl get nodes`. */
export const nodeColumns: readonly Column[] = [
  { name: "Name", type: "string", format: "name", cell: (node) => stringAt(node, "metadata", "name") ?? "" },
  { name: "Status", type: "string", cell: readiness },
  { name: "Roles", type: "string", cell: roles },
  { name: "Age", type: "string", cell: (node, now) => ageText(stringAt(node, "metadata", "creationTimestamp"), now) },
  { name: "Version", type: "string", cell: (node) => stringAt(node, "status", "nodeInfo", "kubeletVersion") ?? "" },
  { name: "Internal-IP", type: "string", priority: 1, cell: address("InternalIP") },
  { name: "External-IP", type: "string", priority: 1, cell: address("ExternalIP") },
  { name: "OS-Image", type: "string", priority: 1, cell: nodeInfo("osImage") },
  { name: "Kernel-Version", type: "string", priority: 1, cell: nodeInfo("kernelVersion") },
  { name: "Container-Runtime", type: "string", priority: 1, cell: nodeInfo("containerRuntimeVersion") },
];
