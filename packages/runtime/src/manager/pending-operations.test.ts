import { seededRandom } from "@millwright/base";
import { MachineError } from "@millwright/core";
import { type Machine, machineResource, machineSetResource } from "@millwright/core/machine-api";
import type { VirtualClock } from "@millwright/core/testing";
import { type ApiObject, eventResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { createManager } from "./manager.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { aDriver } from "../testing/fake-driver.ts";
import { aManager, aSet, aStop, namespace } from "../testing/managed.ts";

const minute = 60_000;

/** Bare metal: a server is installed in `installMs` and wiped in `wipeMs`, and the driver never waits for it. */
function servers(clock: VirtualClock, { installMs, wipeMs }: { readonly installMs: number; readonly wipeMs: number }) {
  interface Server {
    readonly id: string;
    readonly token: string;
    readonly readyAt: number;
    goneAt?: number;
  }
  const byUid = new Map<string, Server>();
  const calls: string[] = [];
  const tokens = new Set<string>();
  const now = () => clock.monotonicMs();
  const pending = (message: string) => ({ pending: { message, checkAfterMs: minute } });
  let made = 0;
  const driver = aDriver({
    createMachine: async ({ machine, idempotencyToken: token }) => {
      calls.push("create");
      tokens.add(`${machine.uid} ${token}`);
      const server = byUid.get(machine.uid) ?? { id: `server-${++made}`, token, readyAt: now() + installMs };
      byUid.set(machine.uid, server);
      return now() < server.readyAt ? pending("installing") : { providerId: server.id, nodeName: machine.name };
    },
    getMachineStatus: async ({ machine }) => {
      const server = byUid.get(machine.uid);
      if (server === undefined || now() < server.readyAt) throw new MachineError("NotFound", "no server");
      return { providerId: server.id, nodeName: machine.name };
    },
    deleteMachine: async ({ machine }) => {
      calls.push("delete");
      const server = byUid.get(machine.uid);
      if (server === undefined) return {};
      server.goneAt ??= now() + wipeMs;
      if (now() < server.goneAt) return pending("wiping disks");
      byUid.delete(machine.uid);
      return {};
    },
  });
  return { driver, byUid, calls, tokens, made: () => made };
}

/** A set over such servers; processes are started one after the other. */
function aWorld(times: { readonly installMs: number; readonly wipeMs: number }) {
  // The manager that this makes is not started: only its API server, class and clock are of use.
  const { api, clock, machines, phases } = aManager();
  const cloud = servers(clock, times);
  const start = async () => {
    const stop = aStop();
    const options: ManagerOptions = {
      control: api,
      target: api,
      namespace,
      drivers: [cloud.driver],
      clock,
      random: seededRandom(1),
    };
    const running = createManager(options).start(stop.signal);
    return async () => {
      stop.abort(new Error("restart"));
      await clock.advance(5_000);
      await running;
    };
  };
  const descriptions = () => machines().map(({ status }) => status?.lastOperation?.description);
  const events = (reason: string) =>
    api.all<ApiObject & { readonly reason?: string }>(eventResource).filter((event) => event.reason === reason);
  return { api, clock, cloud, start, machines, phases, descriptions, events };
}

describe("a driver whose operations are pending", () => {
  it("gets its servers, one for each machine, across a restart, without an error or a second token", async () => {
    const { api, clock, cloud, start, phases, descriptions, machines, events } = aWorld({
      installMs: 15 * minute,
      wipeMs: 1,
    });
    api.seed(machineSetResource, aSet(3));
    const stop = await start();
    await clock.advance(8 * minute);
    expect(descriptions()).toEqual([
      "Provisioning VM: installing",
      "Provisioning VM: installing",
      "Provisioning VM: installing",
    ]);
    await stop();
    await start();
    await clock.advance(8 * minute);
    expect(phases()).toEqual(["Pending", "Pending", "Pending"]);
    expect([cloud.made(), cloud.tokens.size]).toEqual([3, 3]);
    const ids = new Set(machines().map(({ spec }) => spec.providerID));
    expect(ids).toEqual(new Set(["server-1", "server-2", "server-3"]));
    // Once a minute, and once more after the restart.
    expect(cloud.calls.length).toBeLessThanOrEqual(3 * 18);
    expect([events("ProvisioningVM").length, events("FailedCreateVM").length]).toEqual([3, 0]);
  });

  it("has 20 minutes: then the machine is Failed, and its set makes another one while the server is wiped", async () => {
    const { api, clock, cloud, start, machines } = aWorld({ installMs: 60 * minute, wipeMs: 10 * minute });
    api.seed(machineSetResource, aSet(1));
    const stop = await start();
    await clock.advance(10 * minute);
    const [first] = machines();
    await stop();
    await start();
    await clock.advance(9 * minute);
    expect(machines().map(({ metadata }) => metadata.uid)).toEqual([first?.metadata.uid]);
    // A process counts what it has observed itself.
    await clock.advance(12 * minute);
    const old = api.all<Machine>(machineResource).find(({ metadata }) => metadata.uid === first?.metadata.uid);
    expect(old?.status?.lastOperation).toMatchObject({
      type: "Delete",
      state: "Processing",
      description: "VM deletion is in progress: wiping disks. Initiate VM deletion",
    });
    expect(machines()).toHaveLength(2);
    await clock.advance(11 * minute);
    expect(machines().map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid);
    expect([...cloud.byUid.keys()]).toEqual(machines().map(({ metadata }) => metadata.uid));
  });

  it("takes as long to delete as it takes, across a restart, and the object stays until the server is wiped", async () => {
    const { api, clock, cloud, start, machines, events } = aWorld({ installMs: 0, wipeMs: 45 * minute });
    api.seed(machineSetResource, aSet(2));
    const stop = await start();
    await clock.advance(minute);
    api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 0 } });
    await clock.advance(20 * minute);
    await stop();
    await start();
    await clock.advance(20 * minute);
    expect([machines().length, cloud.byUid.size]).toEqual([2, 2]);
    await clock.advance(10 * minute);
    expect([machines().length, cloud.byUid.size]).toEqual([0, 0]);
    expect(cloud.calls.filter((call) => call === "delete").length).toBeLessThanOrEqual(2 * 50);
    // Entering a stage, the wait, and the end: not one for each check.
    expect(events("Deleting").length).toBeLessThanOrEqual(2 * 4);
  });
});
