import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/core";
import { type Machine, machineResource } from "@millwright/core/machine-api";
import { createSimulatedNodes } from "@millwright/devcluster";
import { type ApiClient, createApiClient, loadKubeConfig } from "@millwright/kube";
import { createCloudServer, createSimulatedCloud, type SimulatedCloud } from "@millwright/provider-mock";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed, onTestFinished } from "vitest";
import { startDataCenter } from "../../packages/create-driver/template/test/data-center.ts";
import { type ControlPlane, startControlPlane } from "../../tools/control-plane/start-control-plane.ts";
import { findBuilt } from "../../tools/control-plane/build-binary.ts";
import { type LocalRegistry, startLocalRegistry } from "../../tools/local-registry.ts";
import { driverPackages } from "../../tools/registry/driver-packages.ts";
import { publishedPackages, root } from "../../tools/release/packages.ts";
import { pythonDriver } from "../clouds/outside-driver.ts";
import { type Kubelet, startKubelet } from "../harness/containers/kubelet.ts";
import { eventually } from "../harness/eventually.ts";
import { helmPath, kubectlPath } from "../harness/foreign-tools.ts";
import { commandsOf } from "../harness/guide-commands.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type OciRegistry, startOciRegistry } from "../harness/oci-registry.ts";
import { releaseVersion, type ReleaseTargets } from "../harness/released-version.ts";
import { openShell, type ReaderShell } from "../harness/shell-reader.ts";
import { REAL_FLEET_MS } from "./real-fleet.ts";

const namespace = "machines";
const token = "a-token-of-the-registry";
/** Of the cloud that the template of drivers has. */
const dataCenterToken = "token-of-the-data-center";
const LONG = 90_000;

/** The commands of a page may have this many from a cluster to a Ready node. */
const MOST_COMMANDS = 10;

const goProgram = await findBuilt("outside-driver");
const hasPython = pythonDriver("") !== undefined;

/**
 * From a cluster to a fleet and back, by the commands of the pages and with released artifacts only: packages from a registry, images that are made of them, and the archive of the chart. Deployments
 * are carried out by real controllers on a real kube-apiserver; in place of an engine for containers, the programs of the images run as processes.
 */
describe("a released version", { timeout: 600_000 }, () => {
  let folder: string;
  let plane: ControlPlane;
  let api: ApiClient;
  let packages: LocalRegistry;
  let charts: OciRegistry;
  let targets: ReleaseTargets;
  let cloud: SimulatedCloud;
  let kubelet: Kubelet;
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-rehearsal-"));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const names = publishedPackages().map(({ manifest }) => manifest.name);
    packages = await startLocalRegistry([...names, ...(await driverPackages())], { publishing: { token } });
    charts = await startOciRegistry();
    ends.push(packages.close, charts.close);
    const images = join(folder, "images");
    await mkdir(images);
    const npm = { url: packages.url, token };
    targets = { npm, charts: charts.host, images, repository: "millwright-dev/millwright", folder };
    await releaseVersion("0.1.0", targets);

    plane = await startControlPlane({
      controllers: [
        "garbage-collector-controller",
        "namespace-controller",
        "deployment-controller",
        "replicaset-controller",
      ],
      apiServerFlags: ["--disable-admission-plugins=TaintNodesByCondition,ServiceAccount"],
    });
    ends.push(plane.stop);
    api = createApiClient(await loadKubeConfig({ file: plane.kubeconfig }), { clock: systemClock });
    ends.push(() => api.close());
    const pods = await mkdtemp(join(tmpdir(), "pods-"));
    ends.push(() => rm(pods, { recursive: true, force: true }));
    const programs = { node: process.execPath, python: join(folder, "interpreter") };
    const installed = join(homedir(), ".cache/millwright/outside-driver-python/bin/python");
    await writeFile(
      programs.python,
      `#!/bin/sh\nPYTHONPATH='${join(root, "drivers/python")}' exec '${installed}' "$@"\n`,
      { mode: 0o755 },
    );
    kubelet = startKubelet({ api, server: plane, images, programs, folder: pods });
    ends.push(kubelet.close);
    await startVms();
  }, REAL_FLEET_MS);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, 60_000);

  beforeEach(() => onTestFailed(() => console.error(kubelet.log())));

  /** VMs join the cluster: those of the simulated cloud, and those that drivers without one have made for Machines. */
  async function startVms(): Promise<void> {
    cloud = createSimulatedCloud({ clock: systemClock, bootDelayMs: 1_300, deleteDelayMs: 200 });
    const server = createCloudServer(cloud);
    const { url } = await server.listen();
    const nodes = createSimulatedNodes({ api, clock: systemClock, joinDelayMs: 100 });
    const stop = new AbortController();
    const ended = nodes.start(stop.signal);
    const sync = async (): Promise<void> => {
      const machines = await api.list<Machine>(machineResource, { namespace }).catch(() => ({ items: [] }));
      const files = machines.items.flatMap(({ metadata, spec }) =>
        spec.providerID === undefined || spec.providerID.startsWith("mock:")
          ? []
          : [{ nodeName: metadata.labels?.["node"] ?? metadata.name, providerId: spec.providerID }],
      );
      nodes.sync([...cloud.vms().filter(({ state }) => ["running", "stopping"].includes(state)), ...files]);
    };
    const timer = setInterval(() => void sync(), 300);
    ends.push(async () => {
      clearInterval(timer);
      stop.abort(new Error("the test ends"));
      await ended;
      await server.close();
      cloud.close();
    });
    cloudSecret = { endpoint: url, token: dataCenterToken, userData: "boot <<MACHINE_NAME>>" };
  }
  let cloudSecret: Readonly<Record<string, string>>;

  /** A shell of a reader, in a new folder with `pool.yaml`. */
  async function openReaderShell(name: string, provider: string, providerSpec: object): Promise<ReaderShell> {
    const home = join(folder, name);
    await mkdir(home);
    const inNamespace = (object: object): object => {
      const { metadata, ...rest } = object as { readonly metadata: object };
      return { ...rest, metadata: { ...metadata, namespace } };
    };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "cloud" }, stringData: cloudSecret };
    const classOf = (size: string, spec: object): object => ({
      ...machineClass(size),
      provider,
      providerSpec: { ...providerSpec, ...spec },
      secretRef: { name: "cloud", namespace },
    });
    const items = [secret, classOf("small", {}), machineDeployment("pool", "small", 1)].map(inNamespace);
    await writeFile(join(home, "pool.yaml"), JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    const podman = join(root, "test/harness/containers/podman.ts");
    const programs = {
      node: `exec '${process.execPath}' "$@"`,
      kubectl: `exec '${await kubectlPath()}' "$@"`,
      helm: `args=("\${@/#oci:\\/\\/ghcr.io/oci://${charts.host}}")
for each in "\${args[@]}"; do [[ $each != oci://* ]] || args+=(--plain-http); done
exec '${await helmPath("helm")}' "\${args[@]}"`,
      podman: `exec '${process.execPath}' --conditions=@millwright/source '${podman}' "$@"`,
      // What the images of drivers in other languages are built with is built and installed here already.
      go: `cp '${goProgram ?? ""}' "\${@: -1}"`,
      pip: "true",
    };
    return openShell(home, programs, {
      KUBECONFIG: plane.kubeconfig,
      IMAGES_BUILT: join(home, "images"),
      IMAGES_PUSHED: targets.images,
      npm_config_registry: packages.url,
      npm_config_cache: join(folder, "npm-cache"),
      npm_config_yes: "true",
      npm_config_update_notifier: "false",
      npm_config_noproxy: "127.0.0.1",
      NO_PROXY: "127.0.0.1",
    });
  }

  /** The commands below headings of a page, with other names in place of those that only a cloud has. */
  async function commandsBelow(page: string, ...headings: readonly string[]): Promise<readonly string[]> {
    const commands = await commandsOf(page, "operations");
    return headings.flatMap((heading) => {
      const found = commands.get(heading);
      if (found === undefined) throw new Error(`${page} has no commands below "${heading}"`);
      return found.map((line) =>
        line.replace("DRIVER=aws", "DRIVER=mock").replace("PROVIDER=OpenStack", "PROVIDER=mock"),
      );
    });
  }

  async function follow(shell: ReaderShell, page: string, ...headings: readonly string[]): Promise<string> {
    let output = "";
    for (const line of await commandsBelow(page, ...headings)) output += await shell.run(line);
    return output;
  }

  /** From a cluster to a Ready node. */
  async function install(shell: ReaderShell, driver: string): Promise<void> {
    const commands = await commandsBelow("install", driver, "The first node");
    expect(commands.length).toBeLessThanOrEqual(MOST_COMMANDS);
    expect(await follow(shell, "install", driver, "The first node")).toMatch(/ Ready /);
    expect(await follow(shell, "install", "Check it")).toContain("CRDs");
  }

  async function uninstall(shell: ReaderShell): Promise<void> {
    await follow(
      shell,
      "uninstall",
      "Delete the machines",
      "Remove the chart",
      "Remove finalizers",
      "Remove the objects and CRDs last",
    );
    await eventually(async () => expect(await shell.run("kubectl get crds -o name")).not.toContain("sapcloud"), LONG);
    await eventually(async () => expect(kubelet.pods()).toBe(0), LONG);
  }

  /** What the chart prints when it is installed. */
  async function followNotes(shell: ReaderShell): Promise<void> {
    const notes = await shell.run(`helm get notes millwright --namespace ${namespace}`);
    const commands = [...notes.matchAll(/^ {2}((?:kubectl|millwright) .*)$/gm)].map(([, line = ""]) => line);
    // No kubelet answers for the log of a container.
    const runnable = commands.filter((line) => !line.includes(" logs "));
    expect(runnable.length).toBeGreaterThan(3);
    const machine = await shell.run(`kubectl -n ${namespace} get machines -o jsonpath={.items[0].metadata.name}`);
    for (const line of runnable) await shell.run(line.replace("FILE", "pool.yaml").replace("NAME", machine));
  }

  /** Of the simulated cloud. */
  const vmIds = (): readonly string[] =>
    cloud
      .vms()
      .filter(({ state }) => state !== "terminated")
      .map(({ id }) => id)
      .toSorted();

  it("is installed, rolled out, upgraded, rolled back and uninstalled", async () => {
    const shell = await openReaderShell("operator", "mock", { machineType: "small" });
    await install(shell, "A driver of this repository");
    await followNotes(shell);
    const [first] = vmIds();

    // A rollout: another class, as a template that is changed.
    await shell.run(
      `kubectl -n ${namespace} get machineclass small -o json | sed 's/"name": "small"/"name": "large"/' | kubectl -n ${namespace} create -f -`,
    );
    await shell.run(
      `kubectl -n ${namespace} patch machinedeployment pool --type=merge -p '{"spec":{"replicas":3,"template":{"spec":{"class":{"name":"large"}}}}}'`,
    );
    const isComplete = "--for=jsonpath='{.status.updatedReplicas}'=3 --for=jsonpath='{.status.readyReplicas}'=3";
    for (const condition of isComplete.split(" "))
      await shell.run(`kubectl -n ${namespace} wait ${condition} machinedeployment/pool --timeout=${LONG / 1_000}s`);
    await eventually(async () => expect(vmIds()).not.toContain(first), LONG);
    await eventually(async () => expect(vmIds()).toHaveLength(3), LONG);
    const vms = vmIds();

    const leader = (): Promise<string> =>
      shell.run(`kubectl -n ${namespace} get lease machine-controller -o jsonpath={.spec.holderIdentity}`);
    const images = (): Promise<string> =>
      shell.run(`kubectl -n ${namespace} get pods -o jsonpath={.items[*].spec.containers[*].image}`);
    const former = await leader();
    await releaseVersion("0.2.0", targets);
    const shown = await follow(shell, "upgrade", "CustomResourceDefinitions", "Chart");
    expect(shown).toContain("successfully rolled out");
    expect(await shell.run("millwright version")).toContain("0.2.0");
    await eventually(async () => expect(await images()).toMatch(/^(\S+:0\.2\.0 ?){2}$/), LONG);
    await eventually(async () => expect(await leader()).not.toBe(former), LONG);
    await shell.run(`millwright doctor --clusters-only --namespace ${namespace}`);
    expect(vmIds()).toEqual(vms);

    await follow(shell, "upgrade", "Roll back");
    await eventually(async () => expect(await images()).toMatch(/^(\S+:0\.1\.0 ?){2}$/), LONG);
    expect(vmIds()).toEqual(vms);
    await uninstall(shell);
    expect(vmIds()).toEqual([]);
  });

  it("runs a driver that npm has created", async () => {
    const { url, vms, close } = await startDataCenter(dataCenterToken);
    onTestFinished(close);
    const shell = await openReaderShell("author", "my-cloud", { endpoint: url, cluster: "test", size: "small" });
    await install(shell, "A driver from npm");
    expect(vms.size).toBe(1);
    await uninstall(shell);
    expect(vms.size).toBe(0);
  });

  it.skipIf(goProgram === undefined)("runs a driver in Go", async () => {
    const shell = await openReaderShell("go", "mock", { machineType: "small" });
    await install(shell, "A driver in Go");
    expect(vmIds()).toHaveLength(1);
    await uninstall(shell);
    expect(vmIds()).toEqual([]);
  });

  it.skipIf(!hasPython)("runs a driver in Python", async () => {
    const shell = await openReaderShell("python", "folder", { cluster: "test", size: "small" });
    await install(shell, "A driver in Python");
    const ids = await shell.run(`kubectl -n ${namespace} get machines -o jsonpath={.items[*].spec.providerID}`);
    expect(ids).toMatch(/^folder:\/\/\/test\/\S+$/);
    await uninstall(shell);
  });
});
