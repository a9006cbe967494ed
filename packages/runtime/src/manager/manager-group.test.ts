import { seededRandom } from "@millwright/base";
import { type Machine, machineClassResource, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { secretResource } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createManagerGroup } from "./manager-group.ts";
import { aDriver } from "../testing/fake-driver.ts";
import { aCloud, aLeadership, aSet, aStop } from "../testing/managed.ts";

const namespaces = ["shoot", "seed"];

/** Managers of two namespaces over one API server. */
function aGroup(of: readonly string[] = namespaces, driver = aCloud().driver) {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const leaderships = new Map(of.map((namespace) => [namespace, aLeadership()]));
  const logged: Readonly<Record<string, unknown>>[] = [];
  for (const namespace of of) {
    const metadata = { namespace, name: "small" };
    const secretRef = { name: "small", namespace };
    api.seed(machineClassResource, { metadata, provider: "mock", providerSpec: {}, secretRef });
    api.seed(secretResource, { metadata, data: { userData: Buffer.from("#cloud-config").toString("base64") } });
    api.seed(machineSetResource, { ...aSet(1), metadata: { namespace, name: "pool", uid: `set-${namespace}` } });
  }
  const manager = createManagerGroup({
    control: api,
    target: api,
    namespaces: of,
    drivers: [driver],
    leadershipOf: (namespace) => leaderships.get(namespace)?.leadership,
    clock,
    random: seededRandom(1),
    log: (_level, message, fields) => logged.push({ message, ...fields }),
  });
  const found = () =>
    api
      .all<Machine>(machineResource)
      .map(({ metadata, status }) => `${metadata.namespace} ${status?.currentStatus?.phase}`)
      .toSorted();
  return { api, clock, manager, leaderships, logged, stop: aStop(), found };
}

describe("the managers of several namespaces", () => {
  it("act each when they lead, and share the caches of the target cluster", async () => {
    const { api, clock, manager, leaderships, logged, stop, found } = aGroup();
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    leaderships.get("seed")?.give();
    await clock.advance(5_000);
    expect(found()).toEqual(["seed Pending"]);
    leaderships.get("shoot")?.give();
    await clock.advance(5_000);
    expect(found()).toEqual(["seed Pending", "shoot Pending"]);
    // One after the other: the cache that both share is renewed when the second namespace is led.
    expect(api.calls.filter(({ verb, resource }) => verb === "watch" && resource === "nodes")).toHaveLength(2);
    expect(logged.filter(({ message }) => message === "Ready").map(({ namespace }) => namespace)).toEqual(namespaces);

    const metrics = await manager.metrics();
    for (const namespace of namespaces)
      expect(metrics).toContain(`mcm_machine_set_items_total{namespace="${namespace}"} 1`);
    const { caches, unsynced } = manager.vitals();
    expect(unsynced).toEqual([]);
    expect(caches.map(({ name }) => name).filter((name) => /machines|nodes/.test(name))).toEqual([
      "shoot/machines",
      "nodes",
      "seed/machines",
    ]);
    stop.abort(new Error("done"));
    await clock.advance(5_000);
    await running;
  });

  it("stop all when the leadership over one namespace ends, and leave no timer and no watch", async () => {
    const { api, clock, manager, leaderships, stop, found } = aGroup();
    for (const { give } of leaderships.values()) give();
    const ended = manager.start(stop.signal).catch((error: unknown) => error);
    await manager.ready(stop.signal);
    await clock.advance(5_000);
    leaderships.get("seed")?.take();
    await clock.advance(15_000);
    expect(await ended).toMatchObject({ message: "another instance leads" });
    const before = found();
    api.change(machineSetResource, { namespace: "shoot", name: "pool" }, { spec: { replicas: 3 } });
    await clock.advance(60_000);
    expect(found()).toEqual(before);
    expect(clock.pending()).toBe(0);
  });

  it.each([
    ["keep a VM without the mark of a namespace: its Machine may be in any of them", namespaces, []],
    ["delete such a VM as a VM without Machine where there is one namespace", ["shoot"], ["unmarked"]],
  ])("%s", async (_what, of, expected) => {
    const deleted: string[] = [];
    const driver = aDriver({
      listMachines: async () => ({
        machines:
          deleted.length > 0 ? [] : [{ providerId: "vm-of-unmarked", machineName: "unmarked", createdAt: new Date(0) }],
      }),
      deleteMachine: async ({ machine }) => {
        deleted.push(machine.name);
        return {};
      },
    });
    const { api, clock, manager, leaderships, stop } = aGroup(of, driver);
    for (const namespace of of) api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 0 } });
    for (const { give } of leaderships.values()) give();
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    await clock.advance(4 * 3_600_000);
    expect(deleted).toEqual(expected);
    stop.abort(new Error("done"));
    await clock.advance(15_000);
    await running;
  });

  it("are one manager for one namespace: metrics and logs have no further label", async () => {
    const { clock, manager, leaderships, logged, stop } = aGroup(["shoot"]);
    leaderships.get("shoot")?.give();
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    await clock.advance(5_000);
    expect(await manager.metrics()).toContain("mcm_machine_set_items_total 1");
    expect(logged.find(({ message }) => message === "Ready")).toEqual({ message: "Ready" });
    stop.abort(new Error("done"));
    await clock.advance(5_000);
    await running;
  });
});
