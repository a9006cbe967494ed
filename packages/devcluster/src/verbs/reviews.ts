import type { Authorizer, AccessAttributes } from "../access/authorize.ts";
import type { PolicyRule } from "../access/rbac-rules.ts";
import type { User } from "../access/user.ts";
import type { ReviewKind } from "../access/review-kinds.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import { StatusError, badRequest } from "../errors/status-error.ts";

/** The user of a request, and what decides about this and other users. */
export interface Access {
  readonly user: User;
  readonly authorizer: Authorizer;
  readonly userOfToken: (token: string) => User | undefined;
}

/** The user, the authorizer and the time of a review. */
export interface ReviewContext extends Access {
  /** Now, as an RFC 3339 time. */
  readonly time: string;
}

/** Evaluates a review: what the caller, or the subject in the review, may do. */
export function evaluateReview(
  { group, version, kind }: ReviewKind,
  body: Json | undefined,
  context: ReviewContext,
): JsonObject {
  const review = { kind, apiVersion: `${group}/${version}` };
  const spec = objectAt(body, "spec");
  const status = statusOf(kind, spec, context);
  // The user does not depend on the body; the response is a new object.
  if (kind === "SelfSubjectReview") return { ...review, metadata: { creationTimestamp: context.time }, status };
  return { ...review, metadata: objectAt(body, "metadata"), spec, status };
}

function statusOf(kind: string, spec: JsonObject, { user, authorizer, userOfToken }: ReviewContext): JsonObject {
  switch (kind) {
    case "SelfSubjectReview":
      return { userInfo: userInfoOf(user) };
    case "TokenReview": {
      const found = userOfToken(stringAt(spec, "token") ?? "");
      if (found !== undefined) return { authenticated: true, user: userInfoOf(found) };
      return { user: {}, error: "[invalid bearer token]" };
    }
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
      const reason = authorizer.reason(subject, accessAttributesOf(spec));
      return { allowed: reason !== undefined, ...(reason ? { reason } : {}) };
    }
  }
}

function userInfoOf({ name, uid, groups, extra }: User): JsonObject {
  return { username: name, ...(uid === undefined ? {} : { uid }), groups, ...(extra === undefined ? {} : { extra }) };
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

function accessAttributesOf(spec: JsonObject): AccessAttributes {
  const resource = spec["resourceAttributes"];
  const path = spec["nonResourceAttributes"];
  if (isObject(resource) === isObject(path)) {
    const message = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified";
    // Kubernetes has no kind here, and leaves a gap in the message.
    const details = {
      group: "authorization.k8s.io",
      causes: [{ reason: "FieldValueInvalid", message, field: "spec.resourceAttributes" }],
    };
    const text = `.authorization.k8s.io "" is invalid: spec.resourceAttributes: ${message}`;
    throw new StatusError(422, "Invalid", text, details);
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
