import { ownMetricNames } from "@millwright/core/machine-api";
import type { ObjectWrite } from "@millwright/kube";
import { Counter, type Registry } from "prom-client";

/** Adds the counter of writes that an API server refused. */
export function countRefusedWrites(registry: Registry, namespace: string): (write: ObjectWrite) => void {
  const counter = new Counter({
    name: ownMetricNames.refusedWrites,
    help: "Writes of the controllers that an API server refused, each attempt.",
    labelNames: ["namespace", "kind", "verb", "subresource"],
    registers: [registry],
  });
  return ({ verb, type, subresource = "" }) => counter.inc({ namespace, kind: type.kind, verb, subresource });
}
