import { type CloudExchange, MachineError } from "@millwright/core";
import { expect, test } from "vitest";
import { aCall, host, token, unaborted } from "../testing/hosted-driver.ts";

const exchange: CloudExchange = {
  method: "GET",
  url: "https://cloud.example/vms",
  requestHeaders: {},
  requestBody: "",
  status: 200,
  seconds: 0.1,
};

test("hands what a driver records to the recorder, which knows the secrets of the call by then", async () => {
  const known: string[] = [];
  const recorded: unknown[] = [];
  const { ensureVm } = host(
    {
      getMachineStatus: (_, { recordExchange }) => {
        recordExchange?.(exchange);
        throw new MachineError("NotFound", "there is no VM");
      },
      createMachine: (_, { recordExchange }) => {
        recordExchange?.({ ...exchange, method: "POST" });
        return Promise.resolve({ providerId: "mock:///1", nodeName: "m-1" });
      },
    },
    {
      recorder: {
        protect: (secret) => known.push(...Object.values(secret).map((value) => value.reveal())),
        record: (driver, { method }) =>
          recorded.push([driver, method, known.includes(token), known.includes("#cloud-config of m-1")]),
      },
    },
  );
  await ensureVm(aCall(), unaborted);
  expect(recorded).toEqual([
    ["mock", "GET", true, false],
    ["mock", "POST", true, true],
  ]);
});

test("gives a driver no recorder without recording", async () => {
  const given: unknown[] = [];
  const { findVm } = host({
    getMachineStatus: (_, { recordExchange }) => {
      given.push(recordExchange);
      return Promise.resolve({ providerId: "mock:///1", nodeName: "m-1" });
    },
  });
  await findVm(aCall(), unaborted);
  expect(given).toEqual([undefined]);
});
