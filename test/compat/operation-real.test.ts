import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { createClusterFaults } from "@millwright/devcluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { chart, startContainer, writeServiceAccountKubeconfig } from "../harness/chart.ts";
import { attributesOf, hasCollector, spansOf, startCollector } from "../harness/collector.ts";
import { eventually } from "../harness/eventually.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { hasPrometheus, type Prometheus, startPrometheus } from "../harness/prometheus.ts";
import { createOperatorKinds, scrapesOfMonitor } from "../harness/service-monitor.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;
/** Namespace of the release; machines are in two others, of which one stays empty. */
const release = "controllers";
const [machines, spare] = ["default", "spare"];
/** Machines before and after the cloud refuses the credential: deletions of five machines have to fail. */
const [many, few] = [9, 3];

/**
 * Two pods of the chart, as processes under its rights, observed by a real Prometheus as the ServiceMonitor and the PrometheusRule of the release make its operator configure it, and by a
 * real OpenTelemetry Collector. `test/system/install-prometheus` and `npm run control-plane -- build otel-collector` get both; tests of one that is missing are skipped, and `.ci/run` reports it.
 */
describe("operating the Helm chart on a real kube-apiserver", () => {
  const nodeFaults = createClusterFaults();
  let fleet: RealFleet;
  let folder: string;
  let kubectl: ForeignTool;
  let prometheus: Prometheus | undefined;
  let collector: Program | undefined;
  let pods: readonly MillwrightProcess[] = [];

  beforeAll(async () => {
    fleet = await startRealFleet(
      { clusterFaults: nodeFaults, heartbeatMs: 500, silenceMs: 4_000 },
      { bootDelayMs: 3_000 },
    );
    folder = await mkdtemp(join(tmpdir(), "millwright-operation-"));
    kubectl = await createKubectl(fleet.kubeconfig);
    const helm = await createHelm(fleet.kubeconfig);
    const [tracesPort = 0, ...ports] = await freePorts(3);
    if (hasCollector) collector = await startCollector(folder, tracesPort);
    await createOperatorKinds(kubectl);
    await kubectl(["create", "namespace", spare]);
    const values = {
      machinesNamespace: machines,
      moreMachinesNamespaces: `{${spare}}`,
      "metrics.serviceMonitor.create": "true",
      "metrics.rules.create": "true",
      ...(hasCollector ? { "flags.tracing-endpoint": `http://127.0.0.1:${tracesPort}` } : {}),
    };
    const sets = Object.entries(values).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    await helm(["install", "millwright", chart, "--namespace", release, "--create-namespace", ...sets]);

    const { url, ca } = fleet.plane;
    const kubeconfig = await writeServiceAccountKubeconfig(kubectl, folder, { url, ca, namespace: release });
    pods = await Promise.all(ports.map((port) => startContainer(kubectl, release, { kubeconfig, port })));
    if (hasPrometheus) prometheus = await observe(ports);
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", many));
    await untilRunning(many);
  }, REAL_FLEET_MS);

  afterAll(async () => {
    await prometheus?.close();
    await Promise.all(pods.map((process) => process.stop("SIGKILL")));
    await collector?.stop("SIGKILL");
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  /** What the operator makes of the objects of the release. */
  const observe = async (ports: readonly number[]): Promise<Prometheus> => {
    const addresses = ports.map((port) => `127.0.0.1:${port}`);
    const scrapes = await scrapesOfMonitor(kubectl, { namespace: release, name: "millwright" }, addresses);
    const rules = await kubectl(["-n", release, "get", "prometheusrule", "millwright", "-o", "jsonpath={.spec}"]);
    return startPrometheus({ scrapes, rules });
  };
  const untilRunning = (count: number): Promise<void> =>
    eventually(async () => {
      const phases = (await fleet.machines()).map(phaseOf);
      expect(phases).toEqual(Array.from({ length: count }, () => "Running"));
    }, LONG);
  const query = async (expression: string) => (await prometheus?.query(expression)) ?? [];
  const firing = async (name: string) => {
    const alerts = (await prometheus?.firing()) ?? [];
    return alerts.filter(({ labels }) => labels["alertname"] === name).map(({ labels }) => labels);
  };
  const untilFiring = (name: string, ...labels: readonly object[]): Promise<void> =>
    eventually(async () => {
      const found = await firing(name);
      expect(found).toHaveLength(labels.length);
      expect(found).toEqual(expect.arrayContaining(labels.map((each) => expect.objectContaining(each))));
    }, LONG);
  const untilResolved = (name: string): Promise<void> =>
    eventually(async () => expect(await firing(name)).toEqual([]), LONG);
  const scale = (replicas: number): Promise<unknown> =>
    kubectl(["scale", "machinedeployment", "fleet", `--replicas=${replicas}`]);

  describe.skipIf(!hasPrometheus)("with a real Prometheus", () => {
    it("scrapes each pod by the ServiceMonitor, and keeps the namespaces of the machines", async () => {
      await eventually(async () => {
        expect(new Set((await query("up == 1")).map(({ metric }) => metric["pod"]))).toEqual(
          new Set(["millwright-0", "millwright-1"]),
        );
        const counts = await query("sum by (namespace) (mcm_machine_items_total)");
        expect(counts).toHaveLength(2);
        expect(counts).toEqual(
          expect.arrayContaining([
            { metric: { namespace: machines }, value: many },
            { metric: { namespace: spare }, value: 0 },
          ]),
        );
        expect(await query(`mcm_machine_current_status_phase{namespace="${machines}"} == 1`)).toHaveLength(many);
      }, LONG);
    });

    it("fires an alert while the cloud refuses the credential, which resolves after a new one", async () => {
      expect(await firing("MillwrightCircuitOpen")).toEqual([]);
      await fleet.cloud.addFault({ operation: "*", code: "Unauthenticated", message: "key revoked", times: 1e6 });
      await scale(few);
      await untilFiring("MillwrightCircuitOpen", { driver: "mock", secret: "cloud", severity: "critical" });
      await fleet.cloud.clearFaults();
      await kubectl(["patch", "secret", "cloud", "-p", '{"stringData":{"userData":"again <<MACHINE_NAME>>"}}']);
      await untilRunning(few);
      await untilResolved("MillwrightCircuitOpen");
    });

    it("fires an alert while nodes are lost, which resolves when they return, and replaces no machine", async () => {
      const uids = async () => new Set((await fleet.machines()).map(({ metadata }) => metadata.uid));
      const before = await uids();
      await untilResolved("MillwrightMachinesNotRunning");
      const nodes = (await fleet.machines()).slice(1).map(({ metadata }) => metadata.labels?.["node"] ?? "");
      const fault = nodeFaults.add({ kind: "kubelet-stops", nodes });
      await untilFiring("MillwrightMachinesNotRunning", { namespace: machines, severity: "warning" });
      fault.remove();
      await untilResolved("MillwrightMachinesNotRunning");
      await untilRunning(few);
      expect(await uids()).toEqual(before);
    });
  });

  it("deletes all machines, and no request of a pod is refused", async () => {
    await kubectl(["delete", "machinedeployment", "fleet", "--wait=false"]);
    await eventually(async () => expect(await fleet.machines()).toEqual([]), LONG);
    expect(fleet.cloud.vms()).toEqual([]);
    for (const pod of pods) expect(pod.output()).not.toMatch(/forbidden|"reason":"Forbidden"/i);
  });

  it.skipIf(!hasPrometheus)("fires an alert for each namespace that no pod leads any more", async () => {
    await untilResolved("MillwrightNoLeader");
    expect(await Promise.all(pods.map((pod) => pod.stop("SIGTERM")))).toEqual([0, 0]);
    await untilFiring("MillwrightNoLeader", { namespace: machines }, { namespace: spare });
  });

  it.skipIf(!hasCollector)(
    "sent a trace of each creation until Running and of each deletion to a collector",
    async () => {
      await Promise.all(pods.map((pod) => pod.stop("SIGTERM")));
      const spans = collector === undefined ? [] : spansOf(collector);
      for (const [name, parts] of [
        ["create machine", ["createMachine", "Pending"]],
        ["delete machine", ["deleteMachine"]],
      ] as const) {
        const roots = spans.filter((span) => span.name === name);
        const uids = roots.map((root) => attributesOf(root)["millwright.machine.uid"]);
        expect(new Set(uids).size).toBe(uids.length);
        expect(uids).toHaveLength(many);
        for (const { traceId, spanId } of roots) {
          const names = spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
          expect(names.map((span) => span.name)).toEqual(expect.arrayContaining([...parts]));
        }
      }
    },
  );
});
