import { type ApiCall, MachineError } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aSpec, canary, codeOf, places } from "./testing/mock-cloud.ts";

const a = aMachine("pool-a-1");

describe.each(places)("the driver, %s", (place) => {
  it("reports every request, with its outcome", async () => {
    const { cloud, driver, requestFor } = await aCloud(place);
    const calls: ApiCall[] = [];
    const reported = { ...aContext(), reportApiCall: (call: ApiCall) => void calls.push(call) };
    await driver.createMachine(requestFor(a), reported);
    await cloud.addFault({ operation: "delete", code: "Unavailable" });
    await expect(codeOf(driver.deleteMachine(requestFor(a), reported))).resolves.toBe("Unavailable");
    expect(calls.map(({ service, outcome }) => [service, outcome])).toEqual([
      ["instance_list", "ok"],
      ["instance_create", "ok"],
      ["instance_list", "ok"],
      ["instance_delete", "Unavailable"],
    ]);
    expect(calls.every(({ seconds }) => seconds >= 0 && seconds < 10)).toBe(true);
  });

  it("never prints a secret value in an error", async () => {
    const { cloud, create } = await aCloud(place);
    const userData = "bootstrap-token-abcdef.0123456789abcdef";
    for (const operation of ["create", "list"] as const) {
      await cloud.addFault({ operation, code: "Internal" });
      const error = await create(a, aSpec(), userData).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(MachineError);
      const printed = `${String(error)} ${JSON.stringify(error)} ${error instanceof Error ? String(error.stack) + String(error.cause) : ""}`;
      expect(printed).not.toContain(canary);
      expect(printed).not.toContain(userData);
      expect(printed).not.toContain(Buffer.from(userData).toString("base64"));
    }
  });

  it("keeps user data out of tags, labels and lists", async () => {
    const { cloud, create } = await aCloud(place);
    await create(a, aSpec(), "bootstrap-token-abcdef");
    expect(JSON.stringify(cloud.vms())).not.toContain("bootstrap-token");
    expect(JSON.stringify(cloud.calls)).not.toContain("bootstrap-token");
  });
});
