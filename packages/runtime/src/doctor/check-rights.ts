import { type CheckOutcome, isRecord, type RequiredRight, requiredRights } from "@millwright/core";
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

const namespaceOf = ({ scope }: RequiredRight, machinesNamespace: string): string | undefined =>
  scope === "cluster" ? undefined : scope === "machines" ? machinesNamespace : scope;

/** The questions that a right answers, one for each verb and name. */
function attributesOf(right: RequiredRight, machinesNamespace: string): readonly ResourceAttributes[] {
  const [resource = "", subresource] = right.resource.split("/");
  const namespace = namespaceOf(right, machinesNamespace);
  return right.verbs.flatMap((verb) =>
    (right.resourceNames ?? [undefined]).map((name) => ({
      verb,
      group: right.group,
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

/** What a right lacks, as one outcome; nothing when it is there. */
async function checkRight(
  api: CheckedApi,
  right: RequiredRight,
  machinesNamespace: string,
  signal: AbortSignal,
): Promise<CheckOutcome | undefined> {
  const asked = attributesOf(right, machinesNamespace);
  const answers = await Promise.all(asked.map((attributes) => isAllowed(api, attributes, signal)));
  const missing = [...new Set(asked.filter((_, index) => answers[index] === false).map(({ verb }) => verb))];
  if (missing.length === 0) return undefined;
  const namespace = namespaceOf(right, machinesNamespace);
  const place = namespace === undefined ? "in the whole cluster" : `in namespace ${namespace}`;
  const group = right.group === "" ? "" : `.${right.group}`;
  const [plural = "", subresource] = right.resource.split("/");
  const resource = `${plural}${group}${subresource === undefined ? "" : `/${subresource}`}`;
  const consequence = right.without ?? `the controllers need it to ${right.purpose}`;
  return {
    name: `Right ${resource}`,
    status: right.without === undefined ? "failed" : "warning",
    message: `Not allowed ${place}: ${missing.join(", ")}; ${consequence}.`,
    remedy: `Grant it: "millwright roles -n ${machinesNamespace}" prints the roles (docs/permissions.md).`,
  };
}

/**
 * Checks that the user of a kubeconfig has the rights that the controllers need, by SelfSubjectAccessReviews: one outcome for each resource of which something is missing, and one when nothing is.
 *
 * @param clusters what the cluster is used for
 */
export async function checkRights(
  api: CheckedApi,
  clusters: readonly RequiredRight["cluster"][],
  machinesNamespace: string,
  signal: AbortSignal,
): Promise<readonly CheckOutcome[]> {
  const rights = requiredRights.filter(({ cluster }) => clusters.includes(cluster));
  try {
    const outcomes = await Promise.all(rights.map((right) => checkRight(api, right, machinesNamespace, signal)));
    const lacking = outcomes.filter((outcome) => outcome !== undefined);
    if (lacking.length > 0) return lacking;
    const count = rights.reduce((sum, right) => sum + attributesOf(right, machinesNamespace).length, 0);
    return [{ name: "Rights", status: "ok", message: `All ${count} rights that the controllers need are there.` }];
  } catch (error) {
    signal.throwIfAborted();
    const message = messageOf(explainFailure(error, "doctor needs to create selfsubjectaccessreviews"));
    return [{ name: "Rights", status: "failed", message }];
  }
}
