import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { phaseOf } from "@millwright/core/machine-api";
import { type ApiServer, kubeconfigFor } from "@millwright/devcluster";
import { eventResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type FaultyProxy, startFaultyProxy } from "../compat/faulty-proxy.ts";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { startControllers } from "../harness/millwright.ts";
import { startTargetCluster } from "../harness/target-cluster.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";
const LONG = 90_000;

/** Bookmarks soon carry versions that no object of a cache has, as in a cluster with many kubelets. */
const server = { bookmarkEveryMs: 100 };

/** Kubelets renew their leases, so many times each. */
function renewLeases({ objects }: ApiServer, times: number): void {
  const leases = "leases.coordination.k8s.io";
  for (let count = 0; count < times; count++) for (const lease of objects.list(leases)) objects.put(leases, lease);
}

/**
 * The API server is back, from a backup, and its versions have passed those of the caches before the next request of a client: no request fails, and no version is lower than before. No lease is
 * renewed that would show it.
 */
describe("millwright run whose watches are reset, and meanwhile the API server is restored and busy", () => {
  let fleet: ControlledFleet;
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  const proxyOf = async (url: string): Promise<FaultyProxy> => {
    const proxy = await startFaultyProxy({ url });
    ends.push(() => proxy.close());
    return proxy;
  };
  const writes = (): number => fleet.requests().filter(({ verb }) => !["watch", "list", "get"].includes(verb)).length;

  /** Starts a fleet, and controllers without leader election behind a proxy. */
  async function start(replicas: number, ...flags: readonly string[]): Promise<FaultyProxy> {
    fleet = await startControlledFleet({}, server);
    ends.push(() => fleet.close());
    const proxy = await proxyOf(fleet.url);
    const folder = await mkdtemp(join(tmpdir(), "millwright-restore-"));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(proxy.url, { token: fleet.controllersToken }));
    const process = startControllers(kubeconfig, ...flags);
    ends.push(() => process.stop("SIGKILL"));
    await fleet.deploy(replicas);
    await fleet.untilRunning(replicas);
    await untilQuiet(writes);
    return proxy;
  }

  /** Restores a backup; `meanwhile` is done before the versions have passed those of the caches. */
  async function restore(
    of: ApiServer,
    proxy: FaultyProxy,
    {
      backup,
      addedRevisions = 0,
    }: { readonly backup: ReturnType<ApiServer["backup"]>; readonly addedRevisions?: number },
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<void> {
    // The bookmarks that the caches get are of this version, and higher.
    renewLeases(of, 50);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    proxy.stall();
    await of.restart({ restore: backup, addedRevisions });
    await meanwhile();
    renewLeases(of, 500);
    proxy.resume();
  }

  it.each([0, 1_000_000])(
    "carries out what was changed, with versions %i higher than in the backup",
    async (addedRevisions) => {
      const proxy = await start(4);
      const backup = fleet.server.backup();
      await restore(fleet.server, proxy, { backup, addedRevisions }, () => fleet.scale(2));
      await eventually(async () => expect(await fleet.machines()).toHaveLength(2), LONG);
      await fleet.untilRunning(2);
    },
  );

  it("deletes no restored machine for those that exist in its caches alone", async () => {
    const proxy = await start(3);
    const kept = vmsOf(await fleet.machines());
    const backup = fleet.server.backup();
    await fleet.scale(6);
    await fleet.untilRunning(6);
    await untilQuiet(writes);
    await restore(fleet.server, proxy, { backup });
    await eventually(async () => {
      const { items } = await fleet.api.list(eventResource, { namespace });
      expect(items.map(({ reason }) => reason)).toContain("APIServerWentBack");
    }, LONG);
    expect(vmsOf(await fleet.machines())).toEqual(kept);
    await fleet.scale(2);
    await eventually(async () => expect(await fleet.machines()).toHaveLength(2), LONG);
    expect([fleet.callsOf("create"), fleet.cloud.vms().length]).toEqual([6, 5]);
  });

  it("does not take Nodes for healthy that the target cluster has lost", async () => {
    fleet = await startControlledFleet({}, server);
    ends.push(() => fleet.close());
    let proxy: FaultyProxy | undefined;
    const target = await startTargetCluster(fleet, {}, async (url) => (proxy = await proxyOf(url)).url);
    ends.push(() => target.close());
    fleet.runAlone(target.flag);
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    const backup = target.server.backup();
    await fleet.scale(3);
    await fleet.untilRunning(3);
    if (proxy === undefined) throw new Error("no proxy");
    await restore(target.server, proxy, { backup });
    await eventually(async () => {
      const phases = (await fleet.machines()).map((machine) => phaseOf(machine) ?? "");
      expect(phases.toSorted((a, b) => a.localeCompare(b))).toEqual(["Running", "Running", "Unknown"]);
    }, LONG);
  });
});
