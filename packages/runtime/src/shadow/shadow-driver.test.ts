import type { Operations } from "@millwright/controllers";
import { expect, it } from "vitest";
import type { DriverHost } from "../drivers/driver-host.ts";
import { readOnlyDriver, withoutStarts } from "./shadow-driver.ts";

it("reports driver calls by what they would do, and starts none", () => {
  const started: string[] = [];
  // Only what is wrapped is called.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const real = { start: (uid: string) => void started.push(uid) } as unknown as Operations;
  const reported: string[] = [];
  const { start } = withoutStarts(real, (uid, action) => reported.push(`${uid} ${action}`));
  for (const kind of ["create", "initialize", "find", "delete"] as const)
    start("1", { kind, inputs: "", run: () => Promise.reject(new Error("called")), enqueue: () => undefined });
  expect(reported).toEqual(["1 CreateVM", "1 InitializeVM", "1 FindVM", "1 DeleteVM"]);
  expect(started).toEqual([]);
});

it("calls no driver for a VM", async () => {
  const called: string[] = [];
  const real = Object.fromEntries(
    ["ensureVm", "initializeVm", "findVm", "deleteVm", "listVms"].map((method) => [
      method,
      () => Promise.resolve(void called.push(method)),
    ]),
  );
  // As above.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const driver = readOnlyDriver(real as unknown as DriverHost);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const call = {} as unknown as Parameters<DriverHost["ensureVm"]>[0];
  const { signal } = new AbortController();
  for (const method of ["ensureVm", "initializeVm", "findVm", "deleteVm"] as const)
    expect(await driver[method](call, signal)).toMatchObject({ ok: false });
  expect(called).toEqual([]);
});
