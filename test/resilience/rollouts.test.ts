import { afterAll, beforeAll, describe } from "vitest";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { rolloutScenarios } from "../harness/rollout-scenarios.ts";

describe("rollouts on our API server", () => {
  let installation: Installation;
  const started: MillwrightProcess[] = [];

  beforeAll(async () => {
    installation = await startInstallation();
  });
  afterAll(async () => {
    await Promise.all(started.map((process) => process.stop("SIGKILL")));
    await installation.close();
  });

  rolloutScenarios(() => ({
    fleet: installation,
    requests: () => installation.server.requests.filter(({ userAgent }) => userAgent.startsWith("millwright")),
    run(...flags) {
      const where = [`--control-kubeconfig=${installation.kubeconfig}`, "--no-leader-elect"];
      const process = startMillwright(["run", "--provider=mock", ...where, ...flags]);
      started.push(process);
      return process;
    },
  }));
});
