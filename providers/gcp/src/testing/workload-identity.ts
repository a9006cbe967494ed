/** Who a token of the identity is for. */
export const audience =
  "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/gardener";

/** Credentials of a workload identity, as a class secret has them. */
export const workloadIdentity = {
  type: "external_account",
  project_id: "my-project",
  audience,
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: "https://sts.googleapis.com/v1/token",
  credential_source: { file: "/var/run/secrets/gardener.cloud/workload-identity/token" },
  universe_domain: "googleapis.com",
} as const;

/** Where such an identity gets a token of a service account that it speaks for. */
export const impersonation =
  "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/machines@my-project.iam.gserviceaccount.com:generateAccessToken";
