import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { crds, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import {
  type ApiClient,
  createApiClient,
  customResourceDefinitionResource,
  type KubeObject,
  loadKubeConfig,
  secretResource,
} from "@millwright/kube";
import {
  type CloudServer,
  createCloudServer,
  createSimulatedCloud,
  managedBy,
  ownerTagKeys,
  type SimulatedCloud,
} from "@millwright/provider-mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "../main.ts";

const namespace = "default";

describe("millwright drift", () => {
  let folder: string;
  let server: ApiServer;
  let api: ApiClient;
  let cloud: SimulatedCloud;
  let cloudServer: CloudServer;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "drift-"));
    server = createApiServer();
    const { url } = await server.listen();
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(url));
    api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { userAgent: "test" });
    for (const crd of crds())
      await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
    cloud = createSimulatedCloud({ clock: systemClock });
    cloudServer = createCloudServer(cloud);
    const { url: endpoint } = await cloudServer.listen();
    await api.create(secretResource, { metadata: { name: "cloud", namespace }, data: { endpoint: btoa(endpoint) } });
    await declareClass("small", "mock");
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await api.close();
    await cloudServer.close();
    cloud.close();
    await server.close();
    await rm(folder, { recursive: true });
  });

  const declareClass = async (name: string, provider: string): Promise<void> => {
    await api.create(machineClassResource, {
      apiVersion: "machine.sapcloud.io/v1alpha1",
      kind: "MachineClass",
      metadata: { name, namespace },
      provider,
      providerSpec: { machineType: "small" },
      secretRef: { name: "cloud", namespace },
    });
  };
  /** A machine whose VM has this type. */
  const aMachine = async (name: string, machineType: "small" | "large", className = "small"): Promise<void> => {
    const machine: KubeObject = await api.create(machineResource, {
      apiVersion: "machine.sapcloud.io/v1alpha1",
      kind: "Machine",
      metadata: { name, namespace },
      spec: { class: { kind: "MachineClass", name: className } },
    });
    const tags = {
      [ownerTagKeys.managedBy]: managedBy,
      [ownerTagKeys.cluster]: "default",
      [ownerTagKeys.machineName]: name,
      [ownerTagKeys.machineUid]: machine.metadata.uid ?? "",
    };
    const vm = await cloud.createVm({
      name,
      token: name,
      machineType,
      region: "local",
      zone: "local-a",
      image: "simulated",
      tags,
    });
    await api.patch(machineResource, { namespace, name }, { spec: { providerID: vm.providerId } }, { kind: "merge" });
  };
  const run = async (...args: readonly string[]) => {
    const printed: string[] = [];
    const collect = (text: string | Uint8Array): boolean => printed.push(String(text)) > 0;
    vi.spyOn(process.stdout, "write").mockImplementation(collect);
    vi.spyOn(process.stderr, "write").mockImplementation(collect);
    const status = await main(["drift", ...args, "--kubeconfig", join(folder, "kubeconfig")]);
    vi.restoreAllMocks();
    return { status, output: printed.join("") };
  };

  it("ends with 0 when no VM differs, and with 2 and the fields when one does", async () => {
    await aMachine("a", "small");
    expect(await run()).toEqual({ status: 0, output: "0 of 1 machine drifted.\n" });
    await aMachine("b", "large");
    const { status, output } = await run();
    expect(status).toBe(3);
    expect(output).toMatch(
      /^b \(class small, mock:.*\):\n {2}FIELD +CLASS +VM\n {2}machineType +"small" +"large"\n1 of 2/,
    );
    expect(await run("a")).toMatchObject({ status: 0 });
  });

  it("prints JSON for programs", async () => {
    await aMachine("b", "large");
    const { status, output } = await run("-o", "json");
    expect(status).toBe(3);
    expect(JSON.parse(output)).toMatchObject({
      outcome: "drifted",
      machines: [{ machine: "b", differences: [{ field: "machineType", wanted: "small", found: "large" }] }],
    });
  });

  it("ends with 1 when a machine cannot be compared, and compares the others", async () => {
    await aMachine("a", "large");
    await declareClass("alien", "alien");
    await aMachine("b", "small", "alien");
    const { status, output } = await run();
    expect(status).toBe(1);
    expect(output).toContain('MachineClass "alien": no driver "alien" is known; name its package with --provider');
    expect(output).toContain("machineType");
  });

  it.each([
    [["unknown"], 'millwright: there is no Machine "unknown" in namespace default\n'],
    [["--deployment", "none"], 'millwright: there is no MachineDeployment "none" in namespace default\n'],
    [
      ["a", "--deployment", "b"],
      'millwright: machine "a" or --deployment b: name one of them, or none for all machines\n',
    ],
    [["--provider", "./missing.ts"], /^millwright: --provider .\/missing.ts: there is no file /],
  ])("refuses %j in one line", async (args, message) => {
    const { status, output } = await run(...args);
    expect(status).toBe(args.includes("b") ? 2 : 1);
    expect(output).toMatch(message);
  });

  it("uses the driver that is named for its provider", async () => {
    await writeFile(
      join(folder, "alien.mjs"),
      `const never = async () => { throw new Error("not asked for"); };
       export default {
         name: "alien",
         spec: { "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } },
         createMachine: never, deleteMachine: never, getMachineStatus: never,
         findDrift: async () => ({ providerId: "x", differences: [{ field: "f", wanted: "1", found: "2" }] }),
       };`,
    );
    await declareClass("alien", "Alien");
    await aMachine("b", "small", "alien");
    const { status, output } = await run("b", "--provider", join(folder, "alien.mjs"));
    expect([status, output]).toEqual([3, expect.stringContaining("b (class alien, x)")]);
  });
});
