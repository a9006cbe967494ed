import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ApiCall } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "./driver.ts";
import { aCloud, aContext, aRequest, plainAccount, plainSecret } from "./testing/gcp-cloud.ts";

const run = promisify(execFile);

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

  it("asks only Google where nothing else is said", async () => {
    const asked: string[] = [];
    const real = globalThis.fetch;
    globalThis.fetch = (input) => {
      asked.push(input instanceof Request ? input.url : String(input));
      return Promise.resolve(Response.json({ access_token: "t", expires_in: 3_600 }));
    };
    try {
      // The answer is that of a token, so that it cannot be read as an instance.
      await createGcpDriver()
        .getMachineStatus(aRequest(), aContext())
        .catch(() => undefined);
    } finally {
      globalThis.fetch = real;
    }
    expect(asked).toEqual([
      "https://oauth2.googleapis.com/token",
      "https://compute.googleapis.com/compute/v1/projects/my-project/zones/europe-west1-b/instances/m?",
    ]);
  });

  it("does not load the SDK before it is used, and comes in less than 60 ms after the contract", async () => {
    const index = fileURLToPath(new URL("index.ts", import.meta.url));
    const script = `
      await import("@millwright/core");
      const start = performance.now();
      await import(${JSON.stringify(index)});
      const tookMs = performance.now() - start;
      const { createRequire } = await import("node:module");
      const loaded = Object.keys(createRequire(${JSON.stringify(index)}).cache).filter((file) => /google/.test(file));
      console.log(JSON.stringify({ tookMs, loaded }));`;
    const times: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const { stdout } = await run(
        process.execPath,
        ["--conditions=@millwright/source", "--input-type=module", "--eval", script],
        { cwd: fileURLToPath(new URL("..", import.meta.url)) },
      );
      const { tookMs, loaded }: { tookMs: number; loaded: readonly string[] } = JSON.parse(stdout);
      expect(loaded).toEqual([]);
      times.push(tookMs);
    }
    // The best of three: others use the machine too.
    expect(Math.min(...times)).toBeLessThan(60);
  });
});
