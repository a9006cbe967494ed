import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { crds, machineResource } from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import { createApiClient, customResourceDefinitionResource, loadKubeConfig } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadInCluster } from "../../packages/kube/src/connection/in-cluster.ts";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { type MillwrightProcess, startControllers } from "../harness/millwright.ts";

const hasIPv6 = Object.values(networkInterfaces()).some((own) => own?.some(({ address }) => address === "::1"));

const statusOf = (host: string, port: number, path: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    get({ host, port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", () => resolve(undefined));
  });

describe.skipIf(!hasIPv6)("a cluster whose API server is at an IPv6 address only (where the machine has IPv6)", () => {
  let folder = "";
  let server: ApiServer;
  let kubeconfig = "";
  let [address, authority] = ["", ""];
  let controllers: MillwrightProcess | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-ipv6-"));
    server = createApiServer({ tls: true, tokens: { root: { user: "root", groups: ["system:masters"] } } });
    const { url, certificateAuthority = "" } = await server.listen({ host: "::1" });
    [address, authority] = [url, certificateAuthority];
    kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(url, { token: "root", certificateAuthority }));
    const api = createApiClient(await loadKubeConfig({ file: kubeconfig }));
    for (const crd of crds()) await api.create(customResourceDefinitionResource, crd);
    await api.close();
  });
  afterAll(async () => {
    await controllers?.stop("SIGKILL");
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("is reached from a pod, by its environment and the files of its service account", async () => {
    const { port } = new URL(address);
    await writeFile(join(folder, "token"), "root");
    await writeFile(join(folder, "ca.crt"), authority);
    const env = { KUBERNETES_SERVICE_HOST: "::1", KUBERNETES_SERVICE_PORT: port };
    const api = createApiClient(await loadInCluster(env, { folder }));
    try {
      expect((await api.list(machineResource, { namespace: "default" })).items).toEqual([]);
    } finally {
      await api.close();
    }
  });

  it("is managed, and probes, dashboard and profiles are served at IPv6 addresses", async () => {
    const [port = 0, dashboard = 0, profiles = 0, autoscaler = 0] = await freePorts(4);
    controllers = startControllers(
      kubeconfig,
      `--port=${port}`,
      "--address=[::1]",
      "--dashboard",
      `--dashboard-address=[::1]:${dashboard}`,
      "--profiling",
      `--profiling-address=[::1]:${profiles}`,
      `--autoscaler-address=[::1]:${autoscaler}`,
    );
    await expect.poll(() => statusOf("::1", port, "/readyz"), { timeout: 60_000 }).toBe(200);
    expect(await statusOf("::1", port, "/healthz")).toBe(200);
    expect(await statusOf("127.0.0.1", port, "/healthz")).toBeUndefined();
    await expect.poll(() => statusOf("::1", dashboard, "/")).toBe(200);
    await expect.poll(() => statusOf("::1", profiles, "/debug/")).toBe(200);
    await controllers.waitFor(new RegExp(`"address":"\\[::1\\]:${autoscaler}"`));
  });
});
