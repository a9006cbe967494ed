import { ownMetricNames } from "@millwright/core/machine-api";
import type { ObjectWrite } from "@millwright/kube";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

/** Adds the counter of writes that an API server refused. */
export function countRefusedWrites(registry: Registry, namespace: string): (write: ObjectWrite) => void {
  const help = "Writes of the controllers that an API server refused, each attempt.";
  const labelNames = ["namespace", "kind", "verb", "subresource"] as const;
  const counter = registerIn(registry).counter(ownMetricNames.refusedWrites, help, labelNames);
  return ({ verb, type, subresource = "" }) => counter.inc({ namespace, kind: type.kind, verb, subresource });
}
