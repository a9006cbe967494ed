import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

let installation: Installation;

afterEach(async () => {
  await installation.close();
});

const phases = async (): Promise<readonly (string | undefined)[]> =>
  (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
const attempts = (): number => installation.cloud.calls.filter(({ operation }) => operation === "tag").length;

it("a machine whose VM cannot be initialized is not Running although its node is Ready, also after a restart", async () => {
  installation = await startInstallation();
  await installation.cloud.addFault({ operation: "tag", code: "Internal", times: 1_000 });
  await installation.api.create(machineClassResource, machineClass("small"));
  await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
  const first = installation.runAlone();
  const nodeIsReady = async (): Promise<void> => {
    const { items } = await installation.api.list(nodeResource);
    expect(JSON.stringify(items)).toContain('"type":"Ready","status":"True"');
  };
  await eventually(async () => {
    await nodeIsReady();
    expect([await phases(), attempts() > 0]).toEqual([["CrashLoopBackOff"], true]);
  });
  await first.stop("SIGKILL");

  const before = attempts();
  installation.runAlone();
  // The second attempt comes after the failure of the first one is written, with the Ready node in the cache.
  await eventually(async () => expect(attempts()).toBeGreaterThan(before + 1));
  expect(await phases()).toEqual(["CrashLoopBackOff"]);
  const [deployment] = (await installation.api.list(machineDeploymentResource, { namespace: "default" })).items;
  expect(deployment).not.toHaveProperty("status.availableReplicas", 1);

  await installation.cloud.clearFaults();
  await eventually(async () => expect(await phases()).toEqual(["Running"]), 90_000);
  expect(installation.cloud.vms()).toHaveLength(1);
});
