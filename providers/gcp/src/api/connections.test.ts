import { createVirtualClock } from "@millwright/core/testing";
import { listenWithRubbish } from "@millwright/emulators/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGcpDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, failureOf } from "../testing/gcp-cloud.ts";

describe("connections", () => {
  it("that are refused are Unavailable", async () => {
    const { gce, driver } = await aCloud();
    await gce.close();
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("is unreachable"),
    });
  });

  it("to a host that has no name are Unavailable", async () => {
    const { driver } = await aCloud({}, { endpoint: "http://no-such-host.invalid" });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });

  it("to token services are distinguished from those to Compute Engine", async () => {
    const { gce, driver } = await aCloud();
    const messages: unknown[] = [];
    for (const end of [
      { kind: "reset" },
      { kind: "reply", reply: { status: 502, body: "<html>" } },
      { kind: "reply", reply: { status: 200, body: "x" } },
    ] as const) {
      gce.faults.add({ operation: "oauth2.token", times: 3, end });
      messages.push(await failureOf(driver.getMachineStatus(aRequest(), aContext())));
    }
    const service = "looking for the VM: Google's token service oauth2.googleapis.com";
    expect(messages).toMatchObject([
      { code: "Unavailable", message: `${service} is unreachable (ECONNRESET)` },
      { code: "Unavailable", message: `${service} sent an unreadable response with status 502` },
      { code: "Unavailable", message: `${service} sent an unreadable response with status 200` },
    ]);
    expect(gce.log.count("oauth2.token")).toBe(9);
  });

  it("that are no TLS are Unavailable", async () => {
    const { url } = await aCloud();
    const secure = createGcpDriver({ endpoint: url.replace("http:", "https:") });
    await expect(secure.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });

  it.each([{ kind: "hang" }, { kind: "stall" }] as const)(
    "that never answer, or not to the end, are over after the time for one request: %o",
    async (end) => {
      const clock = createVirtualClock({ now: new Date() });
      const { gce, driver } = await aCloud({}, { clock });
      gce.faults.add({ operation: "machineTypes.get", end });
      const failure = failureOf(driver.getNodeTemplate?.(aRequest(), aContext()));
      await expect
        .poll(async () => {
          // The driver waits a moment for others who need a token.
          await clock.advance(5);
          return gce.log.count("machineTypes.get");
        })
        .toBe(1);
      await clock.advance(30_000);
      expect(await failure).toMatchObject({
        code: "DeadlineExceeded",
        message: expect.stringContaining("did not respond in time"),
      });
      await expect(driver.getNodeTemplate?.(aRequest(), aContext())).resolves.toBeDefined();
    },
  );

  it.each([
    ["the deadline", new DOMException("too late", "TimeoutError"), "DeadlineExceeded", "the deadline of the call"],
    ["the end of the process", new Error("stopping"), "Aborted", "the call was aborted"],
  ])("are given up by %s, in every method and at once", async (_, reason, code, message) => {
    const { gce, driver } = await aCloud();
    const request = aRequest();
    await driver.createMachine(request, aContext());
    for (const method of [
      "createMachine",
      "deleteMachine",
      "getMachineStatus",
      "listMachines",
      "findDrift",
      "getNodeTemplate",
    ] as const) {
      gce.faults.add({ operation: "*", end: { kind: "hang" } });
      gce.log.clear();
      const stop = new AbortController();
      const failure = failureOf(driver[method]?.(request, aContext(stop.signal)));
      await expect.poll(() => gce.log.count()).toBe(1);
      stop.abort(reason);
      // The timeout of one request would have another code.
      expect(await failure).toMatchObject({ code, message: expect.stringContaining(message) });
      // Its connection is closed.
      await expect.poll(() => gce.log.requests[0]?.end).toBe("hang");
      gce.faults.clear();
    }
    await expect(
      driver.deleteMachine(request, aContext(AbortSignal.abort(new Error("stopped")))),
    ).rejects.toMatchObject({ code: "Aborted" });
  });

  it("that get rubbish for an answer are Unavailable", async () => {
    const rubbish = await listenWithRubbish();
    onTestFinished(() => rubbish.close());
    const driver = createGcpDriver({ endpoint: rubbish.url });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });

  it("that bring more than any answer has are given up, and not asked again", async () => {
    const { gce, driver } = await aCloud();
    const body = " ".repeat(65 * 2 ** 20);
    gce.faults.add({ operation: "instances.get", times: 9, end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: "looking for the VM: Compute Engine sent a response of more than 67108864 bytes",
    });
    expect(gce.log.count("instances.get")).toBe(1);
  });

  it("with unreadable responses are Unavailable", async () => {
    const { gce, driver } = await aCloud();
    const body = JSON.stringify({ id: 7, name: 5, status: { a: 1 } });
    gce.faults.add({ operation: "instances.get", times: 9, end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.getMachineStatus(aRequest(aMachine("m")), aContext())).rejects.toMatchObject({
      code: "Unavailable",
    });
  });
});
