import { systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { afterAll, beforeAll, describe } from "vitest";
import { type Fleet, startFleet } from "../harness/installation.ts";
import { startControllers } from "../harness/millwright.ts";
import { rolloutScenarios } from "../harness/rollout-scenarios.ts";
import { startRealServer } from "./real-server.ts";

describe("rollouts on a real kube-apiserver", () => {
  const ends: (() => Promise<unknown>)[] = [];
  let kubeconfig: string;
  let fleet: Fleet;

  beforeAll(async () => {
    const plane = await startRealServer();
    ends.push(() => plane.stop());
    ({ kubeconfig } = plane);
    const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { clock: systemClock });
    ends.push(() => api.close());
    fleet = await startFleet(api);
    ends.push(() => fleet.close());
  }, 1_800_000);

  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, 60_000);

  rolloutScenarios(() => ({
    fleet,
    run(...flags) {
      const process = startControllers(kubeconfig, ...flags);
      ends.push(() => process.stop("SIGKILL"));
      return process;
    },
  }));
});
