import type { Authorizer, Wish } from "../access/authorize.ts";
import type { PolicyRule } from "../access/rbac-rules.ts";
import type { User } from "../access/user.ts";
import type { ReviewKind } from "../discovery/review-kinds.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../json.ts";
import { badRequest } from "../status.ts";

/** Who asks, and who decides. */
export interface ReviewContext {
  readonly user: User;
  readonly authorizer: Authorizer;
}

/** Answers a review: what the caller, or the subject that it names, may do. */
export function answerReview(
  { group, version, kind }: ReviewKind,
  body: Json | undefined,
  context: ReviewContext,
): JsonObject {
  return {
    kind,
    apiVersion: `${group}/${version}`,
    metadata: { creationTimestamp: null },
    spec: objectAt(body, "spec"),
    status: statusOf(kind, objectAt(body, "spec"), context),
  };
}

function statusOf(kind: string, spec: JsonObject, { user, authorizer }: ReviewContext): JsonObject {
  switch (kind) {
    case "SelfSubjectReview":
      return { userInfo: { username: user.name, groups: user.groups } };
    case "SelfSubjectRulesReview": {
      const rules = authorizer.rules(user, stringAt(spec, "namespace") ?? "");
      return {
        resourceRules: rules.filter((rule) => rule.resources.length > 0).map(resourceRule),
        nonResourceRules: rules
          .filter((rule) => rule.nonResourceURLs.length > 0)
          .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
        incomplete: false,
      };
    }
    default: {
      const subject = kind === "SelfSubjectAccessReview" ? user : subjectOf(spec);
      const allowed = authorizer.allows(subject, wishOf(spec));
      return { allowed, reason: allowed ? "" : "no RBAC rule allows this" };
    }
  }
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): JsonObject {
  return { verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) };
}

function subjectOf(spec: JsonObject): User {
  const groups = arrayAt(spec, "groups").filter((name) => typeof name === "string");
  const name = stringAt(spec, "user") ?? "";
  if (name === "" && groups.length === 0) throw badRequest("spec.user: Required value: at least one of user or group");
  return { name, groups };
}

function wishOf(spec: JsonObject): Wish {
  const resource = spec["resourceAttributes"];
  const path = spec["nonResourceAttributes"];
  if (isObject(resource) === isObject(path)) {
    throw badRequest("spec: exactly one of resourceAttributes and nonResourceAttributes must be set");
  }
  const text = (key: string): string => stringAt(isObject(resource) ? resource : path, key) ?? "";
  return {
    verb: text("verb"),
    group: text("group"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace: text("namespace"),
    name: text("name"),
    path: text("path"),
  };
}
