import { type FaultEnd, refuse } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, failureOf } from "../testing/gcp-cloud.ts";

describe("refusals of Compute Engine", () => {
  it.each<[string, object, string]>([
    ["quotaExceeded", {}, "ResourceExhausted"],
    ["forbidden", { message: "Quota 'CPUS' exceeded.  Limit: 3.0 in region x." }, "ResourceExhausted"],
    ["limitExceeded", { status: 403 }, "ResourceExhausted"],
    ["ZONE_RESOURCE_POOL_EXHAUSTED", { status: 503 }, "ResourceExhausted"],
    ["invalid", { message: "Machine type with name 'x' does not exist in zone 'z'." }, "ResourceExhausted"],
    ["backendError", {}, "Unavailable"],
    ["internalError", {}, "Unavailable"],
    ["forbidden", {}, "PermissionDenied"],
    ["accessNotConfigured", {}, "PermissionDenied"],
    ["authError", {}, "Unauthenticated"],
    ["invalid", {}, "InvalidArgument"],
    ["required", {}, "InvalidArgument"],
    ["badRequest", {}, "InvalidArgument"],
    ["notFound", { message: "The resource 'projects/p/global/images/x' was not found" }, "InvalidArgument"],
    ["conditionNotMet", { status: 412 }, "FailedPrecondition"],
    ["resourceInUseByAnotherResource", {}, "FailedPrecondition"],
    ["resourceNotReady", {}, "Aborted"],
    ["AnUnknownCode", {}, "InvalidArgument"],
    ["AnUnknownCode", { status: 409 }, "Aborted"],
    ["AnUnknownCode", { status: 500 }, "Unavailable"],
  ])("%s %o while creating is %s", async (code, more, expected) => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", times: 9, end: refuse(code, { message: "because", ...more }) });
    const error = await failureOf(driver.createMachine(aRequest(), aContext()));
    expect(error).toMatchObject({ code: expected });
    expect(String(error)).toMatch(/creating n2-standard-2 in europe-west1-b \(my-project\): /);
    expect(String(error)).toContain(`(${code})`);
    gce.faults.clear();
    await driver.createMachine(aRequest(), aContext());
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it.each<[string, number, string]>([
    ["RESOURCE_POOL_EXHAUSTED", 503, "ResourceExhausted"],
    ["ZONE_RESOURCE_POOL_EXHAUSTED", 503, "ResourceExhausted"],
    ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", 503, "ResourceExhausted"],
    ["QUOTA_EXCEEDED", 403, "ResourceExhausted"],
    ["IP_SPACE_EXHAUSTED", 400, "ResourceExhausted"],
    ["IP_SPACE_EXHAUSTED_WITH_DETAILS", 400, "ResourceExhausted"],
    ["RESERVATION_CAPACITY_EXCEEDED", 400, "ResourceExhausted"],
    ["PERMISSIONS_ERROR", 403, "PermissionDenied"],
    ["VM_EXTERNAL_IP_ACCESS_POLICY_CONSTRAINT", 412, "PermissionDenied"],
    ["CONDITION_NOT_MET", 412, "FailedPrecondition"],
    ["INTERNAL_ERROR", 500, "Unavailable"],
    ["RESOURCE_NOT_FOUND", 404, "InvalidArgument"],
    ["INVALID_FIELD_VALUE", 400, "InvalidArgument"],
    ["UNSUPPORTED_OPERATION", 400, "InvalidArgument"],
    ["AN_UNKNOWN_CODE", 0, "Unavailable"],
  ])("in an operation keep their code: %s is %s", async (code, httpErrorStatusCode, expected) => {
    const { gce, driver } = await aCloud({ operationMs: 60_000 });
    const operation = {
      id: "1",
      name: "o",
      status: "DONE",
      error: { errors: [{ code, message: "because" }] },
      httpErrorStatusCode,
    };
    gce.faults.add({
      operation: "zoneOperations.get",
      end: { kind: "reply", reply: { status: 200, body: JSON.stringify(operation) } },
    });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: expected,
      tokenIsSpent: true,
      message: expect.stringMatching(new RegExp(`because \\(${code}\\)`)),
    });
  });

  it("of one operation are all reported, and a lack of capacity has precedence", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 });
    const errors = [
      { code: "INTERNAL_ERROR", message: "one" },
      { code: "QUOTA_EXCEEDED", message: "two" },
      { code: "CONDITION_NOT_MET", message: "three" },
    ];
    const body = JSON.stringify({ id: "1", name: "o", status: "DONE", error: { errors }, httpErrorStatusCode: 403 });
    gce.faults.add({ operation: "zoneOperations.get", end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringContaining("one; two; three (QUOTA_EXCEEDED)"),
    });
  });

  it("in an operation with only a status are errors, too", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 });
    const body = JSON.stringify({
      id: "1",
      name: "o",
      status: "DONE",
      error: { errors: [] },
      httpErrorStatusCode: 403,
    });
    gce.faults.add({ operation: "zoneOperations.get", end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "PermissionDenied" });
  });

  it.each([
    ["createMachine", "instances.get"],
    ["createMachine", "instances.insert"],
    ["createMachine", "zoneOperations.get"],
    ["createMachine", "oauth2.token"],
    ["deleteMachine", "instances.get"],
    ["deleteMachine", "instances.delete"],
    ["deleteMachine", "zoneOperations.get"],
    ["getMachineStatus", "instances.get"],
    ["listMachines", "instances.list"],
    ["deleteMachine", "disks.list"],
    ["deleteMachine", "disks.delete"],
    ["findDrift", "instances.get"],
    ["findDrift", "disks.list"],
    ["getNodeTemplate", "machineTypes.get"],
  ] as const)("in %s at %s never are Internal, and each call can be made again", async (method, operation) => {
    const { gce, driver } = await aCloud({ operationMs: 2 });
    const ends: readonly (readonly [FaultEnd, string])[] = [
      [refuse("forbidden"), "PermissionDenied"],
      [refuse("authError"), "Unauthenticated"],
      [refuse("internalError"), "Unavailable"],
      [refuse("backendError"), "Unavailable"],
      [{ kind: "reset" }, "Unavailable"],
      [
        { kind: "reply", reply: { status: 502, headers: { "content-type": "text/html" }, body: "<html>bad" } },
        "Unavailable",
      ],
      [
        { kind: "reply", reply: { status: 404, headers: { "content-type": "text/html" }, body: "<html>bad" } },
        "Unavailable",
      ],
      [
        { kind: "reply", reply: { status: 302, headers: { location: "http://169.254.169.254/" }, body: "" } },
        "Unavailable",
      ],
      [{ kind: "reply", reply: { status: 200, body: "not JSON at all" } }, "Unavailable"],
      // Last, for it has its effect.
      [{ kind: "truncate" }, "Unavailable"],
    ];
    const codes: unknown[] = [];
    for (const [index, [end]] of ends.entries()) {
      // A machine and a class of its own, so that each makes every request; a token that was there is not good any more.
      const plain = aRequest(aMachine(`m-${index}`));
      const request = { ...plain, machineClass: { ...plain.machineClass, name: `pool-${index}` } };
      if (method !== "createMachine") await driver.createMachine(request, aContext());
      if (operation === "oauth2.token") gce.world.accessTokens.clear();
      if (method === "deleteMachine" && operation.startsWith("disks.")) gce.remove(`m-${index}`, { keepDisks: true });
      gce.faults.add({ operation, times: 100, end });
      const failure = await failureOf(driver[method]?.(request, aContext()));
      codes.push(failure instanceof Error ? Reflect.get(failure, "code") : failure);
      gce.faults.clear();
      await expect(driver[method]?.(request, aContext())).resolves.toBeDefined();
    }
    // The launch was accepted: its token is kept.
    const isOpen = method === "createMachine" && operation === "zoneOperations.get";
    expect(codes).toEqual(ends.map(([, code]) => (isOpen ? "Unavailable" : code)));
  });

  it.each([
    ["rateLimitExceeded", 403],
    ["rateLimitExceeded", 429],
    ["userRateLimitExceeded", 403],
  ])("%s with status %i ends a call only when its time does not last", async (code, status) => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", end: refuse(code, { status }) });
    await expect(driver.createMachine(aRequest(), aContext(undefined, 1_000))).rejects.toMatchObject({
      code: "Unavailable",
      message: `Compute Engine throttles instance_create (${code}): the wait for a turn exceeds the deadline of the call`,
      retryAfterMs: expect.closeTo(1_000, -3),
    });
    await driver.createMachine(aRequest(), aContext());
    expect([gce.log.count("instances.insert"), gce.inventory().instances.length]).toEqual([2, 1]);
  });

  it.each([
    ["rateLimitExceeded", 429],
    ["backendError", 503],
  ])("with a delay longer than a call have retryAfterMs: %s", async (code, status) => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.get", end: refuse(code, { status, retryAfterS: 400 }) });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      retryAfterMs: expect.closeTo(400_000, -4),
    });
    expect(gce.log.count("instances.get")).toBe(1);
  });

  it("are repeated at most twice, and not at all where that is no use", async () => {
    const { gce, driver } = await aCloud();
    for (const [code, attempts] of [
      ["internalError", 3],
      ["quotaExceeded", 1],
      ["invalid", 1],
      ["forbidden", 1],
    ] as const) {
      gce.log.clear();
      gce.faults.add({ operation: "instances.insert", times: 9, end: refuse(code) });
      await failureOf(driver.createMachine(aRequest(), aContext()));
      gce.faults.clear();
      expect([code, gce.log.count("instances.insert")]).toEqual([code, attempts]);
    }
  });

  it("name the remedy", async () => {
    const { gce, driver } = await aCloud();
    for (const [code, remedy] of [
      ["accessNotConfigured", "enable the Compute Engine API"],
      ["forbidden", "grant the service account the role"],
    ] as const) {
      gce.faults.add({ operation: "instances.get", end: refuse(code) });
      await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toThrow(remedy);
    }
  });
});
