import { toYaml } from "@millwright/kube/yaml";
import type { Credentials } from "./tls/certificate-authority.ts";

/** Trust and credentials of a kubeconfig. */
export interface KubeconfigOptions {
  /** The certificate authority of the server, in PEM, as `listen` returns it. */
  readonly certificateAuthority?: string | undefined;
  /** A bearer token. */
  readonly token?: string | undefined;
  /** A client certificate and its key, in PEM, as `issueClientCertificate` returns them. */
  readonly clientCertificate?: Credentials | undefined;
}

/**
 * A kubeconfig (YAML) with one context for `url`. Without options it has no credentials: such a server has no authentication and
 * listens on loopback only.
 */
export function kubeconfigFor(url: string, options: KubeconfigOptions = {}): string {
  const { certificateAuthority, token, clientCertificate } = options;
  const name = "millwright";
  const encoded = (pem: string): string => Buffer.from(pem, "utf8").toString("base64");
  const certificate =
    clientCertificate === undefined
      ? {}
      : {
          "client-certificate-data": encoded(clientCertificate.certificatePem),
          "client-key-data": encoded(clientCertificate.keyPem),
        };
  const authority =
    certificateAuthority === undefined ? {} : { "certificate-authority-data": encoded(certificateAuthority) };
  // client-node rejects plain HTTP without this; kubectl and Helm ignore it.
  const plain = url.startsWith("http:") ? { "insecure-skip-tls-verify": true } : {};
  return toYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, ...authority, ...plain } }],
    users: [{ name, user: { ...(token === undefined ? {} : { token }), ...certificate } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  });
}
