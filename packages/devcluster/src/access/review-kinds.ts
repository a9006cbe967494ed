/** Resources that are never stored: reviews of what a user may do and of who a user is. */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const authorization = { group: "authorization.k8s.io", version: "v1" } as const;

export const reviewKinds: readonly ReviewKind[] = [
  { ...authorization, kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews", namespaced: true },
  { ...authorization, kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews", namespaced: false },
  { ...authorization, kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews", namespaced: false },
  { ...authorization, kind: "SubjectAccessReview", plural: "subjectaccessreviews", namespaced: false },
  {
    group: "authentication.k8s.io",
    version: "v1",
    kind: "SelfSubjectReview",
    plural: "selfsubjectreviews",
    namespaced: false,
  },
  { group: "authentication.k8s.io", version: "v1", kind: "TokenReview", plural: "tokenreviews", namespaced: false },
];
