import { machineClassResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

let fleet: ControlledFleet;
beforeAll(async () => {
  fleet = await startControlledFleet();
  fleet.run();
});
afterAll(() => fleet.close());

const start = (...args: readonly string[]) =>
  startMillwright([...args, "--kubeconfig", fleet.kubeconfig], { NO_COLOR: "1" });
const run = async (...args: readonly string[]) => {
  const command = start(...args);
  const code = await command.ended;
  return { code, text: command.output().replaceAll(/[\s│├└─]+/g, " ") };
};

it("why lists what is not as desired, finds the kind of a name, and follows an object until it is as desired", async () => {
  const { cloud, api } = fleet;
  await cloud.addFault({ operation: "create", code: "ResourceExhausted", times: 1e6, message: "no quota" });
  await fleet.deploy(2);
  await eventually(
    async () =>
      expect(await run("why")).toEqual({
        code: 3,
        text: expect.stringMatching(
          /^Namespace default is stuck\. Namespace default: 1 of 1 objects is not as desired \[stuck\] MachineDeployment fleet: .*no quota/,
        ),
      }),
    60_000,
  );
  // Its output is not a terminal: the whole cause is there, once.
  expect(await run("top")).toEqual({
    code: 0,
    text: expect.stringMatching(/2 machines: .*MACHINE LIFE STATE FOR CAUSE (?:fleet-\S+ \S+ \w+ .*?no quota.*?){2}/),
  });
  expect((await run("top", "--filter", "nothing-of-this")).text).toContain("no machine matches");
  expect(await run("why", "fleet")).toEqual({
    code: 3,
    text: expect.stringContaining("MachineDeployment default/fleet is"),
  });
  await api.create(machineClassResource, machineClass("fleet"));
  expect(await run("why", "fleet")).toEqual({
    code: 1,
    text: expect.stringContaining("machinedeployment/fleet, machineclass/fleet; name one of them"),
  });

  const watched = start("why", "mcd/fleet", "--watch");
  await watched.waitFor(/MachineDeployment default\/fleet is stuck/);
  await cloud.clearFaults();
  // A change of the class starts the next attempt at once.
  await api.patch(
    machineClassResource,
    { namespace: "default", name: "small" },
    { providerSpec: { machineType: "large" } },
    { kind: "merge" },
  );
  expect(await watched.ended, watched.output()).toBe(0);
  expect(watched.output()).toContain("MachineDeployment default/fleet is as desired.");
  expect(await run("why")).toEqual({ code: 0, text: expect.stringContaining("Namespace default is as desired.") });
});
