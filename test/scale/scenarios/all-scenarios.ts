import { allHaveClass, createClasses, createDeployment, createFleet, scale, setClass, untilRunning } from "./fleet.ts";
import type { Scenario } from "./scenario.ts";

const MINUTE_MS = 60_000;

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  {
    name: "create",
    measures: "one MachineDeployment is created; until all its machines are Running",
    short: { machines: 100 },
    long: { machines: 1000 },
    prepare: createClasses,
    async measure(stage) {
      await createDeployment(stage, "fleet", stage.size.machines);
      await untilRunning(stage, stage.size.machines);
    },
  },
  {
    name: "roll",
    measures:
      "the class of a MachineDeployment changes, with a surge and an unavailability of 10 %; until all machines are new ones",
    short: { machines: 20 },
    long: { machines: 100 },
    prepare: createFleet,
    async measure(stage) {
      await setClass(stage, "fleet", "large");
      const { machines, size } = stage;
      await stage.until(
        "all machines are new and Running",
        () =>
          machines.size === size.machines &&
          machines.phases().get("Running") === size.machines &&
          allHaveClass(stage, "large"),
      );
    },
  },
  {
    name: "scale-to-zero",
    measures: "a MachineDeployment is scaled to 0, with its deletions approved; until no machine is left",
    short: { machines: 100 },
    long: { machines: 1000 },
    prepare: createFleet,
    async measure(stage) {
      await scale(stage, "fleet", 0);
      await stage.until("no machine is left", () => stage.machines.size === 0);
    },
  },
  {
    name: "idle",
    measures: "nothing changes; for the given minutes",
    short: { machines: 100, minutes: 1 },
    long: { machines: 500, minutes: 5 },
    isTimed: true,
    prepare: createFleet,
    measure: ({ sleep, size }) => sleep((size.minutes ?? 1) * MINUTE_MS),
  },
];
