import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ConfigError } from "@millwright/base";
import { createVirtualClock } from "../testing/index.ts";
import { type DriverDefinition, defineDriver, isDriverFor } from "./define-driver.ts";

interface ExampleSpec {
  readonly size: number;
}

const reference = { providerId: "example:///1", nodeName: "node-1" };
const context = { signal: new AbortController().signal, clock: createVirtualClock(), log: () => undefined };

const request = {
  machine: { name: "m", namespace: "n", uid: "u" },
  machineClass: { name: "c", spec: { size: 1 } },
  secret: {},
};

const definition = (overrides: Partial<DriverDefinition<ExampleSpec>> = {}): DriverDefinition<ExampleSpec> => ({
  name: "example",
  spec: z.object({ size: z.number() }),
  createMachine: () => Promise.resolve(reference),
  deleteMachine: () => Promise.resolve({}),
  getMachineStatus: () => Promise.resolve(reference),
  ...overrides,
});

describe("defineDriver", () => {
  it("derives capabilities from the methods that are there, and keeps them", async () => {
    expect(defineDriver(definition()).capabilities).toEqual({
      listMachines: false,
      initializeMachine: false,
      volumeIds: false,
      drift: false,
      nodeTemplate: false,
      classChecks: false,
    });
    const full = defineDriver(
      definition({
        listMachines: () => Promise.resolve({ machines: [] }),
        initializeMachine: () => Promise.resolve(reference),
        getVolumeIds: () => Promise.resolve({ volumeIds: [] }),
        findDrift: () => Promise.resolve({ providerId: reference.providerId, differences: [] }),
        getNodeTemplate: () =>
          Promise.resolve({ nodeTemplate: { capacity: { cpu: 1 }, instanceType: "s", region: "r", zone: "z" } }),
        checkClass: () => Promise.resolve({ checks: [] }),
      }),
    );
    expect(full.capabilities).toEqual({
      listMachines: true,
      initializeMachine: true,
      volumeIds: true,
      drift: true,
      nodeTemplate: true,
      classChecks: true,
    });
    await expect(full.findDrift?.(request, context)).resolves.toEqual({ providerId: "example:///1", differences: [] });
  });

  it("answers for a driver without volumes that none is its own", async () => {
    const { volumeIds } = await defineDriver(definition()).getVolumeIds({ volumes: [{}, {}] }, context);
    expect(volumeIds).toEqual([undefined, undefined]);
  });

  it("keeps the this of a class instance", async () => {
    class Example {
      readonly name = "example";
      readonly spec = z.object({ size: z.number() });
      readonly id = "example:///7";
      createMachine(): Promise<typeof reference> {
        return Promise.resolve({ ...reference, providerId: this.id });
      }
      deleteMachine(): Promise<object> {
        return Promise.resolve({ lastKnownState: this.id });
      }
      getMachineStatus(): Promise<typeof reference> {
        return this.createMachine();
      }
    }
    const driver = defineDriver(new Example());
    await expect(driver.deleteMachine(request, context)).resolves.toEqual({ lastKnownState: "example:///7" });
  });

  it("makes the same driver out of a driver", () => {
    const driver = defineDriver(definition());
    const again = defineDriver(driver);
    expect(again.capabilities).toEqual(driver.capabilities);
    expect(again.name).toBe("example");
  });

  it("keeps the range of contract versions that a driver declares, for hosts of other versions", () => {
    const contractVersion = { min: 1, max: 3 };
    const driver = defineDriver(definition({ contractVersion }));
    expect(defineDriver(driver).contractVersion).toEqual(contractVersion);
    expect(defineDriver(definition()).contractVersion).toBe(1);
  });

  it("matches Nodes by templates of provider ids, unless it has a method for that, and keeps the templates", () => {
    const providerIdTemplates = ["x:///{pool}/{name}"];
    const vm = { machineName: "m", providerId: "x:///p/a", nodeName: "", addresses: [] };
    const node = { name: "n", providerId: "x:///q/a", systemUuid: "", addresses: [] };
    const driver = defineDriver(defineDriver(definition({ providerIdTemplates })));
    expect(driver.providerIdTemplates).toEqual(providerIdTemplates);
    expect(driver.matchNode?.(vm, node)).toBe("different");
    const matchNode = () => "unknown" as const;
    expect(defineDriver(definition({ providerIdTemplates, matchNode })).matchNode?.(vm, node)).toBe("unknown");
    expect(defineDriver(definition()).matchNode).toBeUndefined();
  });

  it("freezes what it returns", () => {
    const driver = defineDriver(definition());
    expect(Object.isFrozen(driver)).toBe(true);
    expect(Object.isFrozen(driver.capabilities)).toBe(true);
  });

  it.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /must be an object created by defineDriver, not undefined/],
    ["no name", { ...definition(), name: undefined }, /name of a driver .* not undefined/],
    ["a name that no class could give", { ...definition(), name: "my driver" }, /not "my driver"/],
    ["no spec", { ...definition(), spec: undefined }, /driver "example": "spec" must be a Standard Schema/],
    [
      "a spec of an older standard",
      { ...definition(), spec: { "~standard": { version: 0, validate: () => ({ value: 1 }) } } },
      /"spec" must be/,
    ],
    ["a secret that is no schema", { ...definition(), secret: {} }, /"secret" must be a Standard Schema or left out/],
    [
      "a missing method",
      { ...definition(), deleteMachine: undefined },
      /driver "example": method "deleteMachine" is missing/,
    ],
    [
      "a method that is no function",
      { ...definition(), deleteMachine: 5 },
      /"deleteMachine" must be a function, not number/,
    ],
    [
      "a misspelt method",
      { ...definition(), createMachine: undefined, createMachines: () => Promise.resolve({}) },
      /driver "example": method "createMachine" is missing; the driver has "createMachines"$/,
    ],
    [
      "a misspelt optional method",
      { ...definition(), listMachine: () => Promise.resolve({}) },
      /the contract has no method "listMachine"; did you mean "listMachines"\?$/,
    ],
    [
      "a misspelt method of its class",
      Object.assign(Object.create({ FindDrift: () => Promise.resolve({}) }) as object, definition()),
      /no method "FindDrift"; did you mean "findDrift"/,
    ],
    [
      "a JSON Schema",
      { ...definition(), spec: { type: "object", properties: {} } },
      /reads providerSpec, not a JSON Schema$/,
    ],
    [
      "templates that are no texts",
      { ...definition(), providerIdTemplates: "x://{id}" },
      /"providerIdTemplates" must be/,
    ],
    ["a template that cannot be read", { ...definition(), providerIdTemplates: ["x://{id"] }, /template "x:\/\/{id"/],
    [
      "an optional method that is no function",
      { ...definition(), listMachines: true },
      /"listMachines" must be a function or left out, not boolean/,
    ],
    [
      "another contract",
      { ...definition(), contractVersion: 2 },
      /driver "example" implements driver contract 2; this version of Millwright supports contract 1: update Millwright/,
    ],
  ])("refuses a definition with %s", (_what, broken, message) => {
    const define: (definition: never) => unknown = defineDriver;
    const call = (): unknown => Reflect.apply(define, undefined, [broken]);
    expect(call).toThrow(ConfigError);
    expect(call).toThrow(message);
  });
});

describe("isDriverFor", () => {
  it("compares the provider of a class ignoring case", () => {
    expect(isDriverFor({ name: "mock" }, "Mock")).toBe(true);
    expect(isDriverFor({ name: "mock" }, "aws")).toBe(false);
  });
});
