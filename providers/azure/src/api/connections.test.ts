import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { createAzureDriver } from "../driver.ts";
import { aCloud, aContext, aRequest, failureOf } from "../testing/azure-cloud.ts";

describe("connections", () => {
  it("without a response end at the deadline of the call, or sooner at that of the request", async () => {
    const { arm, url, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.faults.add({ operation: "VirtualMachines_Get", times: 9, end: { kind: "hang" } });
    await expect(driver.getMachineStatus(aRequest(), aContext(AbortSignal.timeout(50)))).rejects.toMatchObject({
      code: "DeadlineExceeded",
      message: expect.stringContaining("deadline of the call"),
    });
    const hasty = createAzureDriver({ endpoint: url, ca: arm.ca, requestTimeoutMs: 300 });
    arm.faults.clear();
    arm.faults.add({ operation: "VirtualMachines_Get", times: 999, end: { kind: "stall" } });
    // On a busy computer the first token may be late as well.
    await expect
      .poll(() => failureOf(hasty.getMachineStatus(aRequest(), aContext())))
      .toMatchObject({ code: "DeadlineExceeded", message: expect.stringContaining("did not respond in time") });
  });

  it.each(["hang", "stall"] as const)("that %s are not waited for when the process stops", async (kind) => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.log.clear();
    arm.faults.add({ operation: "VirtualMachines_Get", times: 9, end: { kind } });
    const stop = new AbortController();
    const call = driver.getMachineStatus(aRequest(), aContext(stop.signal)).catch((error: unknown) => error);
    await expect.poll(() => arm.log.count("VirtualMachines_Get")).toBe(1);
    stop.abort(new Error("stopped"));
    expect(await call).toMatchObject({ code: "Aborted" });
  });

  it("whose answers have no end are given up", async () => {
    const { arm, driver } = await aCloud();
    const body = Buffer.alloc(65 * 2 ** 20, "x").toString("latin1");
    arm.faults.add({ operation: "VirtualMachines_Get", end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining(": Azure sent a response of more than 67108864 bytes"),
    });
  });

  it("that are refused, or to a server with an untrusted certificate, are Unavailable", async () => {
    const free = await new Promise<number>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const address = server.address();
        server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
      });
    });
    const refused = createAzureDriver({ endpoint: `https://127.0.0.1:${free}` });
    await expect(refused.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    const { url } = await aCloud();
    const strict = createAzureDriver({ endpoint: url });
    await expect(strict.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });
});
