import { describe, expect, it } from "vitest";
import { runScenarios, scenarios } from "./ec2-scenarios.ts";
import { type Ec2Server, hasMoto, startEmulator, startMoto } from "./ec2-servers.ts";

/** Scenarios with another result on moto 5.2.5 than on EC2, and that result. Our emulator gives the documented result in all of them. */
const motoDifferences: Readonly<Record<string, unknown>> = {
  "VM, volume and interface carry the tags of their owner": expect.objectContaining({ networkInterface: [] }),
  "a client token means the same VM": false,
  "a client token with other parameters is refused": "fine",
  "of two filters for tag keys both count": 1,
  "a launch with an unknown machine type": "fine",
  "a launch with an unknown key pair": "fine",
  "an id that is none is malformed": "InvalidInstanceID.NotFound",
  "prefixes are assigned": 0,
};

const expected = (differences: Readonly<Record<string, unknown>> = {}): object =>
  Object.fromEntries(scenarios.map((scenario) => [scenario.name, differences[scenario.name] ?? scenario.expected]));

const seenOn = async (start: () => Promise<Ec2Server>): Promise<object> => {
  const server = await start();
  try {
    return Object.fromEntries(await runScenarios(server));
  } finally {
    await server.close();
  }
};

describe("driver and SDK get the documented results of EC2", () => {
  it("on our emulator", async () => {
    expect(await seenOn(startEmulator)).toEqual(expected());
  });

  it.skipIf(!hasMoto)(
    "on moto, except for known differences (if installed: test/emulators/ec2/README.md)",
    async () => {
      expect(await seenOn(startMoto)).toEqual(expected(motoDifferences));
    },
  );
});
