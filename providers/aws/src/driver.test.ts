import type { ApiCall } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aRequest, plainSecret } from "./testing/aws-cloud.ts";

describe("the driver", () => {
  it("reports every request, for metrics, and no secret with it", async () => {
    const calls: ApiCall[] = [];
    const { ec2, driver } = await aCloud();
    const context = { ...aContext(), reportApiCall: (call: ApiCall) => void calls.push(call) };
    await driver.createMachine(aRequest(), context);
    ec2.faults.add({
      operation: "TerminateInstances",
      times: 3,
      end: { kind: "refuse", refusal: { code: "RequestLimitExceeded" } },
    });
    await expect(driver.deleteMachine(aRequest(), context)).rejects.toMatchObject({ code: "Unavailable" });
    expect(calls.map(({ service, outcome }) => [service, outcome])).toEqual([
      ["instance_get_by_machine", "ok"],
      ["image_get", "ok"],
      ["instance_create", "ok"],
      ["instance_get_by_id", "ok"],
      ["instance_get_by_machine", "ok"],
      // With its repetitions by the SDK.
      ["instance_terminate", "RequestLimitExceeded"],
    ]);
    expect(calls.every(({ seconds }) => seconds > 0 && seconds < 30)).toBe(true);
    expect(JSON.stringify(calls)).not.toContain("secret");
  });

  it("says no secret in errors and logs", async () => {
    const { ec2, driver } = await aCloud();
    const context = aContext();
    const codes = ["AuthFailure", "InternalError", "InvalidParameterValue", "UnauthorizedOperation"];
    const texts: string[] = [];
    for (const code of codes) {
      ec2.faults.add({ operation: "RunInstances", times: 3, end: { kind: "refuse", refusal: { code } } });
      const error: unknown = await driver.createMachine(aRequest(), context).catch((thrown: unknown) => thrown);
      texts.push(error instanceof Error ? `${error.message} ${String(error)} ${error.stack ?? ""}` : "");
      ec2.faults.clear();
    }
    const printed = [...texts, ...context.lines].join("\n");
    expect(texts.every((text) => text !== "")).toBe(true);
    for (const secret of [
      plainSecret["secretAccessKey"] ?? "",
      plainSecret["userData"] ?? "",
      Buffer.from(plainSecret["userData"] ?? "").toString("base64"),
    ])
      expect(printed).not.toContain(secret);
  });
});
