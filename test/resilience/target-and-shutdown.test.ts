import { leaseResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, controllersAgent, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { startTargetCluster } from "../harness/target-cluster.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Outages of the target cluster and shutdown of the shipped command. */
describe("millwright run", () => {
  let fleet: ControlledFleet;
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await fleet.close();
    for (const end of ends.splice(0).toReversed()) await end();
  });

  it("creates VMs while the target API server is down, reports it, fails no machine, and continues when it is up", async () => {
    fleet = await startControlledFleet();
    const target = await startTargetCluster(fleet);
    ends.push(target.close);
    const controllers = fleet.run(
      target.flag,
      "--machine-safety-apiserver-statuscheck-timeout=2s",
      "--machine-creation-timeout=15s",
    );
    await fleet.deploy(2);
    await fleet.untilRunning(2);

    const restarted = target.server.restart({ downMs: 16_000 });
    await fleet.scale(3);
    await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(3), 14_000);
    await eventually(async () => {
      const texts = (await fleet.machines()).map(({ status }) => status?.lastOperation?.description);
      expect(texts).toContainEqual(expect.stringContaining("Cannot determine"));
    }, 14_000);
    await restarted;
    expect(fleet.callsOf("delete")).toBe(0);
    await fleet.untilRunning(3);
    expect(fleet.callsOf("create")).toBe(3);
    expect(controllers.child.exitCode).toBeNull();
  });

  it("shows a machine that is deleted while the target API server is down as Terminating, with the reason, and deletes it when it is up", async () => {
    fleet = await startControlledFleet();
    const target = await startTargetCluster(fleet);
    ends.push(target.close);
    fleet.run(target.flag);
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    const restarted = target.server.restart({ downMs: 10_000 });
    await fleet.scale(1);
    await eventually(async () => {
      const terminating = (await fleet.machines()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      const [status] = terminating.map((machine) => machine.status);
      expect(status?.currentStatus?.phase).toBe("Terminating");
      expect(status?.lastOperation?.description).toContain("the API server of the nodes is unreachable");
    }, 10_000);
    await restarted;
    await fleet.untilRunning(1);
  });

  it("adopts VMs that it created before it was killed, although their IDs were not stored", async () => {
    fleet = await startControlledFleet({ latencyMs: 400 });
    const first = fleet.run();
    await first.waitFor(/"Leading"/);
    // From the first VM on, writes to machines fail: no provider ID is stored.
    const unfollow = fleet.cloud.subscribe(() => {
      if (fleet.cloud.vms().length === 0) return;
      unfollow();
      fleet.server.faults.add({
        match: { verbs: ["patch", "update"], resources: ["machines", "machines/status"], userAgent: controllersAgent },
        effect: { kind: "silence" },
      });
    });
    await fleet.deploy(3);
    await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(3));
    await pause(1_000);
    await first.stop("SIGKILL");
    fleet.server.faults.clear();
    expect((await fleet.machines()).map(({ spec }) => spec?.providerID ?? "")).toEqual(["", "", ""]);
    expect(fleet.callsOf("create")).toBe(3);
    fleet.run();
    await fleet.untilRunning(3);
    expect(new Set(fleet.cloud.vms().map(({ providerId }) => providerId)).size).toBe(3);
  });

  it("on SIGTERM it completes calls in flight, releases its lease, and exits with status 0", async () => {
    fleet = await startControlledFleet({ latencyMs: 1_000 });
    const first = fleet.run();
    await first.waitFor(/"Leading"/);
    await fleet.deploy(3);
    await eventually(async () => expect(fleet.callsOf("create")).toBeGreaterThan(0));
    const startedAt = performance.now();
    expect(await first.stop("SIGTERM")).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(25_000);
    const holders = (await fleet.api.list(leaseResource, { namespace: "default" })).items.map((lease) =>
      JSON.stringify(lease["spec"]),
    );
    expect(holders.length).toBeGreaterThan(0);
    for (const holder of holders) expect(holder).toMatch(/"holderIdentity":""|^(?!.*holderIdentity)/);
    const before = fleet.requests().length;
    await pause(500);
    expect(fleet.requests().length).toBe(before);
    fleet.run();
    await fleet.untilRunning(3);
    expect(fleet.cloud.vms()).toHaveLength(3);
  });

  it("on SIGTERM it leaves machines that are being deleted as Terminating, although their VMs are still being created", async () => {
    fleet = await startControlledFleet({ latencyMs: 20_000 });
    const controllers = fleet.run();
    await controllers.waitFor(/"Leading"/);
    await fleet.deploy(2);
    await eventually(async () => {
      const texts = (await fleet.machines()).map(({ metadata }) => JSON.stringify(metadata.annotations));
      expect(texts).toEqual([1, 2].map(() => expect.stringContaining("creation-intent")));
    });
    await pause(1_000);
    await fleet.scale(0);
    await eventually(async () => {
      const machines = await fleet.machines();
      expect(machines.map(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([true, true]);
    });
    expect((await fleet.machines()).map(({ status }) => status?.currentStatus?.phase)).not.toContain("Terminating");
    expect(await controllers.stop("SIGTERM")).toBe(0);
    const phases = (await fleet.machines()).map(({ status }) => status?.currentStatus?.phase);
    expect(phases).toEqual(["Terminating", "Terminating"]);
  });

  it("ends within 30 s of a SIGTERM when the API server hangs, and at once on a second one", async () => {
    fleet = await startControlledFleet();
    const written = ["machinedeployments", "machinesets", "machines"].flatMap((name) => [name, `${name}/status`]);
    const hang = async (controllers: ReturnType<ControlledFleet["run"]>, replicas: number) => {
      await controllers.waitFor(/"Leading"/);
      fleet.server.faults.add({
        match: { verbs: ["patch", "update", "create"], resources: written, userAgent: controllersAgent },
        effect: { kind: "silence" },
      });
      await fleet.scale(replicas);
      await pause(500);
      controllers.child.kill("SIGTERM");
    };
    await fleet.deploy(1);
    const first = fleet.run();
    await fleet.untilRunning(1);
    await hang(first, 2);
    const startedAt = performance.now();
    expect(await first.ended).toBe(0);
    expect(first.output()).toContain("Stopping takes too long");
    expect(performance.now() - startedAt).toBeLessThan(30_000);

    fleet.server.faults.clear();
    const second = fleet.run();
    await hang(second, 3);
    await pause(500);
    expect(second.child.exitCode).toBeNull();
    const againAt = performance.now();
    expect(await second.stop("SIGTERM")).toBe(1);
    expect(performance.now() - againAt).toBeLessThan(3_000);
  });
});
