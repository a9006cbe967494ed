/** A kubeconfig with one cluster, one user and the context of both. */
export const kubeconfigOf = (cluster: object, user: object = {}) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "x",
  clusters: [{ name: "c", cluster }],
  users: [{ name: "u", user }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
});

/** As data of certificates and keys in a kubeconfig. */
export const base64 = (text: string): string => Buffer.from(text).toString("base64");
