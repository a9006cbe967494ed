import { isRecord } from "@millwright/base";
import type { CheckedApi } from "./check-api.ts";

/** A request, as the authorization of an API server sees it. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A rule of a SelfSubjectRulesReview. */
interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/**
 * A namespace that does not exist: RBAC computes its rules from ClusterRoleBindings alone, so that they hold for the whole cluster. The rules of a namespace also have those of its
 * RoleBindings, which do not.
 */
const noNamespace = "millwright-no-namespace";

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

const readRule = (rule: unknown): readonly ResourceRule[] =>
  isRecord(rule)
    ? [
        {
          verbs: texts(rule["verbs"]),
          apiGroups: texts(rule["apiGroups"]),
          resources: texts(rule["resources"]),
          resourceNames: texts(rule["resourceNames"]),
        },
      ]
    : [];

const covers = (names: readonly string[], name: string): boolean => names.includes("*") || names.includes(name);

/** As RBAC matches a rule (Kubernetes, `pkg/apis/rbac/v1/evaluation_helpers.go`). */
function allows(rule: ResourceRule, { verb, group, resource, subresource, name = "" }: ResourceAttributes): boolean {
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  const isOfAll = subresource !== undefined && rule.resources.includes(`*/${subresource}`);
  return (
    covers(rule.verbs, verb) &&
    covers(rule.apiGroups, group) &&
    (covers(rule.resources, full) || isOfAll) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

/**
 * Reads the rules that apply to the user of a kubeconfig, by one SelfSubjectRulesReview.
 *
 * @param namespace absent for the rules that hold in the whole cluster
 * @returns whether the rules allow a request; `false` does not prove that it is refused. `undefined` where the API server does not know all rules, as with a webhook
 * @throws ApiError as the API server answers
 */
export async function readGrantedRules(
  api: Pick<CheckedApi, "request">,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<((attributes: ResourceAttributes) => boolean) | undefined> {
  const { body } = await api.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace: namespace ?? noNamespace },
    },
    signal,
  });
  const status = isRecord(body) ? body["status"] : undefined;
  if (!isRecord(status) || status["incomplete"] === true) return undefined;
  const found: unknown = status["resourceRules"];
  const rules = (Array.isArray(found) ? found : []).flatMap(readRule);
  return (attributes) => rules.some((rule) => allows(rule, attributes));
}
