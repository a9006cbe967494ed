import { isRecord } from "@millwright/base";
import type { CheckOutcome } from "@millwright/core";
import { type RequiredPermission, requiredPermissions } from "@millwright/core/machine-api";
import { isForbidden, messageOf } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import type { CheckedApi } from "./check-api.ts";
import { readGrantedRules, type ResourceAttributes } from "./granted-rules.ts";

const namespaceOf = ({ scope }: RequiredPermission, machinesNamespace: string): string | undefined =>
  scope === "cluster" ? undefined : scope === "machines" ? machinesNamespace : scope;

/** The attributes of the reviews of a permission, one for each verb and name. */
function attributesOf(permission: RequiredPermission, machinesNamespace: string): readonly ResourceAttributes[] {
  const [resource = "", subresource] = permission.resource.split("/");
  const namespace = namespaceOf(permission, machinesNamespace);
  return permission.verbs.flatMap((verb) =>
    (permission.resourceNames ?? [undefined]).map((name) => ({
      verb,
      group: permission.group,
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    })),
  );
}

const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };

async function isAllowed(
  api: CheckedApi,
  resourceAttributes: ResourceAttributes,
  signal: AbortSignal,
): Promise<boolean> {
  const { body } = await api.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: { ...review, spec: { resourceAttributes } },
    signal,
  });
  return isRecord(body) && isRecord(body["status"]) && body["status"]["allowed"] === true;
}

/** A user that may not ask for rules may still ask for single permissions. */
function ignoreForbidden(error: unknown): undefined {
  if (!isForbidden(error)) throw error;
}

type IsAllowed = (attributes: ResourceAttributes) => Promise<boolean>;

/**
 * Makes what decides whether a request is allowed: by the rules of its namespace, read once, and by a review of its own only where these do not allow it, or where the API server has more
 * than rules. So few requests show that nothing is missing.
 */
function createReviewer(api: CheckedApi, signal: AbortSignal): IsAllowed {
  const rules = new Map<string | undefined, ReturnType<typeof readGrantedRules>>();
  const rulesOf = (namespace: string | undefined): ReturnType<typeof readGrantedRules> => {
    const known = rules.get(namespace) ?? readGrantedRules(api, namespace, signal).catch(ignoreForbidden);
    rules.set(namespace, known);
    return known;
  };
  return async (attributes) => {
    const allows = await rulesOf(attributes.namespace);
    return allows?.(attributes) === true || isAllowed(api, attributes, signal);
  };
}

/** The outcome for one permission; undefined when it is granted. */
async function checkPermission(
  isAllowed: IsAllowed,
  permission: RequiredPermission,
  machinesNamespace: string,
): Promise<CheckOutcome | undefined> {
  const attributes = attributesOf(permission, machinesNamespace);
  const answers = await Promise.all(attributes.map(isAllowed));
  const missing = [...new Set(attributes.filter((_, index) => answers[index] === false).map(({ verb }) => verb))];
  if (missing.length === 0) return undefined;
  const namespace = namespaceOf(permission, machinesNamespace);
  const place = namespace === undefined ? "in the whole cluster" : `in namespace ${namespace}`;
  const group = permission.group === "" ? "" : `.${permission.group}`;
  const [plural = "", subresource] = permission.resource.split("/");
  const resource = `${plural}${group}${subresource === undefined ? "" : `/${subresource}`}`;
  const consequence = permission.without ?? `the controllers need it to ${permission.purpose}`;
  return {
    name: `Permission ${resource}`,
    status: permission.without === undefined ? "failed" : "warning",
    message: `Not allowed ${place}: ${missing.join(", ")}; ${consequence}.`,
    remedy: `Grant it: "millwright roles -n ${machinesNamespace}" prints the roles (docs/permissions.md).`,
  };
}

/**
 * Checks that the user of a kubeconfig has the permissions that the controllers need, by reviews of the API server: one outcome for each resource with missing permissions, or one if none is missing.
 *
 * @param clusters what the cluster is used for
 */
export async function checkPermissions(
  api: CheckedApi,
  clusters: readonly RequiredPermission["cluster"][],
  machinesNamespace: string,
  signal: AbortSignal,
): Promise<readonly CheckOutcome[]> {
  const permissions = requiredPermissions.filter(({ cluster }) => clusters.includes(cluster));
  const isAllowed = createReviewer(api, signal);
  try {
    const outcomes = await Promise.all(
      permissions.map((permission) => checkPermission(isAllowed, permission, machinesNamespace)),
    );
    const lacking = outcomes.filter((outcome) => outcome !== undefined);
    if (lacking.length > 0) return lacking;
    const count = permissions.reduce((sum, permission) => sum + attributesOf(permission, machinesNamespace).length, 0);
    return [
      { name: "Permissions", status: "ok", message: `All ${count} permissions that the controllers need are granted.` },
    ];
  } catch (error) {
    signal.throwIfAborted();
    const message = messageOf(
      explainFailure(error, "this check needs to create selfsubjectrulesreviews and selfsubjectaccessreviews"),
    );
    return [{ name: "Permissions", status: "failed", message }];
  }
}
