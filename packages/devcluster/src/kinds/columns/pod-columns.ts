import { plainText } from "../../json/quoting.ts";
import { arrayAt, at, field, isObject, type JsonObject, stringAt } from "../../json/json.ts";
import { ageColumn, nameColumn } from "../../resources/common-columns.ts";
import type { Column } from "../../resources/resource-definition.ts";
import { computed, wide } from "./cells.ts";

function statusText(pod: JsonObject): string {
  let text = stringAt(pod, "status", "reason") ?? stringAt(pod, "status", "phase") ?? "Unknown";
  for (const status of arrayAt(pod, "status", "containerStatuses").toReversed()) {
    const waiting = stringAt(status, "state", "waiting", "reason");
    const terminated = stringAt(status, "state", "terminated", "reason");
    const signaled = at(status, "state", "terminated");
    if (waiting !== undefined && waiting !== "") text = waiting;
    else if (terminated !== undefined && terminated !== "") text = terminated;
    else if (isObject(signaled)) text = `ExitCode:${plainText(field(signaled, "exitCode") ?? 0)}`;
  }
  if (stringAt(pod, "metadata", "deletionTimestamp") === undefined) return text;
  return stringAt(pod, "status", "reason") === "NodeLost" ? "Unknown" : "Terminating";
}

function readyText(pod: JsonObject): string {
  const ready = arrayAt(pod, "status", "containerStatuses").filter((status) => field(status, "ready") === true).length;
  return `${ready}/${arrayAt(pod, "spec", "containers").length}`;
}

function restarts(pod: JsonObject): string {
  let count = 0;
  for (const status of arrayAt(pod, "status", "containerStatuses")) count += Number(field(status, "restartCount") ?? 0);
  return String(count);
}

function readinessGates(pod: JsonObject): string {
  const gates = arrayAt(pod, "spec", "readinessGates").map((gate) => field(gate, "conditionType"));
  if (gates.length === 0) return "<none>";
  const met = arrayAt(pod, "status", "conditions").filter(
    (condition) => gates.includes(field(condition, "type")) && field(condition, "status") === "True",
  );
  return `${met.length}/${gates.length}`;
}

/** The columns of `kubectl get pods`. */
export const podColumns: readonly Column[] = [
  nameColumn,
  computed("Ready", readyText),
  computed("Status", statusText),
  computed("Restarts", restarts),
  ageColumn,
  wide("IP", "status.podIP"),
  wide("Node", "spec.nodeName"),
  wide("Nominated Node", "status.nominatedNodeName"),
  computed("Readiness Gates", readinessGates, 1),
];
