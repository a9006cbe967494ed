import type { ClientCertificate } from "./credentials.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A kubeconfig (JSON, which is YAML) with the contexts `token` and, where there is a certificate, `certificate`. */
export function kubeconfigText(url: string, ca: string, token: string, client: ClientCertificate | undefined): string {
  const users: { readonly name: string; readonly user: object }[] = [{ name: "token", user: { token } }];
  if (client !== undefined) {
    const user = { "client-certificate-data": base64(client.certificate), "client-key-data": base64(client.key) };
    users.push({ name: "certificate", user });
  }
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "control-plane", cluster: { server: url, "certificate-authority-data": base64(ca) } }],
    users,
    contexts: users.map(({ name }) => ({ name, context: { cluster: "control-plane", user: name } })),
    "current-context": "token",
  });
}
