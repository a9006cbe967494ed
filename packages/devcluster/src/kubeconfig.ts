import { stringify } from "yaml";

/**
 * A kubeconfig (YAML) whose only context points at `url`. There are no credentials in it: the server has no
 * authentication and listens on loopback only.
 */
export function kubeconfigFor(url: string): string {
  const name = "millwright";
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    // client-node refuses plain HTTP without this; kubectl and Helm do not look at it there.
    clusters: [{ name, cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  });
}
