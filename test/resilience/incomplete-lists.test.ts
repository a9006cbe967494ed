import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, controllersAgent, startControlledFleet } from "../harness/controlled-fleet.ts";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const LONG = 90_000;

/** A list with status 200 and no objects: a member of etcd that lags, a proxy that answers from an empty cache. */
describe("millwright run whose API server returns an empty list", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  it.each(["machines", "machinesets", "machinedeployments", "nodes"])(
    "keeps all machines when the list of %s is empty after an outage, and continues",
    async (resource) => {
      fleet = await startControlledFleet();
      const process = fleet.run();
      await fleet.deploy(5);
      await fleet.untilRunning(5);
      const before = vmsOf(await fleet.machines());
      // Several lists in a row, so that a second look at the same wrong list does not help.
      const fault = fleet.server.faults.add({
        match: { resources: [resource], verbs: ["list", "watch"], userAgent: controllersAgent },
        effect: { kind: "empty-list" },
        times: 3,
      });
      await fleet.server.restart({ downMs: 200 });
      await eventually(async () => expect(await Promise.resolve(fault.hits)).toBe(3), LONG);
      await untilQuiet(
        () =>
          fleet
            .requests()
            .filter(({ verb, resource: of }) => !["watch", "list", "get"].includes(verb) && of !== "leases").length,
      );
      expect(vmsOf(await fleet.machines())).toEqual(before);
      expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([5, 0]);
      await fleet.scale(6);
      await fleet.untilRunning(6, LONG);
      expect(fleet.callsOf("create")).toBe(6);
      expect(process.child.exitCode).toBeNull();
    },
  );
});
