import { type CheckOutcome, isRecord, type RequiredPermission, requiredPermissions } from "@millwright/core";
import { messageOf } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import type { CheckedApi } from "./check-api.ts";

/** A question to the API server: may this user do this? */
interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

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

/** The outcome for one permission; undefined when it is granted. */
async function checkPermission(
  api: CheckedApi,
  permission: RequiredPermission,
  machinesNamespace: string,
  signal: AbortSignal,
): Promise<CheckOutcome | undefined> {
  const attributes = attributesOf(permission, machinesNamespace);
  const answers = await Promise.all(attributes.map((attributes) => isAllowed(api, attributes, signal)));
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
 * Checks that the user of a kubeconfig has the permissions that the controllers need, by SelfSubjectAccessReviews: one outcome for each resource with missing permissions, or one if none is missing.
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
  try {
    const outcomes = await Promise.all(
      permissions.map((permission) => checkPermission(api, permission, machinesNamespace, signal)),
    );
    const lacking = outcomes.filter((outcome) => outcome !== undefined);
    if (lacking.length > 0) return lacking;
    const count = permissions.reduce((sum, permission) => sum + attributesOf(permission, machinesNamespace).length, 0);
    return [
      { name: "Permissions", status: "ok", message: `All ${count} permissions that the controllers need are granted.` },
    ];
  } catch (error) {
    signal.throwIfAborted();
    const message = messageOf(explainFailure(error, "doctor needs to create selfsubjectaccessreviews"));
    return [{ name: "Permissions", status: "failed", message }];
  }
}
