import type { ApiCall } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "./driver.ts";
import { aCloud, aContext, aRequest, plainAccount, plainSecret } from "./testing/gcp-cloud.ts";

describe("the driver", () => {
  it("reports every request, for metrics, and no secret with it", async () => {
    const calls: ApiCall[] = [];
    const context = { ...aContext(), reportApiCall: (call: ApiCall) => void calls.push(call) };
    const { gce, driver } = await aCloud({ operationMs: 5 });
    await driver.createMachine(aRequest(), context);
    for (const code of ["internalError", "rateLimitExceeded"]) {
      gce.faults.add({ operation: "instances.delete", end: { kind: "refuse", refusal: { code } } });
    }
    const hasty = { ...context, remainingMs: () => 1_000 };
    await expect(driver.deleteMachine(aRequest(), hasty)).rejects.toMatchObject({ code: "Unavailable" });
    await driver.listMachines?.(aRequest(), context);
    await driver.getNodeTemplate?.(aRequest(), context);
    expect(calls.map(({ service, outcome }) => [service, outcome])).toEqual([
      // That there is none is an answer.
      ["instance_get", "ok"],
      ["instance_create", "ok"],
      ["operations_get", "ok"],
      ["instance_get", "ok"],
      ["instance_get", "ok"],
      ["instance_delete", "internalError"],
      ["instance_delete", "rateLimitExceeded"],
      ["instance_list", "ok"],
      ["machine_type_get", "ok"],
    ]);
    expect(calls.every(({ seconds }) => seconds >= 0)).toBe(true);
    expect(JSON.stringify(calls)).not.toContain("echo hello");
  });

  it("writes no secret to errors and logs", async () => {
    const { gce, driver } = await aCloud();
    const context = aContext();
    const texts: string[] = [];
    for (const code of ["authError", "internalError", "invalid", "forbidden", "quotaExceeded"]) {
      gce.faults.add({ operation: "instances.insert", times: 9, end: { kind: "refuse", refusal: { code } } });
      const error: unknown = await driver.createMachine(aRequest(), context).catch((thrown: unknown) => thrown);
      texts.push(error instanceof Error ? `${error.message} ${String(error)} ${error.stack ?? ""}` : "");
      gce.faults.clear();
    }
    const printed = [...texts, ...context.lines].join("\n");
    expect(texts.every((text) => text !== "")).toBe(true);
    const tokens = [...gce.world.accessTokens.keys()];
    expect(tokens).not.toEqual([]);
    const keyLine = plainAccount.private_key.split("\n")[1] ?? "";
    for (const secret of [keyLine, plainSecret["userData"] ?? "", ...tokens]) expect(printed).not.toContain(secret);
  });

  it("has nothing to do for the initialization of machines", () => {
    expect(createGcpDriver().capabilities).toMatchObject({ initializeMachine: false });
  });
});
