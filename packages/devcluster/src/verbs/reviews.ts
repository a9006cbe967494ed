import type { ReviewKind } from "../discovery/review-kinds.ts";
import { type Json, type JsonObject, objectAt } from "../json.ts";

/** Answers a review: there is no authorization here, everybody may do everything. */
export function answerReview({ group, version, kind }: ReviewKind, body: Json | undefined): JsonObject {
  return {
    kind,
    apiVersion: `${group}/${version}`,
    metadata: { creationTimestamp: null },
    spec: objectAt(body, "spec"),
    status: statusOf(kind),
  };
}

function statusOf(kind: string): JsonObject {
  switch (kind) {
    case "SelfSubjectReview":
      return { userInfo: { username: "system:admin", groups: ["system:masters", "system:authenticated"] } };
    case "SelfSubjectRulesReview":
      return {
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        incomplete: false,
      };
    default:
      return { allowed: true, reason: "this server has no authorization: everything is allowed" };
  }
}
