import { type Machine, machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import type { ClusterFault } from "@millwright/devcluster";
import { eventResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";

const FLEET = 10;

/** Real times, divided by two hundred. */
const HEALTH_TIMEOUT_MS = 4_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("a fleet whose nodes stop reporting", () => {
  let installation: Installation;
  let controllers: MillwrightProcess;

  beforeEach(async () => {
    installation = await startInstallation({}, {}, { heartbeatMs: 400, silenceMs: 4_000 });
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", FLEET));
    controllers = installation.runAlone(
      `--machine-health-timeout=${HEALTH_TIMEOUT_MS}ms`,
      "--machine-safety-apiserver-statuscheck-timeout=2s",
    );
    await allRun();
  });

  afterEach(async () => {
    await controllers.stop();
    await installation.close();
  });

  const inPhase = async (phase: string): Promise<readonly Machine[]> =>
    (await installation.machines()).filter(({ status }) => status?.currentStatus?.phase === phase);
  const allRun = (): Promise<void> =>
    eventually(async () => {
      const running = await inPhase("Running");
      if (running.length !== FLEET) throw new Error(`${running.length} machines of ${FLEET} are Running`);
    }, 60_000);
  const vms = (): readonly string[] =>
    installation.cloud
      .vms()
      .map(({ providerId }) => providerId)
      .toSorted();
  const nodeOf = (machine: Machine | undefined): string => machine?.metadata.labels?.["node"] ?? "";
  const reasons = async (): Promise<readonly unknown[]> =>
    (await installation.api.list(eventResource, { namespace: "default" })).items.map((event) => event["reason"]);
  /** Stops the kubelets of `count` machines until the returned function is called. */
  const silence = async (count: number): Promise<() => void> => {
    const nodes = (await installation.machines()).slice(0, count).map(nodeOf);
    const fault: ClusterFault = { kind: "kubelet-stops", nodes };
    return installation.server.clusterFaults.add(fault).remove;
  };

  it("replaces only the machine whose kubelet stopped", async () => {
    const before = vms();
    await silence(1);
    await eventually(async () => {
      expect(await inPhase("Running")).toHaveLength(FLEET);
      expect(vms()).not.toEqual(before);
      expect(vms()).toHaveLength(FLEET);
    }, 60_000);
    expect(vms().filter((vm) => before.includes(vm))).toHaveLength(FLEET - 1);
    expect(await reasons()).toEqual(expect.arrayContaining(["NodeUnhealthy", "HealthTimedOut"]));
  });

  it("replaces no machine when 30 % of the kubelets stop at once, and keeps all when they recover", async () => {
    const before = vms();
    const end = await silence(3);
    await eventually(async () => expect(await inPhase("Unknown")).toHaveLength(3));
    await pause(3 * HEALTH_TIMEOUT_MS);
    expect(vms()).toEqual(before);
    const unknown = await inPhase("Unknown");
    expect(unknown).toHaveLength(3);
    for (const { status } of unknown) expect(status?.lastOperation?.description).toContain("suggests an outage");
    expect((await reasons()).filter((reason) => reason === "RemediationPaused")).toHaveLength(3);
    end();
    await eventually(async () => expect(await inPhase("Running")).toHaveLength(FLEET));
    expect(vms()).toEqual(before);
  });

  it("replaces no machine while the API server is unreachable, nor right after it recovers", async () => {
    const before = vms();
    await silence(1);
    await eventually(async () => expect(await inPhase("Unknown")).toHaveLength(1));
    await installation.server.restart({ downMs: 3 * HEALTH_TIMEOUT_MS });
    expect(vms()).toEqual(before);
    // Heartbeats of the other nodes were missing as well, and resume.
    await pause(HEALTH_TIMEOUT_MS - 1_000);
    expect(vms()).toEqual(before);
    expect(await inPhase("Failed")).toEqual([]);
    // The unhealthy machine is replaced after the health timeout.
    await eventually(async () => {
      expect(await inPhase("Running")).toHaveLength(FLEET);
      expect(vms()).not.toEqual(before);
    }, 90_000);
    expect(vms().filter((vm) => before.includes(vm))).toHaveLength(FLEET - 1);
    expect(await reasons()).toContain("HealthTimeoutReset");
  });

  it("does not count time without connectivity towards the health timeout", async () => {
    const before = vms();
    const end = await silence(1);
    await eventually(async () => expect(await inPhase("Unknown")).toHaveLength(1));
    const cut = installation.server.faults.add({ match: { userAgent: "millwright" }, effect: { kind: "partition" } });
    await pause(2 * HEALTH_TIMEOUT_MS);
    end();
    cut.remove();
    await eventually(async () => expect(await inPhase("Running")).toHaveLength(FLEET), 60_000);
    expect(vms()).toEqual(before);
    expect(await reasons()).not.toContain("HealthTimedOut");
  });

  it("keeps a machine whose node flaps, with few writes", async () => {
    const before = vms();
    const [flapping] = await installation.machines();
    const fault = installation.server.clusterFaults.add({
      kind: "node-flaps",
      everyMs: 1_000,
      nodes: [nodeOf(flapping)],
    });
    await pause(20_000);
    expect(vms()).toEqual(before);
    const flips = (await reasons()).filter((reason) => reason === "NodeUnhealthy");
    expect(flips.length).toBeLessThanOrEqual(3);
    fault.remove();
    expect(await inPhase("Failed")).toEqual([]);
  });
});
