import {
  type MachineClass,
  machineClassResource,
  machineDeploymentResource,
  machineSetResource,
} from "@millwright/core";
import { expect, it } from "vitest";
import type { MachineDriver } from "../model/driver-port.ts";
import { aMachineClass, type Change, aMachineDeployment, aMachineSet, refOf } from "../testing/builders.ts";
import { runControllers } from "../testing/running-controllers.ts";
import { createClassRejectionController } from "./rejection-controller.ts";

const ref = refOf("small");
const text = 'MachineClass "small": providerSpec.colour: is unknown';
const driver: Pick<MachineDriver, "missingDriver" | "rejectionOf"> = {
  missingDriver: ({ provider }) =>
    provider === "mock" ? undefined : `provider: no driver "${provider ?? ""}" is loaded`,
  rejectionOf: async ({ providerSpec }, secret) =>
    secret === undefined && "colour" in providerSpec ? { reason: "InvalidMachineClass", problem: text } : undefined,
};
const start = (...changes: readonly Change<MachineClass>[]) =>
  runControllers(
    (context) => [createClassRejectionController(context, driver)],
    (api) => {
      api.seed(machineClassResource, aMachineClass(...changes));
      api.seed(machineSetResource, aMachineSet());
      api.seed(machineDeploymentResource, aMachineDeployment());
    },
  );

it("reports a class that the driver rejects once, on the class and on the set and deployment that refer to it", async () => {
  const { api, events, settle } = await start({ providerSpec: { colour: "red" } });
  expect(events).toEqual(Array.from({ length: 3 }, () => `InvalidMachineClass ${text}`));
  api.change(machineClassResource, ref, { metadata: { annotations: { touched: "yes" } } });
  await settle();
  expect(events).toHaveLength(3);
  expect(api.writes()).toEqual([]);
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
