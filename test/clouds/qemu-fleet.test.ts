import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { labelKeys } from "@millwright/core/machine-api";
import { createSimulatedNodes } from "@millwright/devcluster";
import { type KubeObject, nodeResource } from "@millwright/kube";
import { ownerTagKeys, systemUuidOf } from "@millwright/provider-qemu";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, patienceMs, startCloudInstallation } from "./cloud-installation.ts";
import { nodeUserData } from "./qemu/node-user-data.ts";
import {
  createStateDirectory,
  processesIn,
  removeStateDirectory,
  storedVms,
  type StoredVm,
} from "./qemu/state-directory.ts";
import { createKernel, hasQemu } from "./qemu/virtual-machine.ts";

interface NodeWithInfo extends KubeObject {
  readonly status?: { readonly nodeInfo?: { readonly systemUUID?: string; readonly osImage?: string } };
}

const FLEET = 2;

/** Marks Nodes whose lease is not renewed, as kube-controller-manager does. It has no nodes of its own. */
function startNodeLifecycle({ api }: CloudInstallation): () => Promise<void> {
  const stop = new AbortController();
  const nodes = createSimulatedNodes({ api, clock: systemClock, heartbeatMs: 2_000, silenceMs: 15_000 });
  const ended = nodes.start(stop.signal);
  return async () => {
    stop.abort(new Error("the test ends"));
    await ended;
  };
}

async function start() {
  const folder = await createStateDirectory();
  const stateDirectory = join(folder, "vms");
  const providerSpec = {
    cpus: 1,
    memoryMiB: 96,
    kernel: { ...(await createKernel(folder)), append: "console=ttyS0 quiet" },
    accelerator: "tcg",
    stateDirectory,
  };
  const installation = await startCloudInstallation({
    provider: "qemu",
    providerSpec,
    secret: { userData: "" },
    env: {},
    instances: () => [],
    nodes: { kubeletProviderId: () => "" },
  });
  await installation.setSecret({ userData: nodeUserData(Number(new URL(installation.url).port)) });
  const stopLifecycle = startNodeLifecycle(installation);
  onTestFinished(async () => {
    await stopLifecycle();
    await installation.close();
    await removeStateDirectory(stateDirectory);
    await removeStateDirectory(folder);
  });
  return { installation, stateDirectory, vms: () => storedVms(stateDirectory) };
}

const namesOf = (vms: readonly StoredVm[]): readonly string[] =>
  vms.map(({ tags }) => tags[ownerTagKeys.machineName] ?? "").toSorted();
const pidsOf = (vms: readonly StoredVm[]): readonly number[] =>
  vms.map(({ pid }) => pid ?? 0).toSorted((a, b) => a - b);

/** Every machine has a Node of its VM, which only the VM can have registered. */
async function expectNodesOfVms({ api, machines }: CloudInstallation): Promise<void> {
  for (const { metadata, spec } of await machines()) {
    const name = metadata.labels?.[labelKeys.node] ?? "";
    const node = await api.get<NodeWithInfo>(nodeResource, { name });
    expect(node.status?.nodeInfo).toMatchObject({
      osImage: "busybox",
      systemUUID: systemUuidOf(spec.providerID ?? ""),
    });
  }
}

// The timeout only catches hangs: VMs without KVM are slow on a busy computer.
describe.skipIf(!hasQemu)("a fleet of QEMU (where test/clouds/install-qemu was possible)", { timeout: 900_000 }, () => {
  it("joins, survives a restart of the controllers, replaces a killed VM, and leaves nothing", async () => {
    const { installation, stateDirectory, vms } = await start();
    const flags = ["--machine-health-timeout=2s", "--machine-safety-max-deletion-share=0"];
    const first = installation.run(...flags);
    await installation.deploy(FLEET);
    await installation.untilRunning(FLEET);
    await expectNodesOfVms(installation);
    const before = await vms();
    expect(namesOf(before)).toEqual((await installation.machines()).map(({ metadata }) => metadata.name).toSorted());

    await first.stop("SIGKILL");
    expect(pidsOf(await vms())).toEqual(pidsOf(before));
    installation.run(...flags);

    const [killed] = before;
    if (killed?.pid === undefined) throw new Error("the first VM does not run");
    process.kill(killed.pid, "SIGKILL");
    await eventually(async () => {
      const names = namesOf(await vms());
      expect(names).toHaveLength(FLEET);
      expect(names).not.toContain(killed.tags[ownerTagKeys.machineName]);
    }, patienceMs);
    await installation.untilRunning(FLEET);
    await expectNodesOfVms(installation);
    // The other VM is still that of the first controllers.
    expect(pidsOf(await vms()).filter((pid) => pidsOf(before).includes(pid))).toHaveLength(FLEET - 1);

    await installation.change({ replicas: 0 });
    await installation.untilGone();
    expect(await readdir(stateDirectory)).toEqual([]);
    expect(await processesIn(stateDirectory)).toEqual([]);
    expect(await installation.nodes()).toEqual([]);
  });
});
