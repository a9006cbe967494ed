import { stringify } from "yaml";

/** What a kubeconfig holds besides the address. */
export interface KubeconfigOptions {
  /** The certificate authority of the server, in PEM, as `listen` gives it. */
  readonly certificateAuthority?: string | undefined;
  /** A bearer token. */
  readonly token?: string | undefined;
}

/**
 * A kubeconfig (YAML) whose only context points at `url`. Without options there are no credentials in it: such a server has no
 * authentication and listens on loopback only.
 */
export function kubeconfigFor(url: string, { certificateAuthority, token }: KubeconfigOptions = {}): string {
  const name = "millwright";
  const authority =
    certificateAuthority === undefined
      ? {}
      : { "certificate-authority-data": Buffer.from(certificateAuthority, "utf8").toString("base64") };
  // client-node refuses plain HTTP without this; kubectl and Helm do not look at it there.
  const plain = url.startsWith("http:") ? { "insecure-skip-tls-verify": true } : {};
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, ...authority, ...plain } }],
    users: [{ name, user: token === undefined ? {} : { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  });
}
