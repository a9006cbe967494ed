import type { StoredObject } from "../../objects/stored-object.ts";
import { namespaceOf } from "../../objects/stored-object.ts";
import type { JsonObject } from "../../json/json.ts";
import type { ResourceDefinition } from "../../resources/resource-definition.ts";
import type { ServerContext } from "../../resources/server-context.ts";
import { updateObject } from "../update.ts";

/** Writes the status of a budget, as the disruption controller or the eviction. */
export function updateBudgetStatus(
  context: ServerContext,
  definition: ResourceDefinition,
  budget: StoredObject,
  status: JsonObject,
  fieldManager: "kube-controller-manager" | "kube-apiserver",
): void {
  updateObject(context, definition, {
    ref: { namespace: namespaceOf(budget), name: budget.metadata.name },
    subresource: "status",
    options: { dryRun: false, fieldManager, fieldValidation: "Ignore", force: false },
    change: (live) => ({ ...live, status }),
  });
}
