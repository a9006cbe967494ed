import { afterAll, beforeAll, describe } from "vitest";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { rolloutScenarios } from "../harness/rollout-scenarios.ts";
import { stageOn } from "../harness/rollout-trial.ts";

describe("rollouts on our API server", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });
  afterAll(async () => {
    await installation.close();
  });

  rolloutScenarios(() => stageOn(installation));
});
