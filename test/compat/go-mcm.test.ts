import { setTimeout as pause } from "node:timers/promises";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { type GoProgram, goPrograms, type Holder, leaseHolders, startGoProgram } from "../harness/go-mcm.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { startControllers } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 120_000;
const namespace = "default";
const LEASE_MS = 6_000;
const leaseFlags = [
  "--leader-elect=true",
  `--leader-elect-lease-duration=${LEASE_MS}ms`,
  "--leader-elect-renew-deadline=4s",
  "--leader-elect-retry-period=1s",
];

const processes = [...goPrograms, "millwright"] as const;
type ProcessName = (typeof processes)[number];

/** All orders of some things. */
const ordersOf = <T>(things: readonly T[]): readonly (readonly T[])[] =>
  things.length === 0
    ? [[]]
    : things.flatMap((first) => ordersOf(things.filter((each) => each !== first)).map((rest) => [first, ...rest]));

/** With the fields that MCM has no defaults for. */
const explicit = (deployment: KubeObject): KubeObject => ({
  ...deployment,
  spec: {
    ...(deployment["spec"] as object),
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  },
});

/** The real programs of MCM beside ours, with one cloud. Each is restarted by its kubelet, and each is alone in its own order. */
describe("millwright run beside a Go MCM on a real kube-apiserver", () => {
  let fleet: RealFleet;
  const running = new Map<ProcessName, Program>();
  let replicas = 2;

  const start = async (name: ProcessName): Promise<void> => {
    const { kubeconfig, controllersKubeconfig } = fleet;
    // Orphan VMs are looked for all the time: a VM that one of the two does not know would be deleted.
    const controllerFlags = [...leaseFlags, "--machine-safety-orphan-vms-period=5s"];
    running.set(
      name,
      name === "millwright"
        ? startControllers(controllersKubeconfig, ...controllerFlags)
        : await startGoProgram(name, kubeconfig, name === "machine-controller" ? controllerFlags : leaseFlags),
    );
  };
  const stop = async (name: ProcessName, signal: NodeJS.Signals): Promise<void> => {
    await running.get(name)?.stop(signal);
  };
  const untilHeldBy = (holder: Holder): Promise<void> =>
    eventually(async () => expect(await leaseHolders(fleet.api)).toEqual([holder, holder]), LONG);
  const untilRunning = (): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: replicas }, () => "Running"));
    }, LONG);
  /** The leader makes more machines, and all others keep their VMs. `meanwhile` begins once one of them is there. */
  const expectProgress = async (count = 1, meanwhile?: () => Promise<void>): Promise<void> => {
    const before = vmsOf(await fleet.machines());
    replicas += count;
    const ref = { namespace, name: "fleet" };
    await fleet.api.patch(machineDeploymentResource, ref, { spec: { replicas } }, { kind: "merge" });
    if (meanwhile !== undefined) {
      await eventually(async () => expect((await fleet.machines()).length).toBeGreaterThan(replicas - count), LONG);
      await meanwhile();
    }
    await untilRunning();
    expect(vmsOf(await fleet.machines())).toEqual(expect.arrayContaining([...before]));
    const calls = (operation: string): number =>
      fleet.cloud.calls.filter((call) => call.operation === operation).length;
    expect([calls("create"), calls("delete")]).toEqual([replicas, 0]);
  };
  /** How long something takes, milliseconds; for the log only. */
  const measured = async (what: string, run: () => Promise<void>): Promise<void> => {
    const startedMs = performance.now();
    await run();
    console.log(`${what}: ${Math.round(performance.now() - startedMs)} ms, with leases of ${LEASE_MS} ms`);
  };
  const nodeConditions = ["DiskPressure", "MemoryPressure", "PIDPressure", "Ready"];
  const conditionTypes = async (): Promise<readonly (readonly string[])[]> =>
    (await fleet.machines()).map(({ status }) => (status?.conditions ?? []).map(({ type }) => type).toSorted());

  beforeAll(async () => {
    fleet = await startRealFleet();
    await fleet.api.create(machineClassResource, machineClass("small"));
    for (const name of goPrograms) await start(name);
    await untilHeldBy("Go");
    await start("millwright");
    await fleet.api.create(machineDeploymentResource, explicit(machineDeployment("fleet", "small", replicas)));
    await untilRunning();
  }, REAL_FLEET_MS);

  afterAll(async () => {
    for (const name of processes) await stop(name, "SIGKILL");
    await fleet.close();
  }, 60_000);

  it.each(goPrograms)(
    "stands by while %s of a Go MCM is killed amid creations, and restarted before and after its Lease expires",
    async (name) => {
      for (const restartAfterMs of [0, LEASE_MS + 1_000]) {
        await expectProgress(3, async () => {
          await stop(name, "SIGKILL");
          await pause(restartAfterMs);
          await start(name);
        });
        await untilHeldBy("Go");
      }
      expect(running.get("millwright")?.output()).not.toContain('"Leading"');
    },
    REAL_FLEET_MS,
  );

  it.each<[NodeJS.Signals, GoProgram, GoProgram]>([
    ["SIGKILL", "machine-controller-manager", "machine-controller"],
    ["SIGTERM", "machine-controller", "machine-controller-manager"],
  ])(
    "takes over from a Go MCM that ended by %s, %s first, and hands every machine back",
    async (signal, first, second) => {
      await stop(first, signal);
      // One of the two is still there: nothing is taken from it.
      await pause(2 * LEASE_MS);
      expect((await leaseHolders(fleet.api))[goPrograms.indexOf(second)]).toBe("Go");
      await measured(`Millwright leads after ${signal} of a Go MCM`, async () => {
        await stop(second, signal);
        await untilHeldBy("Millwright");
      });
      await expectProgress();
      // Those that Millwright has made have its own conditions behind those of their Nodes.
      expect(await conditionTypes()).toContainEqual(expect.arrayContaining([...nodeConditions, "MachineReady"]));

      for (const name of [first, second]) await start(name);
      await expectProgress();
      expect(await leaseHolders(fleet.api)).toEqual(["Millwright", "Millwright"]);
      await measured(`a Go MCM leads after ${signal} of Millwright`, async () => {
        await stop("millwright", signal);
        await untilHeldBy("Go");
      });
      await start("millwright");
      await expectProgress();
      // MCM stores those of the Node alone.
      await eventually(async () => {
        for (const types of await conditionTypes()) expect(types).toEqual(nodeConditions);
      }, LONG);
    },
    REAL_FLEET_MS,
  );

  it.each(
    ordersOf(processes).flatMap((order) => [
      { order, signal: "SIGTERM" as const },
      { order, signal: "SIGKILL" as const },
    ]),
  )(
    "has no deadlock and loses no VM when all are restarted by $signal: $order",
    async ({ order, signal }) => {
      for (const name of order) {
        await stop(name, signal);
        // A node that died takes longer than a lease; a restarted container does not.
        if (signal === "SIGKILL") await pause(LEASE_MS + 1_000);
        await start(name);
      }
      await expectProgress();
      const [manager, controller] = await leaseHolders(fleet.api);
      expect(manager).toBe(controller);
    },
    REAL_FLEET_MS,
  );
});
