import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureOperations } from "./operations.ts";

it("a credential is 1 while its calls are held back, once for all of its circuits, and is absent otherwise", async () => {
  const registry = new Registry();
  const open = [
    { driver: "mock", secret: "cloud", code: "Unauthenticated" as const, message: "no", since: 0 },
    { driver: "mock", secret: "cloud", machineClass: "a", code: "PermissionDenied" as const, message: "no", since: 0 },
  ];
  measureOperations(registry, "shoot", { unfinished: () => [], openCircuits: () => open });
  const samples = async () =>
    (await registry.metrics()).split("\n").filter((line) => line.startsWith("millwright_circuit_open"));
  expect(await samples()).toEqual(['millwright_circuit_open{namespace="shoot",driver="mock",secret="cloud"} 1']);
  open.length = 0;
  expect(await samples()).toEqual([]);
});
