import { createVirtualClock } from "@millwright/core/testing";
import type { MachineIdentity } from "@millwright/core";
import { noLog } from "@millwright/kube";
import { expect, it } from "vitest";
import { aDriver } from "../testing/fake-driver.ts";
import { createDriverHost } from "./driver-host.ts";

it("hands the annotations that a node will have to the driver, beside those of the machine", async () => {
  const seen: MachineIdentity[] = [];
  const driver = aDriver({
    name: "mock",
    getMachineStatus: async ({ machine }) => {
      seen.push(machine);
      return { providerId: "mock:///r/1", nodeName: "m" };
    },
  });
  const host = createDriverHost({ drivers: [driver], clock: createVirtualClock(), log: noLog });
  const nodeTemplate = { metadata: { annotations: { "machine.sapcloud.io/awsPlacement": "{}" } } };
  const machine = {
    metadata: { name: "m", namespace: "shoot", uid: "u", annotations: { a: "b" } },
    spec: { class: { kind: "MachineClass", name: "small" }, nodeTemplate },
  };
  const machineClass = { metadata: { name: "small" }, provider: "mock", providerSpec: { size: 1 } };
  const outcome = await host.findVm({ machine, machineClass, secret: {} }, new AbortController().signal);
  expect(outcome).toMatchObject({ ok: true });
  expect(seen).toMatchObject([{ annotations: { a: "b" }, nodeAnnotations: nodeTemplate.metadata.annotations }]);
});
