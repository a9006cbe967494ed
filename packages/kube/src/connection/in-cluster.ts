import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { proxyFor } from "@millwright/base/egress";
import { ConfigError } from "@millwright/base";
import { messageOf } from "../log.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { fileExists } from "./file-exists.ts";
import { followCertificates, followTokenFile } from "./followed-file.ts";
import { followTls } from "./followed-tls.ts";
import { asUser, type Impersonation, impersonationHeaders } from "./impersonation.ts";

/** Where the kubelet puts what a pod needs to talk to the API server. */
const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether this is a pod with a service account. */
export function hasServiceAccount(): Promise<boolean> {
  return fileExists(join(serviceAccountFolder, "token"));
}

/**
 * The cluster of the pod that this process is in, as its service account. Token and CA are followed: the kubelet renews them.
 *
 * Requests go through the proxy of the environment, as with client-go.
 *
 * @param options `impersonate`: a user to act as; `folder`: where token and CA are. Default: where the kubelet puts them
 * @throws ConfigError
 */
export async function loadInCluster(
  env: Readonly<Record<string, string | undefined>>,
  {
    impersonate,
    folder = serviceAccountFolder,
  }: { readonly impersonate?: Impersonation | undefined; readonly folder?: string } = {},
): Promise<ClusterConfig> {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) {
    throw new ConfigError(
      "in-cluster configuration: expected KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, which a pod has; is this one?",
    );
  }
  const read = async (name: string) => {
    const file = join(folder, name);
    try {
      return await readFile(file, "utf8");
    } catch (cause) {
      throw new ConfigError(`in-cluster configuration: cannot read ${file}: ${messageOf(cause)}`, { cause });
    }
  };
  const caSource = join(folder, "ca.crt");
  const followCa = followCertificates(caSource, "in-cluster configuration");
  const ca = followCa();
  const namespace = await read("namespace").catch(() => "");
  const token = followTokenFile(join(folder, "token"), "in-cluster configuration");
  token();
  const headers = impersonationHeaders(asUser({}, impersonate), "in-cluster configuration");
  const tls = followTls({ ca, caSource }, { ca: followCa });
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const proxyUrl = proxyFor(new URL(server), env)?.href;
  const config: ClusterConfig = {
    server,
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(namespace.trim() === "" ? {} : { namespace: namespace.trim() }),
    tls: { ca, caSource },
    credentials: async () => ({ headers: { ...headers, authorization: `Bearer ${token()}` } }),
  };
  return { ...config, current: async () => ({ ...config, tls: tls() }) };
}
