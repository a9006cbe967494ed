import type { ArmCall } from "./call.ts";
import { ArmRefusal } from "./refusal.ts";
import type { ResourcePath } from "./resource-path.ts";
import type { ArmWorld } from "./world.ts";

const verbs: Readonly<Record<string, string>> = {
  GET: "read",
  HEAD: "read",
  PUT: "write",
  PATCH: "write",
  DELETE: "delete",
};

/** The Azure RBAC action of a request: the types of its path, and the verb. Undefined for a request without a resource provider. */
function actionOf(method: string, { provider, segments }: ResourcePath): string | undefined {
  const types = segments.filter((_, index) => index % 2 === 0);
  return provider === "" ? undefined : [provider, ...types, verbs[method] ?? "action"].join("/");
}

function isAllowed(world: ArmWorld, action: string): boolean {
  world.askedActions.add(action);
  const { actions } = world.options;
  return actions === undefined || actions.some((allowed) => allowed.toLowerCase() === action.toLowerCase());
}

/** Rejects a request that the role of the caller does not allow. */
export function authorize(world: ArmWorld, method: string, path: ResourcePath): void {
  const action = actionOf(method, path);
  if (action === undefined || isAllowed(world, action)) return;
  throw new ArmRefusal(
    "AuthorizationFailed",
    `The client does not have authorization to perform action '${action}' or the scope is invalid.`,
  );
}

/** Rejects a resource with a linked resource that the role of the caller may not use. */
export function authorizeLink({ world }: Pick<ArmCall, "world">, action: string, id: string): void {
  if (isAllowed(world, action)) return;
  throw new ArmRefusal(
    "LinkedAuthorizationFailed",
    `The client does not have permission to perform action '${action}' on the linked scope '${id}'.`,
  );
}
