import { type Machine, machineResource } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { ref, setUp } from "../testing/machine-process.ts";

/** A Running machine, whose conditions another writer can remove. */
async function setUpRunning() {
  const world = setUp();
  const { api, clock, create, join, start, phase } = world;
  create();
  await start();
  await clock.advance(10);
  join();
  await clock.advance(10);
  expect(phase()).toBe("Running");
  const removeConditions = (): void => {
    api.change<Machine>(machineResource, ref, { status: { conditions: [] } });
  };
  const statusWrites = (): number => world.writes().filter((write) => write === "patch machines/status").length;
  return { ...world, removeConditions, statusWrites };
}

it("does not take back without end what another process writes to the status", async () => {
  const { clock, machine, removeConditions, statusWrites } = await setUpRunning();
  const before = statusWrites();
  for (let i = 0; i < 600; i++) {
    removeConditions();
    await clock.advance(100);
  }
  expect(statusWrites() - before).toBeGreaterThanOrEqual(10 + 10);
  expect(statusWrites() - before).toBeLessThanOrEqual(10 + 13);
  await clock.advance(5_000);
  expect(machine()?.status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
});

it("carries out the decision whose status had to wait, with its driver call", async () => {
  const { api, clock, driver, machine, removeConditions } = await setUpRunning();
  for (let i = 0; i < 100; i++) {
    removeConditions();
    await clock.advance(100);
  }
  await api.delete(machineResource, ref);
  removeConditions();
  await clock.advance(20_000);
  expect(driver.calls).toContain("deleteVm machine");
  expect(machine()).toBeUndefined();
});
