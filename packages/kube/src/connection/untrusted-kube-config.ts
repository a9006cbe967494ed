import { dirname, resolve } from "node:path";
import { isRecord } from "@millwright/base";
import type { Cluster, User } from "@kubernetes/client-node";
import { isLinkLocalUrl } from "./link-local.ts";

/**
 * What a kubeconfig from outside may have only if it is allowed:
 *
 * - `exec`: programs that fetch credentials
 * - `files`: files in other folders than that of the kubeconfig
 * - `proxy-url`, `insecure-skip-tls-verify`: these fields
 * - `http`: a server without TLS that is not on loopback
 * - `link-local`: a server on a link-local address, where metadata servers are
 */
export type KubeConfigPermission = "exec" | "files" | "proxy-url" | "insecure-skip-tls-verify" | "http" | "link-local";

/** The parts of a kubeconfig that {@link findForbidden} checks. Paths are absolute. */
export interface UntrustedParts {
  readonly cluster: Cluster;
  readonly user: User | undefined;
  readonly tokenFile: string | undefined;
  /** Where the kubeconfig is. */
  readonly folder: string;
}

/** What a kubeconfig from outside may have. */
export interface KubeConfigLimits {
  readonly allowed: readonly KubeConfigPermission[];
  /** The flag that allows more, for messages. */
  readonly flag: string;
}

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * The first part of a kubeconfig from outside that is not allowed, as a message without its start. Its author may control the server but not this process: such a file must not run
 * programs here, send credentials of this host to that server, or make requests to addresses that only this host can reach.
 */
export function findForbidden(
  { cluster, user, tokenFile, folder }: UntrustedParts,
  { allowed, flag }: KubeConfigLimits,
): string | undefined {
  const ofCluster = `cluster "${cluster.name}"`;
  const ofUser = `user "${user?.name ?? ""}"`;
  const server = URL.parse(cluster.server);
  const isElsewhere = (file: string | null | undefined): boolean =>
    file !== undefined && file !== null && dirname(resolve(file)) !== folder;
  const elsewhere = "is in another folder than the kubeconfig";
  const checks: readonly (readonly [KubeConfigPermission, boolean, string])[] = [
    ["exec", isRecord(user?.exec), `${ofUser} has an exec entry`],
    ["files", isElsewhere(cluster.caFile), `${ofCluster}: certificate-authority ${elsewhere}`],
    ["files", isElsewhere(user?.certFile), `${ofUser}: client-certificate ${elsewhere}`],
    ["files", isElsewhere(user?.keyFile), `${ofUser}: client-key ${elsewhere}`],
    ["files", isElsewhere(tokenFile), `${ofUser}: tokenFile ${elsewhere}`],
    ["proxy-url", Boolean(cluster.proxyUrl), `${ofCluster} has a proxy-url`],
    // Without TLS it changes nothing, and kubeconfigs for such servers have it often.
    [
      "insecure-skip-tls-verify",
      cluster.skipTLSVerify && server?.protocol === "https:",
      `${ofCluster} has insecure-skip-tls-verify`,
    ],
    [
      "http",
      server?.protocol === "http:" && !loopback.test(server.hostname),
      `${ofCluster}: server has no TLS and is not on loopback`,
    ],
    ["link-local", server !== null && isLinkLocalUrl(server), `${ofCluster}: server is a link-local address`],
  ];
  const found = checks.find(([permission, isThere]) => isThere && !allowed.includes(permission));
  if (found === undefined) return undefined;
  const [permission, , problem] = found;
  return `${problem}, which is not allowed in a kubeconfig from outside; ${flag}=${permission} allows it`;
}
