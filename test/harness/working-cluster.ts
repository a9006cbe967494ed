import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import {
  type ApiServer,
  createApiServer,
  createSimulatedNodes,
  createWorkloads,
  kubeconfigFor,
} from "@millwright/devcluster";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { eventually } from "./eventually.ts";
import { createKubectl } from "./foreign-tools.ts";
import { forbiddenRequests } from "./grant-roles.ts";

/** A cluster with TLS, RBAC and nodes that run workloads. No machines. */
export interface WorkingCluster {
  readonly server: ApiServer;
  /** A folder for files of the test; removed at the end. */
  readonly folder: string;
  /** Path of an administrator's kubeconfig, by client certificate. */
  readonly kubeconfig: string;
  /** Path of a kubeconfig of another user. */
  kubeconfigOf(user: string, groups?: readonly string[]): Promise<string>;
  /** Path of a kubeconfig of the controllers of a release of the chart, which have the permissions of its service account only. */
  kubeconfigOfRelease(namespace: string, name: string): Promise<string>;
  /** Rejects when the controllers of a release were forbidden anything. */
  close(): Promise<void>;
}

/** Starts a cluster with ready nodes of these names. */
export async function startWorkingCluster(...nodeNames: readonly string[]): Promise<WorkingCluster> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-e2e-"));
  const server = createApiServer({ tls: true, tokens: {}, authorization: "RBAC", requestLogLimit: 100_000 });
  const serviceAccounts = new Set<string>();
  const { url, certificateAuthority } = await server.listen();
  const kubeconfigOf = async (user: string, groups: readonly string[] = []): Promise<string> => {
    // In KUBECONFIG a colon separates files.
    const file = join(folder, `kubeconfig-${user.replaceAll(":", ".")}`);
    const clientCertificate = await server.issueClientCertificate({ user, groups });
    await writeFile(file, kubeconfigFor(url, { certificateAuthority, clientCertificate }));
    return file;
  };
  const kubeconfig = await kubeconfigOf("admin", ["system:masters"]);
  const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { userAgent: "life" });
  const { clusterFaults } = server;
  const common = { api, clock: systemClock, clusterFaults };
  const nodes = createSimulatedNodes({ ...common, joinDelayMs: 0, heartbeatMs: 1_000, silenceMs: 60_000 });
  const workloads = createWorkloads({ ...common, podStartMs: 50, podStopMs: 100, attachMs: 50, detachMs: 50 });
  const stop = new AbortController();
  const ended = Promise.all([nodes.start(stop.signal), workloads.start(stop.signal)]);
  nodes.sync(nodeNames.map((nodeName) => ({ nodeName, providerId: `sim:///${nodeName}` })));
  const kubectl = await createKubectl(kubeconfig);
  await eventually(() => kubectl(["wait", "--for=condition=Ready", "node", ...nodeNames, "--timeout=60s"]));
  return {
    server,
    folder,
    kubeconfig,
    kubeconfigOf,
    kubeconfigOfRelease(namespace, name) {
      const user = `system:serviceaccount:${namespace}:${name}`;
      serviceAccounts.add(user);
      return kubeconfigOf(user, ["system:serviceaccounts", `system:serviceaccounts:${namespace}`]);
    },
    async close() {
      stop.abort(new Error("the test ends"));
      await ended;
      await api.close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
      forbiddenRequests().check(
        server.requests
          .filter(({ user, status }) => serviceAccounts.has(user) && status === 403)
          .map(({ verb, path }) => `${verb} ${path}`),
      );
    },
  };
}
