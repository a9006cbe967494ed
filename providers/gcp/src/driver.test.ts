import type { ApiCall } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "./driver.ts";
import { aCloud, aContext, aMachine, aRequest, plainAccount, plainSecret, secretWith } from "./testing/gcp-cloud.ts";

describe("the driver", () => {
  it("reports every request, for metrics, and no secret with it", async () => {
    const calls: ApiCall[] = [];
    const context = { ...aContext(), reportApiCall: (call: ApiCall) => void calls.push(call) };
    const { gce, driver } = await aCloud({ operationMs: 5 });
    await driver.createMachine(aRequest(), context);
    const end = { kind: "refuse", refusal: { code: "rateLimitExceeded" } } as const;
    gce.faults.add({ operation: "instances.delete", times: 3, end });
    await expect(driver.deleteMachine(aRequest(), context)).rejects.toMatchObject({ code: "Unavailable" });
    await driver.listMachines?.(aRequest(), context);
    await driver.getNodeTemplate?.(aRequest(), context);
    expect(calls.map(({ service, outcome }) => [service, outcome])).toEqual([
      // That there is none is an answer.
      ["instance_get", "ok"],
      ["instance_create", "ok"],
      ["operations_get", "ok"],
      ["instance_get", "ok"],
      ["instance_get", "ok"],
      ["instance_delete", "rateLimitExceeded"],
      ["instance_list", "ok"],
      ["machine_type_get", "ok"],
    ]);
    expect(calls.every(({ seconds }) => seconds >= 0)).toBe(true);
    expect(JSON.stringify(calls)).not.toContain("echo hello");
  });

  it("says no secret in errors and logs", async () => {
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

  it.each(["googleapis.com", "cloud.example.eu"])("asks only Google where nothing else is said: %s", async (domain) => {
    const asked: string[] = [];
    const real = globalThis.fetch;
    globalThis.fetch = (input) => {
      asked.push(input instanceof Request ? input.url : String(input));
      return Promise.resolve(Response.json({ access_token: "t", expires_in: 3_600 }));
    };
    const account = { ...plainAccount, universe_domain: domain, token_uri: `https://oauth2.${domain}/token` };
    try {
      // The answer is that of a token, so that it cannot be read as an instance.
      await createGcpDriver()
        .getMachineStatus(aRequest(aMachine("m"), {}, secretWith(account)), aContext())
        .catch(() => undefined);
    } finally {
      globalThis.fetch = real;
    }
    expect(asked).toEqual([
      `https://oauth2.${domain}/token`,
      `https://compute.${domain}/compute/v1/projects/my-project/zones/europe-west1-b/instances/m?`,
    ]);
  });

  it("has nothing to do for the initialization of machines", () => {
    expect(createGcpDriver().capabilities).toMatchObject({ initializeMachine: false });
  });
});
