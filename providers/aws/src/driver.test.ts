import type { ApiCall } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSecret } from "./testing/aws-cloud.ts";

describe("the driver", () => {
  it("reports every request, for metrics, and no secret with it", async () => {
    const calls: ApiCall[] = [];
    const { ec2, driver } = await aCloud();
    const context = { ...aContext(), reportApiCall: (call: ApiCall) => void calls.push(call) };
    await driver.createMachine(aRequest(), context);
    for (const code of ["InternalError", "RequestLimitExceeded"]) {
      ec2.faults.add({ operation: "TerminateInstances", end: { kind: "refuse", refusal: { code } } });
    }
    const hasty = { ...context, remainingMs: () => 1_000 };
    await expect(driver.deleteMachine(aRequest(), hasty)).rejects.toMatchObject({ code: "Unavailable" });
    expect(calls.map(({ service, outcome }) => [service, outcome])).toEqual([
      ["instance_get_by_machine", "ok"],
      ["image_get", "ok"],
      ["instance_create", "ok"],
      ["instance_get_by_id", "ok"],
      ["instance_get_by_machine", "ok"],
      ["instance_terminate", "InternalError"],
      ["instance_terminate", "RequestLimitExceeded"],
    ]);
    expect(calls.every(({ seconds }) => seconds > 0 && seconds < 30)).toBe(true);
    expect(JSON.stringify(calls)).not.toContain("secret");
  });

  it("names requests as MCM's driver does, where it makes them too", async () => {
    const services = new Set<string>();
    const { driver } = await aCloud();
    const context = { ...aContext(), reportApiCall: ({ service }: ApiCall) => void services.add(service) };
    const networkInterfaces = [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"], ipv6PrefixCount: 1 }];
    const request = aRequest(aMachine("m"), { srcAndDstChecksEnabled: false, networkInterfaces });
    await driver.createMachine(request, context);
    await driver.initializeMachine?.(request, context);
    await driver.getNodeTemplate?.(request, context);
    await driver.listMachines?.(request, context);
    await driver.deleteMachine(request, context);
    const ofMcm = [
      "create",
      "disable_source_dest_check",
      "get_by_id",
      "get_by_machine",
      "get_by_tag_and_status",
      "terminate",
    ];
    const own = ["image_get", "instance_assign_ipv6_prefixes", "instance_type_get", "subnet_get"];
    expect([...services].toSorted()).toEqual([...ofMcm.map((name) => `instance_${name}`), ...own].toSorted());
  });

  it("writes no secret to errors and logs", async () => {
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
