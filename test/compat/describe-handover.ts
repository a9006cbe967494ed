import { setTimeout as pause } from "node:timers/promises";
import { phaseOf } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type HandOver, identityOf, startHandOver, type Switch } from "./hand-over.ts";
import { machinesOf, situations } from "./handover-situations.ts";
import { REAL_FLEET_MS } from "./real-fleet.ts";

const LONG = 180_000;

/**
 * The tests of one hand-over: all situations at once, so that they cost one start of each manager.
 *
 * @param many machines that are created while the manager changes
 */
export function describeHandOver(change: Switch, many: number): void {
  const { from, to, signal, hasOwnTarget } = change;
  const clusters = hasOwnTarget ? "with a control and a target cluster" : "in one cluster";
  describe(`a hand-over from ${from} to ${to} after ${signal}, ${clusters}, on real kube-apiservers`, () => {
    const all = situations(many);
    let handOver: HandOver;

    beforeAll(async () => {
      handOver = await startHandOver(change, all);
    }, REAL_FLEET_MS);
    afterAll(() => handOver.close(), 60_000);

    it.each(Object.entries(all))(
      "%s: keeps each machine and its VM, and comes to its end",
      async (name, { replicas = 2, replicasAfter = replicas, phase = "Running", isReplaced = () => false }) => {
        const { fleet, before, vms, setsOf } = handOver;
        await eventually(async () => {
          const phases = (await machinesOf({ fleet, name })).map(phaseOf);
          expect((await machinesOf({ fleet, name })).filter(isReplaced)).toEqual([]);
          expect(phases).toEqual(Array.from({ length: replicasAfter }, () => phase));
        }, LONG);
        const machines = await machinesOf({ fleet, name });
        const identities = machines.map(identityOf);
        const lost = before.get(name)?.kept.filter((kept) => !identities.some((other) => other.startsWith(kept)));
        expect(lost, identities.join(", ")).toEqual([]);
        for (const { metadata, spec } of machines) {
          const own = [...(vms.get(metadata.name ?? "") ?? [])];
          const id = spec.providerID?.split("/").at(-1);
          expect(own, metadata.name).toEqual(phase === "Running" ? [id] : []);
        }
        const sets = before.get(name)?.sets;
        for (const [set, revision] of await setsOf(name)) expect([set, revision]).toEqual([set, sets?.get(set)]);
      },
      2 * LONG,
    );

    it(
      "leaves no VM without machine, and makes none twice",
      async () => {
        const { fleet, vms } = handOver;
        await eventually(async () => {
          const machines = (await fleet.machines()).map(({ metadata }) => metadata.name);
          expect(fleet.cloud.vms().filter(({ name }) => !machines.includes(name))).toEqual([]);
        }, LONG);
        expect([...vms].filter(([, ids]) => ids.size > 1)).toEqual([]);
      },
      2 * LONG,
    );

    it(
      "ends with no field that changes",
      async () => {
        await eventually(async () => {
          const first = await handOver.written();
          await pause(3_000);
          expect(await handOver.written()).toEqual(first);
        }, LONG);
      },
      2 * LONG,
    );
  });
}
