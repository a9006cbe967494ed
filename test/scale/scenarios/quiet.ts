import { labelKeys } from "@millwright/core/machine-api";
import { createClasses, createDeployment, createFleet, untilRunning } from "./fleet.ts";
import type { Scenario } from "./scenario.ts";

const MINUTE_MS = 60_000;
/** How long a node that flaps is ready, and not ready, milliseconds. */
const FLAP_MS = 10_000;

/** Nothing to do. */
export const idleScenario: Scenario = {
  name: "idle",
  measures: "nothing changes, for the given minutes",
  short: { machines: 100, minutes: 1 },
  long: { machines: 500, minutes: 5 },
  isTimed: true,
  prepare: createFleet,
  measure: ({ sleep, size }) => sleep((size.minutes ?? 1) * MINUTE_MS),
};

/** Nodes of a zone that are not ready all the time. No machine is replaced: their health timeout is longer. */
export const flappingZoneScenario: Scenario = {
  name: "flapping-zone",
  measures: `the nodes of one of two zones are ready for ${FLAP_MS / 1000} s and not ready for ${FLAP_MS / 1000} s, for the given minutes`,
  short: { machines: 40, minutes: 1 },
  long: { machines: 200, minutes: 5 },
  isTimed: true,
  async prepare(stage) {
    const each = Math.ceil(stage.size.machines / 2);
    await createClasses(stage);
    for (const zone of ["a", "b"]) await createDeployment(stage, `zone-${zone}`, each, { zone });
    await untilRunning(stage, 2 * each);
  },
  async measure(stage) {
    const nodes = stage.list().flatMap(({ metadata: { labels = {} } }) => {
      const node = labels[labelKeys.node];
      return labels["name"] === "zone-a" && node !== undefined ? [node] : [];
    });
    if (nodes.length === 0) throw new Error("no machine of zone a has a node");
    await stage.world({ kind: "flap", nodes, everyMs: FLAP_MS });
    await stage.sleep((stage.size.minutes ?? 1) * MINUTE_MS);
    await stage.world({ kind: "clear-faults" });
  },
};
