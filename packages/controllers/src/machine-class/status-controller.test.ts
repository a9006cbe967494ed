import {
  annotationKeys,
  type Machine,
  type MachineClass,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { MachineDriver } from "../model/driver-port.ts";
import { aMachine, aMachineClass, type Change, aMachineDeployment, aMachineSet, refOf } from "../testing/builders.ts";
import { aSecret } from "../testing/machine-process.ts";
import { type RunningControllers, runControllers } from "../testing/running-controllers.ts";
import { createClassStatusController } from "./status-controller.ts";

const ref = refOf("small");
const text = 'MachineClass "small": providerSpec.color: is unknown';
const driver: Pick<MachineDriver, "missingDriver" | "rejectionOf" | "unknownKeysOf"> = {
  missingDriver: ({ provider }) =>
    provider === "mock" ? undefined : `provider: no driver "${provider ?? ""}" is loaded`,
  rejectionOf: async ({ providerSpec }) =>
    "color" in providerSpec ? { reason: "InvalidMachineClass", problem: text } : undefined,
  unknownKeysOf: ({ providerSpec }) =>
    "spotPrce" in providerSpec ? 'providerSpec.spotPrce (did you mean "spotPrice"?)' : "",
};
const start = (...changes: readonly Change<MachineClass>[]) =>
  runControllers(
    (context) => [createClassStatusController(context, driver)],
    (api) => {
      api.seed(machineClassResource, aMachineClass(...changes));
      api.seed(machineSetResource, aMachineSet());
      api.seed(machineDeploymentResource, aMachineDeployment());
      api.seed(secretResource, aSecret({ userData: "boot" }));
    },
  );

it("reports a class that the driver rejects once, on the class and on the set and deployment that refer to it", async () => {
  const { api, events, settle } = await start({ providerSpec: { color: "red" } });
  expect(events).toEqual(Array.from({ length: 3 }, () => `InvalidMachineClass ${text}`));
  api.change(machineClassResource, ref, { metadata: { annotations: { touched: "yes" } } });
  await settle();
  expect(events).toHaveLength(3);
  expect(api.writes()).toHaveLength(1);
});

it("reports another problem, and the same one again after it was fixed", async () => {
  const { api, events, settle } = await start();
  expect(events).toEqual([]);
  api.change(machineClassResource, ref, { provider: "aws" });
  await settle();
  expect(events.at(-1)).toContain('MachineClass "small": provider: no driver "aws" is loaded');
  api.change(machineClassResource, ref, { provider: null });
  await settle();
  expect(events.at(-1)).toContain('MachineClass "small": provider:');
  api.change(machineClassResource, ref, { provider: "mock" });
  await settle();
  api.change(machineClassResource, ref, { provider: "aws" });
  await settle();
  expect(events).toHaveLength(9);
});

it("forgets a class that is deleted", async () => {
  const { api, events, settle } = await start({ provider: "aws" });
  api.remove(machineClassResource, ref);
  await settle();
  api.seed(machineClassResource, aMachineClass({ provider: "aws" }));
  await settle();
  expect(events).toHaveLength(6);
});

const failing = (name: string, change: Change<Machine> = {}): Machine =>
  aMachine(
    {
      metadata: { name, uid: `uid-${name}` },
      status: {
        currentStatus: { phase: "CrashLoopBackOff" },
        lastOperation: {
          type: "Create",
          state: "Failed",
          errorCode: "ResourceExhausted",
          description: "Cloud provider message - machine codes error: code = [ResourceExhausted] message = [no quota].",
        },
      },
    },
    change,
  );

describe("the status of a class", () => {
  const annotations = ({ api }: RunningControllers) =>
    api.peek<MachineClass>(machineClassResource, ref)?.metadata.annotations ?? {};
  const statusOf = (cluster: RunningControllers) => annotations(cluster)[annotationKeys.classStatus];

  it("is Ready, and written once in a day", async () => {
    const cluster = await start();
    const first = annotations(cluster);
    expect(first).toMatchObject({ [annotationKeys.classStatus]: "Ready" });
    expect(first).not.toHaveProperty(annotationKeys.unknownKeys);
    await cluster.settle(24 * 60 * 60_000);
    expect(annotations(cluster)).toEqual(first);
    expect(cluster.api.writes()).toHaveLength(1);
  });

  it("names keys that the driver ignores, in an event and on the class, until they are removed", async () => {
    const cluster = await start({ providerSpec: { spotPrce: "1" } });
    const keys = 'providerSpec.spotPrce (did you mean "spotPrice"?)';
    expect(annotations(cluster)).toMatchObject({
      [annotationKeys.classStatus]: "Ready",
      [annotationKeys.unknownKeys]: keys,
    });
    expect(cluster.events).toEqual([`UnknownKeys Driver "mock" ignores keys that it does not know: ${keys}`]);
    await cluster.settle(24 * 60 * 60_000);
    expect(cluster.events).toHaveLength(1);
    cluster.api.change(machineClassResource, ref, { providerSpec: { spotPrce: null } });
    await cluster.settle();
    expect(annotations(cluster)).not.toHaveProperty(annotationKeys.unknownKeys);
  });

  it("follows ten machines without quota by one write, and is Ready two minutes after the last", async () => {
    const cluster = await start();
    const names = Array.from({ length: 10 }, (_, index) => `m${index}`);
    for (const name of names) cluster.api.seed(machineResource, failing(name));
    await cluster.settle(60_000);
    expect(annotations(cluster)).toMatchObject({
      [annotationKeys.classStatus]: "ResourceExhausted",
      [annotationKeys.classStatusMessage]: "ResourceExhausted: no quota",
    });
    expect(cluster.api.writes()).toHaveLength(2);
    for (const name of names) cluster.api.remove(machineResource, refOf(name));
    await cluster.settle(60_000);
    expect(statusOf(cluster)).toBe("ResourceExhausted");
    await cluster.settle(61_000);
    expect(statusOf(cluster)).toBe("Ready");
    expect(annotations(cluster)).not.toHaveProperty(annotationKeys.classStatusMessage);
    expect(cluster.api.writes()).toHaveLength(3);
  });

  it("names a Secret that is missing", async () => {
    const cluster = await start();
    cluster.api.remove(secretResource, ref);
    await cluster.settle();
    expect(annotations(cluster)).toMatchObject({
      [annotationKeys.classStatus]: "SecretNotFound",
      [annotationKeys.classStatusMessage]: expect.stringContaining('Secret "small" does not exist'),
    });
  });

  it("is written again where another client removed it", async () => {
    const cluster = await start();
    cluster.api.change(machineClassResource, ref, {
      metadata: { annotations: { [annotationKeys.classStatus]: null } },
    });
    await cluster.settle();
    expect(statusOf(cluster)).toBe("Ready");
  });
});
