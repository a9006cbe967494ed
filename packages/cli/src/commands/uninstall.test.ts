import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  crds,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import {
  type ApiClient,
  createApiClient,
  customResourceDefinitionResource,
  leaseResource,
  loadKubeConfig,
  namespaceResource,
  nodeResource,
  secretResource,
} from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "../main.ts";

const namespace = "default";
const finalizers = ["machine.sapcloud.io/machine-controller-manager"];
const kinds = [
  machineDeploymentResource,
  machineSetResource,
  machineResource,
  machineClassResource,
  secretResource,
  nodeResource,
];
const longId = `azure:///subscriptions/${"0".repeat(60)}`;

describe("millwright uninstall", () => {
  let folder: string;
  let server: ApiServer;
  let api: ApiClient;
  let output: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "uninstall-"));
    server = createApiServer();
    const { url } = await server.listen();
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(url));
    api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { userAgent: "test" });
    for (const crd of crds())
      await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
    const name = "a";
    const reference = { kind: "MachineClass", name };
    const labels = { pool: name };
    const template = { metadata: { labels }, spec: { class: reference } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    const metadata = { name, namespace, labels, finalizers, annotations: { "machine.millwright.dev/on-delete": "x" } };
    await api.create(machineClassResource, { metadata, provider: "mock", providerSpec: {} });
    await api.create(machineDeploymentResource, { metadata, spec });
    await api.create(machineSetResource, { metadata, spec });
    await api.create(machineResource, { metadata, spec: { class: reference, providerID: longId } });
    await api.create(secretResource, {
      metadata: { name, namespace, finalizers: ["machine.sapcloud.io/machine-controller", "example.com/kept"] },
    });
    const byAutoscaler = { "cluster-autoscaler.kubernetes.io/scale-down-disabled": "true" };
    const byMcm = { "cluster-autoscaler.kubernetes.io/scale-down-disabled-by-mcm": "true" };
    const applied = { "node.machine.sapcloud.io/last-applied-anno-labels-taints": "{}", "example.com/kept": "1" };
    const nodeFinalizers = { finalizers: ["node.machine.sapcloud.io/machine-controller"] };
    await api.create(nodeResource, {
      metadata: { name, ...nodeFinalizers, annotations: { ...byAutoscaler, ...byMcm, ...applied } },
    });
    await api.create(nodeResource, { metadata: { name: "orphan", ...nodeFinalizers, annotations: byAutoscaler } });
    output = "";
    for (const stream of [process.stdout, process.stderr])
      vi.spyOn(stream, "write").mockImplementation((chunk) => {
        output += String(chunk);
        return true;
      });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await api.close();
    await server.close();
    await rm(folder, { recursive: true });
  });

  const uninstall = (...flags: string[]): Promise<number> =>
    main(["uninstall", "--control-kubeconfig", join(folder, "kubeconfig"), ...flags]);
  const everything = async () =>
    (await Promise.all(kinds.map((type) => api.list(type, type.namespaced ? { namespace } : {})))).map(
      ({ items }) => items,
    );
  const hold = (seconds: number): Promise<unknown> =>
    api.create(leaseResource, {
      metadata: { name: "machine-controller", namespace },
      spec: { holderIdentity: "mcm-0", leaseDurationSeconds: seconds, renewTime: "2026-01-01T00:00:00.000000Z" },
    });

  it.each([[[]], [["--dry-run"]]])(
    "prints what it would remove and what it leaves, and writes nothing (%j)",
    async (flags) => {
      await hold(15);
      const before = await everything();
      expect(await uninstall(...flags)).toBe(0);
      expect(await everything()).toEqual(before);
      expect(output.split("\n")).toEqual([
        "Would be removed from objects (add --yes):",
        "  KIND               FINALIZERS  ANNOTATIONS",
        "  MachineDeployment  1           0",
        "  MachineSet         1           0",
        "  Machine            1           0",
        "  MachineClass       1           0",
        "  Secret             1           0",
        "  Node               2           1",
        "Left, to be deleted by you:",
        "  MachineDeployment: 1",
        "  MachineSet: 1",
        "  Machine: 1",
        "  MachineClass: 1",
        "  Node: 2",
        "VMs that keep running, by machine:",
        "  a:",
        `    ${longId}`,
        "The CRDs, Secrets and Leases are left, too.",
        "",
        "Stop these processes first:",
        "  mcm-0",
        "    holds machine-controller",
        "",
      ]);
      const long = output.split("\n").filter((line) => line.length > 80 && !line.includes(longId));
      expect(long).toEqual([]);
    },
  );

  it("removes with --yes what keeps objects from being deleted, and what misleads the autoscaler", async () => {
    expect(await uninstall("--yes")).toBe(0);
    expect(output).toContain("Removed from objects:");
    const [[deployment] = [], , , , [secret] = [], [node, orphan] = []] = await everything();
    expect(secret?.metadata.finalizers).toEqual(["example.com/kept"]);
    expect(node?.metadata.annotations).toEqual({ "example.com/kept": "1" });
    expect(orphan?.metadata.annotations).toEqual({ "cluster-autoscaler.kubernetes.io/scale-down-disabled": "true" });
    expect(deployment?.metadata.annotations).toEqual({ "machine.millwright.dev/on-delete": "x" });
    for (const type of kinds.filter(({ kind }) => kind !== "Secret"))
      for (const { metadata } of (await api.list(type, type.namespaced ? { namespace } : {})).items)
        await api.delete(type, { ...(type.namespaced ? { namespace } : {}), name: metadata.name ?? "" });
    expect((await everything()).map((objects) => objects.length)).toEqual([0, 0, 0, 0, 1, 0]);
    output = "";
    expect(await uninstall("-o", "json")).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ removals: [], holders: [] });
  });

  it("removes with -A from all namespaces, and nothing from any while a process leads in one of them", async () => {
    const metadata = { name: "b", namespace: "other", finalizers };
    await api.create(namespaceResource, { metadata: { name: "other" } });
    await api.create(machineClassResource, { metadata, provider: "mock", providerSpec: {} });
    const lease = { name: "machine-controller", namespace: "other" };
    const spec = { holderIdentity: "mcm-1", leaseDurationSeconds: 2, renewTime: "2026-01-01T00:00:00.000000Z" };
    await api.create(leaseResource, { metadata: lease, spec });
    const finalizersOf = async (namespace: string) =>
      (await api.list(machineClassResource, { namespace })).items.flatMap((each) => each.metadata.finalizers ?? []);
    let renewals = 0;
    const renewing = setInterval(() => {
      const renewTime = new Date(Date.UTC(2026, 0, 1, 0, 0, 0, ++renewals)).toISOString().replace("Z", "000Z");
      void api.patch(leaseResource, lease, { spec: { renewTime } }, { kind: "merge" });
    }, 300);
    try {
      expect(await uninstall("-A", "--yes")).toBe(1);
    } finally {
      clearInterval(renewing);
    }
    expect(output).toContain("mcm-1 leads; stop all controllers first");
    expect([await finalizersOf(namespace), await finalizersOf("other")]).toEqual([finalizers, finalizers]);
    expect(await uninstall("-A", "--yes")).toBe(0);
    expect([await finalizersOf(namespace), await finalizersOf("other")]).toEqual([[], []]);
    expect(output).toContain("Namespace other:\n\nRemoved from objects:");
  }, 120_000);

  it("refuses while a process leads, and takes over from one that ended without releasing its lease", async () => {
    await hold(2);
    const before = await everything();
    let renewals = 0;
    const renewing = setInterval(() => {
      const renewTime = new Date(Date.UTC(2026, 0, 1, 0, 0, 0, ++renewals)).toISOString().replace("Z", "000Z");
      void api.patch(
        leaseResource,
        { namespace, name: "machine-controller" },
        { spec: { renewTime } },
        { kind: "merge" },
      );
    }, 300);
    try {
      expect(await uninstall("--yes")).toBe(1);
    } finally {
      clearInterval(renewing);
    }
    expect(output).toContain("millwright: Cannot uninstall: mcm-0 leads; stop all controllers first\n");
    expect(await everything()).toEqual(before);
    expect(await uninstall("--yes")).toBe(0);
    expect((await api.list(nodeResource)).items.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  }, 120_000);

  it("rejects --yes with --dry-run", async () => {
    expect(await uninstall("--yes", "--dry-run")).toBe(2);
    expect(output).toContain("use one of them");
  });
});
