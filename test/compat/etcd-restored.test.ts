import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  machineSetResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { kubeconfigFor } from "@millwright/devcluster";
import { eventResource, secretResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startControllers } from "../harness/millwright.ts";
import { untilQuiet } from "../harness/until-quiet.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;
const namespace = "default";

/** A watch from a version that a restored kube-apiserver has not reached yet is silent, and shows nothing of the restore. */
describe("restore of etcd from a backup on a real kube-apiserver", () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  }, 60_000);

  const start = async (): Promise<RealFleet> => {
    const fleet = await startRealFleet();
    ends.push(() => fleet.close());
    await fleet.api.create(machineClassResource, machineClass("small"));
    return fleet;
  };
  const untilRunning = (fleet: RealFleet, count: number): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: count }, () => "Running"));
    }, LONG);
  const scale = ({ api }: RealFleet, replicas: number) =>
    api.patch(machineDeploymentResource, { namespace, name: "fleet" }, { spec: { replicas } }, { kind: "merge" });
  /** Writes of others: a restored server writes a few objects when it starts, and must not be at the version of the caches by that. */
  const writeOthers = async ({ api }: RealFleet, times = 300): Promise<void> => {
    for (let count = 0; count < times; count++) {
      const annotations = { count: String(count) };
      await api.patch(secretResource, { namespace, name: "cloud" }, { metadata: { annotations } }, { kind: "merge" });
    }
  };

  /** Two machines are in the backup, two more are not. */
  const restoreWithout = async (
    fleet: RealFleet,
    around: (restore: () => Promise<void>) => Promise<void>,
  ): Promise<void> => {
    const { api, plane, cloud } = fleet;
    const calls = (operation: string): number => cloud.calls.filter((call) => call.operation === operation).length;
    await api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await untilRunning(fleet, 2);
    const kept = vmsOf(await fleet.machines());
    const backup = await plane.backup();
    await writeOthers(fleet);
    await scale(fleet, 4);
    await untilRunning(fleet, 4);

    await around(() => plane.restore(backup));
    await eventually(async () => {
      const { items } = await api.list(eventResource, { namespace });
      expect(items.map(({ reason }) => reason)).toContain("APIServerWentBack");
    }, LONG);
    expect(vmsOf(await fleet.machines())).toEqual(kept);
    await scale(fleet, 3);
    await eventually(async () => {
      const [set] = (await api.list(machineSetResource, { namespace })).items;
      expect(set?.metadata.annotations?.[annotationKeys.expectedReplicas]).toBe("4");
    }, LONG);
    expect([calls("create"), calls("delete")]).toEqual([4, 0]);
  };

  it(
    "keeps the machines that the backup has, and creates no others for those that it lacks",
    async () => {
      const fleet = await start();
      // Its leases show a restore within seconds. They outlast it.
      const times = ["--leader-elect-lease-duration=90s", "--leader-elect-renew-deadline=80s"];
      const millwright = fleet.runAlone("--leader-elect=true", ...times);
      await restoreWithout(fleet, (restore) => restore());
      expect(millwright.child.exitCode).toBeNull();
    },
    REAL_FLEET_MS,
  );

  /** Without leader election: leases would show a restore. */
  const runBehindProxy = async (fleet: RealFleet): Promise<{ proxy: FaultyProxy; millwright: MillwrightProcess }> => {
    const proxy = await startFaultyProxy(fleet.plane);
    ends.push(() => proxy.close());
    const folder = await mkdtemp(join(tmpdir(), "millwright-restore-"));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(proxy.url, { token: fleet.controllersToken }), { mode: 0o600 });
    const millwright = startControllers(kubeconfig);
    ends.push(() => millwright.stop("SIGKILL"));
    return { proxy, millwright };
  };

  it(
    "finds a restore without leases, when no connection shows it and nothing changes",
    async () => {
      const fleet = await start();
      const { proxy, millwright } = await runBehindProxy(fleet);
      await restoreWithout(fleet, async (restore) => {
        await untilQuiet(proxy.requests, 15_000);
        proxy.hideOutage();
        await restore();
        proxy.endOutage();
      });
      expect(millwright.child.exitCode).toBeNull();
    },
    REAL_FLEET_MS,
  );

  it(
    "finds a restore that shows as reset connections alone, when others have written more than the backup lacks",
    async () => {
      const fleet = await start();
      const { proxy, millwright } = await runBehindProxy(fleet);
      await restoreWithout(fleet, async (restore) => {
        proxy.stall();
        await restore();
        await writeOthers(fleet, 1_000);
        proxy.resume();
      });
      expect(millwright.child.exitCode).toBeNull();
    },
    REAL_FLEET_MS,
  );
});
