import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/core";
import type { FaultEnd } from "@millwright/emulators/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSecret, secretWithout } from "../testing/azure-cloud.ts";

const applications = { client: { tenant: "tenant", secret: "first-secret" } };
describe("tokens", () => {
  it("are asked for once for many calls", async () => {
    const { arm, driver } = await aCloud({ applications });
    await Promise.all(["a", "b", "c"].map((name) => driver.createMachine(aRequest(aMachine(name)), aContext())));
    for (let call = 0; call < 5; call++) await driver.listMachines?.(aRequest(), aContext());
    // Compute and network ask each for themselves when they ask at the same time.
    expect(arm.log.count("Token")).toBeLessThanOrEqual(2);
  });

  it("are asked for again when they end", async () => {
    // The SDK sees to a new one two minutes before the end.
    const { arm, driver } = await aCloud({ applications, tokenMs: 100_000 });
    await driver.createMachine(aRequest(), aContext());
    const before = arm.log.count("Token");
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toBeDefined();
    await expect.poll(() => arm.log.count("Token")).toBeGreaterThan(before);
  });

  it("are asked for again after one was revoked", async () => {
    const { arm, driver } = await aCloud({ applications });
    await driver.createMachine(aRequest(), aContext());
    arm.world.tokens.clear();
    const look = () => driver.getMachineStatus(aRequest(), aContext());
    await expect(look()).rejects.toMatchObject({ code: "Unauthenticated" });
    await expect(look()).resolves.toMatchObject({ nodeName: "m" });
  });

  it("are asked for with the scope of their cloud, for the tenant of the secret", async () => {
    const { arm, url, driver } = await aCloud({ applications });
    await driver.getMachineStatus(aRequest(), aContext()).catch(() => undefined);
    const asked = arm.log.requests.find(({ operation }) => operation === "Token");
    expect(asked?.path).toMatch(/^\/tenant\/oauth2\/v2\.0\/token\b/);
    const scope = new URLSearchParams(asked?.body).get("scope") ?? "";
    expect(scope.split(" ")).toContain(`${url}/.default`);
  });

  it.each<[string, FaultEnd]>([
    ["fails", { kind: "reply", reply: { status: 500, body: "<html>" } }],
    [
      "asks to wait for an hour",
      { kind: "reply", reply: { status: 429, headers: { "retry-after": "3600" }, body: "{}" } },
    ],
    ["breaks the connection", { kind: "reset" }],
  ])("are Unavailable while Entra ID %s", async (_, end) => {
    const { arm, driver } = await aCloud({ applications });
    arm.faults.add({ operation: "Token", times: 9, end });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    arm.faults.clear();
    await driver.createMachine(aRequest(), aContext());
  });

  it("are Unavailable while Entra ID reports a transient failure", async () => {
    const { arm, driver } = await aCloud({ applications });
    const body = JSON.stringify({
      error: "temporarily_unavailable",
      error_description: "AADSTS90033: A transient error",
    });
    const reply = { status: 503, headers: { "content-type": "application/json" }, body };
    arm.faults.add({ operation: "Token", times: 9, end: { kind: "reply", reply } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("AADSTS90033"),
    });
  });

  it("are not waited for when the deadline of the call has passed", async () => {
    const { arm, driver } = await aCloud({ applications });
    arm.faults.add({ operation: "Token", times: 9, end: { kind: "hang" } });
    const deadline = new AbortController();
    const call = driver.getMachineStatus(aRequest(), aContext(deadline.signal)).catch((error: unknown) => error);
    await expect.poll(() => arm.log.count("Token")).toBe(1);
    deadline.abort(new DOMException("too late", "TimeoutError"));
    expect(await call).toMatchObject({ code: "DeadlineExceeded" });
  });

  it("are refused to a wrong secret: the message names the keys and no value", async () => {
    const { driver } = await aCloud({ applications });
    const secret = { ...plainSecret, clientSecret: "wrong-secret" };
    const failure: unknown = await driver
      .getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext())
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/AADSTS7000215.*"clientSecret"/),
    });
    expect(String(failure)).not.toMatch(/wrong-secret|Trace ID|Timestamp/);
  });

  it("that are not allowed something make it PermissionDenied", async () => {
    const { driver } = await aCloud({ applications: { client: { ...applications.client, subscriptions: [] } } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "PermissionDenied" });
  });

  it("come by a new secret from the next call on", async () => {
    const { arm, driver } = await aCloud({ applications });
    await driver.createMachine(aRequest(), aContext());
    arm.world.applications?.set("client", { tenant: "tenant", secret: "second-secret" });
    arm.world.tokens.clear();
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unauthenticated" });
    const secret = { ...plainSecret, clientSecret: "second-secret" };
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext())).resolves.toBeDefined();
  });

  it("of 100 creations that go on while the secret is rotated lead to one VM each", { timeout: 60_000 }, async () => {
    const { arm, driver } = await aCloud({ applications, latencyMs: 2 });
    let current = plainSecret;
    const create = async (name: string): Promise<void> => {
      for (;;) {
        const failure: unknown = await driver
          .createMachine(aRequest(aMachine(name), {}, current), aContext())
          .catch((error: unknown) => error);
        if (!(failure instanceof Error)) return;
        // A launch that was accepted is not rejected afterwards.
        expect(failure).toMatchObject({ code: expect.stringMatching(/^(Unauthenticated|Unavailable)$/) });
        await systemClock.sleep(20);
      }
    };
    const all = Promise.all(Array.from({ length: 100 }, (_, index) => create(`m-${index}`)));
    await expect.poll(() => arm.inventory().vms.length).toBeGreaterThan(20);
    arm.world.applications?.set("client", { tenant: "tenant", secret: "second-secret" });
    arm.world.tokens.clear();
    await systemClock.sleep(50);
    current = { ...plainSecret, clientSecret: "second-secret" };
    await all;
    expect(arm.inventory().vms).toHaveLength(100);
  });

  it("of two applications that are used at once are never mixed", async () => {
    const { arm, driver } = await aCloud({
      applications: {
        client: { tenant: "tenant", secret: "first-secret", subscriptions: ["sub-1"] },
        other: { tenant: "tenant", secret: "other-secret", subscriptions: ["sub-2"] },
      },
    });
    const other = { ...plainSecret, clientID: "other", clientSecret: "other-secret", subscriptionID: "sub-2" };
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const request = aRequest(aMachine(`m-${index}`), {}, index % 2 === 0 ? plainSecret : other);
        const machineClass = { ...request.machineClass, name: `pool-${index % 2}` };
        await driver.createMachine({ ...request, machineClass }, aContext());
      }),
    );
    const mixed = arm
      .inventory()
      .vms.filter(({ id, name }) => id.includes("sub-1") !== (Number(name.slice(2)) % 2 === 0));
    expect(mixed).toEqual([]);
    expect(arm.inventory().vms).toHaveLength(20);
  });
});

describe("a workload identity", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-azure-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const federated = { client: { tenant: "tenant", assertion: "good-token" } };
  const secretWith = (file: string) => ({ ...secretWithout("clientSecret"), workloadIdentityTokenFile: file });

  it("exchanges the token of its file", async () => {
    const { arm, driver } = await aCloud({ applications: federated });
    const file = join(folder, "token");
    await writeFile(file, "good-token");
    await driver.createMachine(aRequest(aMachine("m"), {}, secretWith(file)), aContext());
    expect(arm.vm("m").name).toBe("m");
    const exchange = arm.log.requests.find(({ operation }) => operation === "Token");
    expect(exchange?.body).toContain("client_assertion=good-token");
  });

  it("is refused with a token that is not good", async () => {
    const { driver } = await aCloud({ applications: federated });
    const file = join(folder, "token");
    await writeFile(file, "expired-token");
    await expect(
      driver.getMachineStatus(aRequest(aMachine("m"), {}, secretWith(file)), aContext()),
    ).rejects.toMatchObject({ code: "Unauthenticated", message: expect.stringContaining("AADSTS700024") });
  });

  it("names the key of the secret when its file is not there", async () => {
    const { driver } = await aCloud({ applications: federated });
    await expect(
      driver.getMachineStatus(aRequest(aMachine("m"), {}, secretWith(join(folder, "none"))), aContext()),
    ).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining("workloadIdentityTokenFile"),
    });
  });
});
