import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { machineClassResource } from "@millwright/core/machine-api";
import { createApiClient, loadKubeConfig, secretResource } from "@millwright/kube";
import { createCloudServer, createSimulatedCloud } from "@millwright/provider-mock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { commandsOf, wordsOf } from "../harness/guide-commands.ts";
import { machineClass } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const namespace = "machines";

/** The commands of both pages in order, with a real kubectl, on a cluster with TLS and RBAC. */
describe("the guide to doctor and the page of permissions", { timeout: 300_000 }, () => {
  let cluster: WorkingCluster;
  let kubectl: ForeignTool;
  /** Kubeconfig of the service account that the page binds the roles to. */
  let controllers: string;
  const cloud = createSimulatedCloud({ clock: systemClock });
  const cloudServer = createCloudServer(cloud);

  beforeAll(async () => {
    cluster = await startWorkingCluster("node-1");
    kubectl = await createKubectl(cluster.kubeconfig);
    controllers = join(cluster.folder, "controllers.kubeconfig");
    // $KUBECONFIG is a list with colons between its files.
    await copyFile(await cluster.kubeconfigOf("system:serviceaccount:machines:millwright"), controllers);
    await kubectl(["create", "namespace", namespace]);
  });
  afterAll(async () => {
    await cluster.close();
    await cloudServer.close();
    cloud.close();
  });

  const millwright = async (args: readonly string[]): Promise<{ readonly status: number; readonly output: string }> => {
    const command = startMillwright(args, { KUBECONFIG: controllers });
    const status = await command.ended;
    return { status, output: command.output() };
  };
  const names: Record<string, string> = {};
  const filled = (command: string): readonly string[] =>
    wordsOf(command).map((word) => word.replaceAll(/\$([A-Z]+)/g, (_, name: string) => names[name] ?? word));
  /** `millwright … | kubectl …`, or one of them. */
  const run = async (command: string): Promise<{ readonly status: number; readonly output: string }> => {
    const [first = "", second] = command.split(" | ");
    const [program, ...args] = filled(first);
    if (program === "kubectl") return { status: 0, output: await kubectl(args) };
    const made = await millwright(args);
    return second === undefined ? made : { status: 0, output: await kubectl(filled(second).slice(1), made.output) };
  };

  it("lead from a cluster without permissions to one in which every check passes", async () => {
    Object.assign(names, { CONTROL: controllers, TARGET: controllers, CLASS: "small" });
    const guide = await commandsOf("troubleshoot", "operations");
    const [both = "", one = ""] = guide.get("Doctor") ?? [];
    const before = await run(both);
    expect(before.status, before.output).toBe(1);
    expect(before.output).toContain("FAILED   CRDs: ");
    expect(before.output).toContain("FAILED   Permission pods/eviction: ");

    const file = join(cluster.folder, "crds.yaml");
    await writeFile(file, (await millwright(["crds"])).output);
    await kubectl(["apply", "-f", file]);
    names["TARGET"] = cluster.kubeconfig;
    const pages = [...(await commandsOf("../permissions")).values()].flat();
    expect(pages).toHaveLength(6);
    for (const command of pages) await run(command);
    names["TARGET"] = controllers;

    const { url } = await cloudServer.listen();
    const admin = createApiClient(await loadKubeConfig({ file: cluster.kubeconfig }), { userAgent: "test" });
    const data = { endpoint: btoa(url), userData: btoa("boot") };
    await admin.create(secretResource, { metadata: { name: "cloud", namespace }, data });
    const small = machineClass("small");
    const secretRef = { name: "cloud", namespace };
    await admin.create(machineClassResource, { ...small, metadata: { name: "small", namespace }, secretRef });
    await admin.close();

    for (const command of [both, one]) {
      const { status, output } = await run(command);
      expect(output).not.toMatch(/FAILED|warning/);
      expect(output).toContain("MachineClass small:\n");
      expect(status).toBe(0);
    }
  });
});
