import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { builtBinary } from "../../tools/control-plane/build-binary.ts";
import type { ControlPlane } from "../../tools/control-plane/start-control-plane.ts";
import { chart } from "../harness/chart.ts";
import { createHelm, createHelm3, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { checkOutPreviousVersion } from "../harness/previous-version.ts";
import { renderChart } from "../harness/rendered-chart.ts";
import { REAL_FLEET_MS } from "./real-fleet.ts";
import { startRealServer } from "./real-server.ts";

/** Every object and every part of a pod that the chart can have. */
const everything = {
  machinesNamespace: "machines",
  driverContainers: [{ name: "mine", image: "registry.example/mine:1", secretName: "keys", args: ["serve"] }],
  caBundle: { configMap: "authorities" },
  autoscaler: { enabled: true, tlsSecret: "tls" },
  dashboard: { enabled: true, address: "[::]" },
  metrics: { authorization: true, dashboard: { create: true } },
  commonLabels: { team: "core" },
  commonAnnotations: { owner: "us" },
  podDisruptionBudget: { minAvailable: 1 },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" },
  ],
  dnsPolicy: "Default",
};
const helms = { a: createHelm3, b: createHelm } as const;

const onBuild = (name: string, version: string): void =>
  console.log(`building ${name} ${version} with Go: takes a minute, once`);

/** What a program prints that reads objects from a file. */
async function linesOf(program: string, kubeconfig: string, file: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("bash", ["-c", '"$0" "$1" < "$2"', program, kubeconfig, file]);
  return stdout.trim().split("\n");
}

describe.each([
  ["IPv4", ["--service-cluster-ip-range=10.0.0.0/24"]],
  ["IPv6", ["--service-cluster-ip-range=fd00:10::/112", "--advertise-address=::1"]],
  ["IPv4,IPv6", ["--service-cluster-ip-range=10.0.0.0/24,fd00:10::/112"]],
] as const)("the Helm chart on a kube-apiserver with Services of %s", (families, flags) => {
  let server: ControlPlane;
  let folder: string;
  let values: string;
  let kubectl: ForeignTool;
  let fluxApply: string;
  let argoDiff: string;

  beforeAll(async () => {
    fluxApply = await builtBinary("flux-apply", { onBuild });
    argoDiff = await builtBinary("argo-diff", { onBuild });
    server = await startRealServer(undefined, flags);
    folder = await mkdtemp(join(tmpdir(), "millwright-chart-"));
    values = join(folder, "values.yaml");
    await writeFile(values, stringify(everything));
    kubectl = await createKubectl(server.kubeconfig);
    for (const namespace of ["machines", "c", ...Object.keys(helms)]) await kubectl(["create", "namespace", namespace]);
    await kubectl(["label", "namespace", ...Object.keys(helms), "pod-security.kubernetes.io/enforce=restricted"]);
  }, REAL_FLEET_MS);
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  }, 60_000);

  it("installs two releases with all values, whose pods the Pod Security Standard restricted admits", async () => {
    for (const [namespace, create] of Object.entries(helms)) {
      const helm = await create(server.kubeconfig);
      await helm(["install", "millwright", chart, "--namespace", namespace, "--values", values]);
      const { pod } = await renderChart(helm, ["--namespace", namespace, "--values", values]);
      const manifest = { apiVersion: "v1", kind: "Pod", metadata: { name: "pod", namespace }, spec: pod() };
      expect(await kubectl(["create", "--dry-run=server", "-f", "-"], JSON.stringify(manifest))).toContain("created");
      const services = await kubectl([
        "-n",
        namespace,
        "get",
        "services",
        "-o",
        "jsonpath={.items[*].spec.ipFamilies}",
      ]);
      expect(services.split(" ").map((text) => JSON.parse(text).join(","))).toEqual([families, families, families]);
    }
  });

  it("is the same for programs that compare it with server-side apply, as Flux and Argo CD do", async () => {
    const helm = await createHelm(server.kubeconfig);
    const { text } = await renderChart(helm, ["--namespace", "b", "--values", values, "--kube-version", "1.35"]);
    const apply = ["--server-side", "--force-conflicts", "--field-manager=gitops", "-f", "-"];
    await kubectl(["apply", ...apply], text);
    const { code, stdout, stderr } = await kubectl.attempt(["diff", ...apply], text);
    expect([code, stdout, stderr]).toEqual([0, "", ""]);
  });

  it("is unchanged when Flux applies it again", async () => {
    const helm = await createHelm(server.kubeconfig);
    const { text, objects } = await renderChart(helm, [
      "--namespace",
      "a",
      "--values",
      values,
      "--kube-version",
      "1.35",
    ]);
    const file = join(folder, "rendered.yaml");
    await writeFile(file, text);
    const apply = (): Promise<readonly string[]> => linesOf(fluxApply, server.kubeconfig, file);
    expect(await apply()).toHaveLength(objects.length);
    expect((await apply()).filter((line) => !line.startsWith("unchanged "))).toEqual([]);
  });

  it("is in sync for Argo CD after it was applied, and out of sync where an object was changed", async () => {
    const helm = await createHelm(server.kubeconfig);
    const { text } = await renderChart(helm, ["--namespace", "c", "--values", values, "--kube-version", "1.35"]);
    const file = join(folder, "argo.yaml");
    await writeFile(file, text);
    await kubectl(["apply", "-f", file]);
    expect(await linesOf(argoDiff, server.kubeconfig, file)).toEqual([""]);
    await kubectl(["-n", "c", "patch", "deployment", "millwright", "--type=merge", "-p", '{"spec":{"replicas":7}}']);
    expect(await linesOf(argoDiff, server.kubeconfig, file)).toEqual(["Deployment millwright"]);
  });

  it("is upgraded from the previous version with its values, and rolled back", async () => {
    const previous = await checkOutPreviousVersion();
    try {
      for (const create of [createHelm3, createHelm]) {
        const helm = await create(server.kubeconfig);
        const inNamespace = ["--namespace", "default"];
        const set = ["--set", "dashboard.enabled=true,dashboard.address=0.0.0.0"];
        // Helm 4 would apply the older CustomResourceDefinitions, too.
        await helm(["install", "millwright", previous.chart, "--skip-crds", ...inNamespace, ...set]);
        const upgraded = await helm(["upgrade", "millwright", chart, ...inNamespace, "--reuse-values"]);
        expect(upgraded).toContain("REVISION: 2");
        await helm(["rollback", "millwright", "1", ...inNamespace]);
        await helm(["upgrade", "millwright", chart, ...inNamespace, ...set]);
        await helm(["uninstall", "millwright", ...inNamespace]);
      }
    } finally {
      await previous.close();
    }
  });
});
