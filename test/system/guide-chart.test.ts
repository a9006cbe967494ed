import { readFile } from "node:fs/promises";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { type ApiClient, createApiClient, loadKubeConfig } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { chart } from "../harness/chart.ts";
import { eventually } from "../harness/eventually.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type GuideRunner, readGuide } from "../harness/guide-runner.ts";
import { type Fleet, machineClass, machineDeployment, startFleet } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { createOperatorKinds } from "../harness/service-monitor.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const namespace = "default";
const LONG = 90_000;
/** More than the ten machines that the deletion budget always allows to be deleted. */
const COUNT = 12;

/** The pods of the release are simulated; a process beside them does what its container would do, with the permissions of its service account. */
describe("the guides to upgrading, monitoring and uninstalling", { timeout: 300_000 }, () => {
  let cluster: WorkingCluster;
  let api: ApiClient;
  let fleet: Fleet;
  let helm: ForeignTool;
  let kubectl: ForeignTool;
  let controllers: MillwrightProcess;
  let pod = "";

  const guide = (page: string): Promise<GuideRunner> =>
    readGuide(page, { kubeconfig: cluster.kubeconfig, names: { NAMESPACE: namespace }, pod });
  const untilRunning = (): Promise<void> =>
    eventually(async () => {
      const phases = (await fleet.machines()).map(({ status }) => status?.currentStatus?.phase);
      expect(phases.filter((phase) => phase === "Running")).toHaveLength(COUNT);
    }, LONG);

  beforeAll(async () => {
    cluster = await startWorkingCluster("a", "b");
    api = createApiClient(await loadKubeConfig({ file: cluster.kubeconfig }), { userAgent: "fleet" });
    fleet = await startFleet(api);
    helm = await createHelm(cluster.kubeconfig);
    kubectl = await createKubectl(cluster.kubeconfig);
    await api.create(machineClassResource, machineClass("small"));
    await api.create(machineDeploymentResource, machineDeployment("fleet", "small", COUNT));
    const options = ["--set", "logLevel=debug", "--wait", "--timeout=60s"];
    await helm(["install", "millwright", chart, "--namespace", namespace, ...options]);
    const [port = 0] = await freePorts(1);
    pod = `127.0.0.1:${port}`;
    const flags = ["--provider=mock", `--namespace=${namespace}`, `--port=${port}`, "--address=127.0.0.1"];
    controllers = startMillwright(["run", ...flags], {
      KUBECONFIG: await cluster.kubeconfigOfRelease(namespace, "millwright"),
    });
    await untilRunning();
  });
  afterAll(async () => {
    await controllers.stop("SIGKILL");
    await fleet.close();
    await api.close();
    await cluster.close();
  });

  const argsOf = (): Promise<string> =>
    kubectl(["get", "deployment", "millwright", "-o", "jsonpath={.spec.template.spec.containers[0].args}"]);

  it("bring older CustomResourceDefinitions and the chart up to date, keep values, and roll back", async () => {
    const upgrade = await guide("upgrade");
    const older = '[{"op":"remove","path":"/spec/versions/0/additionalPrinterColumns/0"}]';
    await kubectl(["patch", "crd", "machines.machine.sapcloud.io", "--type=json", "-p", older]);
    for (const start of ["export ", "npm install "])
      upgrade.leaveOut(start, "test/compat/rehearsal.test.ts upgrades to another version");
    const difference = await upgrade.attempt("CustomResourceDefinitions", 2);
    expect(difference.status, difference.output).toBe(3);
    expect(await upgrade.run("CustomResourceDefinitions", 3)).toContain("machines.machine.sapcloud.io updated");
    expect((await upgrade.attempt("CustomResourceDefinitions", 2)).status).toBe(0);

    expect(await upgrade.run("Chart", 0)).toContain("REVISION: 2");
    expect(await upgrade.run("Chart", 1)).toContain("successfully rolled out");
    expect(await argsOf()).toContain("--log-level=debug");

    expect(await upgrade.run("Check", 0)).toMatch(/ok +CRDs: /);
    expect((await upgrade.run("Check", 1)).trim().split("\n")).toHaveLength(3);
    upgrade.leaveOut("kubectl --namespace $NAMESPACE logs", "no container runs, so there is no log of one");

    expect(await upgrade.run("Roll back", 0)).toMatch(/1 .*superseded[^]*2 .*deployed/);
    expect(await upgrade.run("Roll back", 1)).toContain("Rollback was a success");
    expect(upgrade.rest).toEqual([]);
    expect(fleet.cloud.calls.filter(({ operation }) => operation === "create")).toHaveLength(COUNT);
  });

  it("name metrics that the process serves, and what its endpoints answer", async () => {
    const monitor = await guide("monitor");
    await createOperatorKinds(kubectl);
    await eventually(() => monitor.run("Prometheus", 0), LONG);
    expect(await monitor.run("Prometheus", 1)).toMatch(/servicemonitor[^]*prometheusrule/);
    expect(await monitor.run("Prometheus", 2)).toContain("millwright");

    monitor.leaveOut(
      "kubectl --namespace $NAMESPACE port-forward",
      "no container listens; the port of the process is used",
    );
    expect(await monitor.run("Health", 1)).toBe("OK");
    expect(await monitor.run("Health", 2)).toBe("OK");
    const served = await monitor.run("Health", 3);
    const page = await readFile(new URL("../../docs/operations/monitor.md", import.meta.url), "utf8");
    const named = [...page.matchAll(/`((?:mcm|millwright|workqueue|leader)_\w+)`/g)].map(([, name]) => name ?? "");
    expect(new Set(named).size).toBeGreaterThanOrEqual(10);
    for (const name of named) expect(served).toContain(`# TYPE ${name} `);

    expect(await monitor.run("Objects", 0)).toContain("machinedeployment.machine.sapcloud.io/fleet");
    await monitor.run("Objects", 1);
    expect(monitor.rest).toEqual([]);
  });

  it("delete all machines after an approval, and leave nothing of the release, its objects and CustomResourceDefinitions", async () => {
    const uninstall = await guide("uninstall");
    await uninstall.run("Delete the machines", 0);
    await eventually(async () => expect(await uninstall.run("Delete the machines", 1)).toContain("fleet"), LONG);
    expect(fleet.cloud.vms()).toHaveLength(COUNT);
    await uninstall.run("Delete the machines", 2);
    await uninstall.run("Delete the machines", 3);
    await eventually(async () => expect(fleet.cloud.vms()).toEqual([]), LONG);

    // As its pod, which ends with the release.
    expect(await controllers.stop("SIGTERM")).toBe(0);
    expect(await uninstall.run("Remove the chart")).toContain('release "millwright" uninstalled');
    expect((await kubectl(["get", "crds", "-o", "name"])).match(/machine\.sapcloud\.io/g)).toHaveLength(4);

    const finalizers = (): Promise<string> =>
      kubectl(["get", "secret", "cloud", "-o", "jsonpath={.metadata.finalizers}"]);
    expect(await uninstall.run("Remove finalizers", 0)).toMatch(/Secret +1 /);
    expect(await finalizers()).toContain("machine.sapcloud.io");
    await uninstall.run("Remove finalizers", 1);
    expect(await finalizers()).toBe("");

    const last = "Remove the objects and CRDs last";
    await uninstall.run(last, 0);
    expect(await uninstall.run(last, 1)).toContain("No resources found");
    await uninstall.run(last, 2);
    await eventually(async () => {
      expect(await kubectl(["get", "crds", "-o", "name"])).not.toContain("machine.sapcloud.io");
    }, LONG);
    expect(uninstall.rest).toEqual([]);
  });
});
