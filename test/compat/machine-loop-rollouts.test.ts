import { afterAll, beforeAll, describe } from "vitest";
import { rolloutScenarios } from "../harness/rollout-scenarios.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

describe("rollouts on a real kube-apiserver", () => {
  let fleet: RealFleet;

  beforeAll(async () => {
    fleet = await startRealFleet();
  }, REAL_FLEET_MS);

  afterAll(() => fleet.close(), 60_000);

  rolloutScenarios(() => ({ fleet, run: fleet.runAlone }));
});
