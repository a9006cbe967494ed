import { isRecord } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { isForbidden } from "../client/api-error.ts";
import type { Rejection } from "./token-gate.ts";

/** Attributes of a SubjectAccessReview, and what a user without them is shown. */
export interface RequiredAccess {
  readonly attributes:
    | { readonly resourceAttributes: Readonly<Record<string, string>> }
    | { readonly nonResourceAttributes: Readonly<Record<string, string>> };
  /** For example `get /metrics`. */
  readonly action: string;
}

/** The client that posts reviews: not that of the controllers, whose requests must not wait for those of strangers. */
type ReviewClient = Pick<ApiClient, "request">;

const unavailable: Rejection = {
  status: 503,
  text: "the token cannot be reviewed: the service account of this process needs ClusterRole system:auth-delegator",
};

/** Posts a review; the status of the answer. */
async function postReview(
  client: ReviewClient,
  [group, kind, plural]: readonly [string, string, string],
  spec: object,
): Promise<Readonly<Record<string, unknown>>> {
  const path = `/apis/${group}/v1/${plural}`;
  const { body } = await client.request({ method: "POST", path, body: { apiVersion: `${group}/v1`, kind, spec } });
  return isRecord(body) && isRecord(body["status"]) ? body["status"] : {};
}

const tokenReview = ["authentication.k8s.io", "TokenReview", "tokenreviews"] as const;
const accessReview = ["authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews"] as const;

async function rejectionOf(
  client: ReviewClient,
  token: string,
  required: readonly RequiredAccess[],
): Promise<Rejection | undefined> {
  const { authenticated, user } = await postReview(client, tokenReview, { token });
  if (authenticated !== true || !isRecord(user) || typeof user["username"] !== "string")
    return { status: 401, text: "the token is not valid" };
  const subject = { user: user["username"], groups: user["groups"], uid: user["uid"], extra: user["extra"] };
  for (const { attributes, action } of required) {
    const { allowed } = await postReview(client, accessReview, { ...subject, ...attributes });
    if (allowed !== true) return { status: 403, text: `this user may not ${action}` };
  }
  return undefined;
}

/** Reviews a token: the user must be known and have all of the access. As kube-rbac-proxy: TokenReview, then SubjectAccessReview. */
export async function reviewToken(
  client: ReviewClient,
  token: string,
  required: readonly RequiredAccess[],
): Promise<Rejection | undefined> {
  try {
    return await rejectionOf(client, token, required);
  } catch (error) {
    if (isForbidden(error)) return unavailable;
    throw error;
  }
}
