import type { StoredObject } from "../api-object.ts";
import { namespaceOf } from "../api-object.ts";
import type { JsonObject } from "../json.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";
import type { Machinery } from "../machinery.ts";
import { updateObject } from "../verbs/update.ts";

/** Writes the status of a budget in the name of one of the two programs that do so: the disruption controller and the eviction. */
export function updateBudgetStatus(
  machinery: Machinery,
  definition: ResourceDefinition,
  budget: StoredObject,
  status: JsonObject,
  fieldManager: "kube-controller-manager" | "kube-apiserver",
): void {
  updateObject(machinery, definition, {
    ref: { namespace: namespaceOf(budget), name: budget.metadata.name },
    subresource: "status",
    options: { dryRun: false, fieldManager, fieldValidation: "Ignore", force: false },
    change: (live) => ({ ...live, status }),
  });
}
