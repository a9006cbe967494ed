import { apiTime } from "@millwright/kube";
import { at, entriesOf, type Json, type JsonObject, objectFrom, stringAt, withField } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { find, type ServerContext, type ObjectRef } from "../resources/server-context.ts";
import { withCondition } from "../objects/conditions.ts";
import { StatusError, conflict, notFound } from "../errors/status-error.ts";
import type { Outcome } from "./outcome.ts";
import { commit } from "./update.ts";

/** Binds a pod to a node for a scheduler. Throws 409 for a pod that has a node already. */
export function bindPod(
  context: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
  body: Json | undefined,
): Outcome {
  const pod = find(context, definition, ref);
  if (pod === undefined) throw notFound(definition, ref.name);
  const target = stringAt(body, "target", "name") ?? "";
  if (target === "") {
    throw new StatusError(500, "", "target.name: Required value");
  }
  const binding = { group: "", plural: "pods/binding", kind: "Binding" };
  const present = stringAt(pod, "spec", "nodeName") ?? "";
  if (present !== "") {
    throw conflict(binding, ref.name, `pod ${ref.name} is already assigned to node ${JSON.stringify(present)}`);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(binding, ref.name, `pod ${ref.name} is being deleted, cannot be assigned to a host`);
  }
  const now = apiTime(context.clock.now());
  const placed = withField(pod, ["spec", "nodeName"], target);
  const annotations = { ...pod.metadata.annotations, ...annotationsOf(body) };
  const annotated =
    Object.keys(annotations).length === 0 ? placed : withField(placed, ["metadata", "annotations"], annotations);
  const scheduled = withCondition(annotated, { type: "PodScheduled", status: "True", lastProbeTime: null }, now);
  commit(context, definition, pod, scheduled);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

function annotationsOf(body: Json | undefined): JsonObject {
  const annotations = entriesOf(at(body, "metadata", "annotations"));
  return objectFrom(annotations.filter(([, value]) => typeof value === "string"));
}
