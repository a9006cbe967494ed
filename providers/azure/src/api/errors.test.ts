import { type FaultEnd, refuse } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  failureOf,
  plainProperties,
  plainSecret,
} from "../testing/azure-cloud.ts";

const codes: readonly (readonly [string, string])[] = [
  ["ZonalAllocationFailed", "ResourceExhausted"],
  ["AllocationFailed", "ResourceExhausted"],
  ["OverconstrainedAllocationRequest", "ResourceExhausted"],
  ["OverconstrainedZonalAllocationRequest", "ResourceExhausted"],
  ["SkuNotAvailable", "ResourceExhausted"],
  ["ResourceQuotaExceeded", "ResourceExhausted"],
  ["QuotaExceeded", "ResourceExhausted"],
  ["OperationNotAllowed", "FailedPrecondition"],
  ["Conflict", "Aborted"],
  ["RetryableError", "Aborted"],
  ["AnotherOperationInProgress", "Aborted"],
  ["OperationPreempted", "Aborted"],
  ["PropertyChangeNotAllowed", "FailedPrecondition"],
  ["InternalServerError", "Unavailable"],
  ["AuthorizationFailed", "PermissionDenied"],
  ["LinkedAuthorizationFailed", "PermissionDenied"],
  ["RequestDisallowedByPolicy", "PermissionDenied"],
  ["InvalidAuthenticationToken", "Unauthenticated"],
  ["VMMarketplaceInvalidInput", "InvalidArgument"],
  ["BadRequest", "InvalidArgument"],
  ["InvalidParameter", "InvalidArgument"],
  ["AnUnknownCode", "InvalidArgument"],
  ["KeyVaultAccessForbidden", "FailedPrecondition"],
  ["MissingSubscriptionRegistration", "FailedPrecondition"],
  ["DiskProcessingError", "Unavailable"],
];

/** Ways in which a request fails, and what each is in the contract. */
const ends: readonly (readonly [FaultEnd, string])[] = [
  [refuse("AuthorizationFailed"), "PermissionDenied"],
  [refuse("InternalServerError"), "Unavailable"],
  [refuse("ServiceUnavailable"), "Unavailable"],
  [{ kind: "reset" }, "Unavailable"],
  [
    { kind: "reply", reply: { status: 502, headers: { "content-type": "text/html" }, body: "<html>bad" } },
    "Unavailable",
  ],
  [
    { kind: "reply", reply: { status: 200, headers: { "content-type": "application/json" }, body: "{no" } },
    "Unavailable",
  ],
  // The SDK would read a resource without fields, or an empty list.
  [
    { kind: "reply", reply: { status: 200, headers: { "content-type": "text/html" }, body: "<html>log in</html>" } },
    "Unavailable",
  ],
  // Last, for it has its effect.
  [{ kind: "truncate" }, "Unavailable"],
];

describe("refusals of Azure", () => {
  it.each<readonly [string, string]>([
    ...codes,
    ["InvalidRequestContent", "InvalidArgument"],
    ["PlatformImageNotFound", "InvalidArgument"],
  ])("%s while creating is %s", async (code, expected) => {
    const { arm, driver } = await aCloud();
    arm.faults.add({
      operation: "VirtualMachines_CreateOrUpdate",
      times: 9,
      end: refuse(code, { message: "because" }),
    });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: expected,
      message: expect.stringContaining(`creating Standard_D2s_v5 in zone 1 (westeurope): because (${code})`),
    });
    arm.faults.clear();
    await driver.createMachine(aRequest(), aContext());
    expect(arm.inventory().vms).toHaveLength(1);
  });

  it("that a namespace is not registered have the command that registers it", async () => {
    const { arm, driver } = await aCloud();
    const message =
      "The subscription is not registered to use namespace 'Microsoft.Network'. See https://aka.ms/rps-not-found";
    const end = refuse("MissingSubscriptionRegistration", { message, status: 409 });
    arm.faults.add({ operation: "NetworkInterfaces_CreateOrUpdate", end });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "FailedPrecondition",
      message: expect.stringMatching(
        /; run "az provider register --namespace Microsoft\.Network" for this subscription$/,
      ),
    });
  });

  it.each([
    ["AnInternalFailure", "Unavailable"],
    ["RequestTimedOut", "Unavailable"],
    ["ServiceNotReady", "Unavailable"],
  ])("with the unknown code %s at the end of an operation are %s", async (code, expected) => {
    const { arm, driver } = await aCloud();
    arm.world.vmFailures.set("m", { code, message: "because" });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: expected });
  });

  it.each(codes)("%s at the end of an operation is %s as well", async (code, expected) => {
    const { arm, driver } = await aCloud();
    arm.world.vmFailures.set("m", { code, message: "because" });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: expected,
      message: expect.stringContaining(`because (${code})`),
    });
  });

  it.each<[string, object, string]>([
    ["that ended without a reason", { status: "Failed" }, "Unavailable"],
    ["that was canceled", { status: "Canceled" }, "Canceled"],
    [
      "with an inner error",
      {
        status: "Failed",
        error: { code: "AllocationFailed", message: "no", innererror: { code: "Deep", message: "x" } },
      },
      "ResourceExhausted",
    ],
  ])("are read from an operation %s", async (_, answer, expected) => {
    const { arm, driver } = await aCloud();
    const reply = { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(answer) };
    arm.world.vmFailures.set("m", { code: "Other", message: "other" });
    arm.faults.add({ operation: "Operations_Get", match: "m", end: { kind: "reply", reply } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: expected });
  });

  it.each([
    ["OperationNotAllowed", "results in exceeding approved Total Regional Cores quota", "ResourceExhausted"],
    ["OperationNotAllowed", "exceeding approved LowPriorityCores quota", "ResourceExhausted"],
    ["BadRequest", "The VM size is not   supported in this region", "ResourceExhausted"],
  ])('%s with the text "%s" is %s', async (code, message, expected) => {
    const { arm, driver } = await aCloud();
    arm.faults.add({ operation: "VirtualMachines_CreateOrUpdate", end: refuse(code, { message }) });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: expected });
  });

  it("about subnet, group and image are about the class, not about the VM, and no VM or disk is made", async () => {
    const { arm, driver } = await aCloud();
    const { storageProfile } = plainProperties;
    for (const [change, text] of [
      [{ spec: { subnetInfo: { vnetName: "vnet", subnetName: "none" } } }, "InvalidResourceReference"],
      [
        { spec: { subnetInfo: { vnetName: "vnet", subnetName: "nodes", vnetResourceGroup: "none" } } },
        "InvalidResourceReference",
      ],
      [{ spec: { resourceGroup: "none" } }, "ResourceGroupNotFound"],
      [{ properties: { storageProfile: { ...storageProfile, imageReference: { id: "/missing" } } } }, "NotFound"],
    ] as const) {
      await expect(driver.createMachine(aRequest(aMachine("m"), change), aContext())).rejects.toMatchObject({
        code: "InvalidArgument",
        message: expect.stringContaining(text),
      });
    }
    expect(arm.inventory()).toMatchObject({ vms: [], disks: [] });
  });

  it("about a full subnet are a lack of capacity", async () => {
    const { driver } = await aCloud({ subnets: { "shoot/vnet/nodes": { addresses: 0 } } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringContaining('NIC "m-nic" in subnet "nodes"'),
    });
  });

  it.each([
    ["createMachine", "VirtualMachines_Get"],
    ["createMachine", "NetworkInterfaces_List"],
    ["createMachine", "NetworkInterfaces_CreateOrUpdate"],
    ["createMachine", "Disks_ListByResourceGroup"],
    ["createMachine", "Disks_CreateOrUpdate"],
    ["createMachine", "VirtualMachines_CreateOrUpdate"],
    ["deleteMachine", "VirtualMachines_Get"],
    ["deleteMachine", "VirtualMachines_Delete"],
    ["deleteMachine", "NetworkInterfaces_List"],
    ["deleteMachine", "Disks_ListByResourceGroup"],
    ["getMachineStatus", "VirtualMachines_Get"],
    ["listMachines", "VirtualMachines_List"],
    ["listMachines", "NetworkInterfaces_List"],
    ["listMachines", "Disks_ListByResourceGroup"],
    ["findDrift", "VirtualMachines_Get"],
    ["getNodeTemplate", "ResourceSkus_List"],
  ] as const)("in %s at %s never are Internal, and each call can be made again", async (method, operation) => {
    const { arm, driver } = await aCloud();
    const dataDisks = [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/data" } }];
    const properties = { storageProfile: { ...plainProperties.storageProfile, dataDisks } };
    const request = aRequest(aMachine("m"), { properties });
    if (method !== "createMachine") await driver.createMachine(request, aContext());
    // The answer to a deletion has no body that could be cut.
    const tried = operation === "VirtualMachines_Delete" ? ends.slice(0, -1) : ends;
    const found: unknown[] = [];
    for (const [end] of tried) {
      arm.faults.add({ operation, times: 100, end });
      const failure = await failureOf(driver[method]?.(request, aContext()));
      found.push(failure instanceof Error ? Reflect.get(failure, "code") : failure);
      arm.faults.clear();
    }
    expect(found).toEqual(tried.map(([, code]) => code));
    await expect(driver[method]?.(request, aContext())).resolves.toBeDefined();
  });

  it.each(ends.map(([end, code], index) => ({ end, code, index })))(
    "in looks at what is being created end the call when they last ($index)",
    async ({ end, code }) => {
      const { arm, driver } = await aCloud();
      arm.faults.add({ operation: "NetworkInterfaces_Get", times: 100, end });
      await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code });
      arm.faults.clear();
      await driver.createMachine(aRequest(), aContext());
      expect(arm.inventory()).toMatchObject({ vms: [{ name: "m" }], nics: [{ name: "m-nic" }] });
    },
  );

  it("in a look at what is being created are waited for when they pass", async () => {
    const { arm, driver } = await aCloud({ vmMs: 50 });
    arm.faults.add({ operation: "VirtualMachines_Get", skip: 1, times: 4, end: refuse("InternalServerError") });
    await driver.createMachine(aRequest(), aContext());
    expect(arm.vm("m").provisioningState).toBe("Succeeded");
  });

  it("with a delay have retryAfterMs, and the call does not wait", async () => {
    const { arm, driver } = await aCloud();
    arm.faults.add({
      operation: "VirtualMachines_Get",
      end: refuse("TooManyRequests", { message: "slow", retryAfterS: 3_600 }),
    });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      retryAfterMs: expect.closeTo(3_600_000, -5),
    });
    expect(arm.log.count("VirtualMachines_Get")).toBe(1);
  });

  it("for their rate end a call only when its time does not last", async () => {
    const { arm, driver } = await aCloud();
    arm.faults.add({ operation: "VirtualMachines_CreateOrUpdate", end: refuse("TooManyRequests", { retryAfterS: 1 }) });
    await expect(driver.createMachine(aRequest(), aContext(undefined, 1_000))).rejects.toMatchObject({
      code: "Unavailable",
      message: "Azure throttles virtual_machine_create (429): the wait for a turn exceeds the deadline of the call",
      retryAfterMs: expect.closeTo(1_000, -3),
    });
    await driver.createMachine(aRequest(), aContext());
    expect([arm.log.count("VirtualMachines_CreateOrUpdate"), arm.inventory().vms.length]).toEqual([2, 1]);
  });

  it.each(["retry-after-ms", "x-ms-retry-after-ms"])(
    "with a delay in %s are retried when it is short, and returned when it is long",
    async (header) => {
      const { arm, driver } = await aCloud();
      const asking = (wait: string): FaultEnd => ({
        kind: "reply",
        reply: { status: 503, headers: { [header]: wait }, body: "" },
      });
      await driver.createMachine(aRequest(), aContext());
      arm.faults.add({ operation: "VirtualMachines_Get", times: 2, end: asking("5") });
      await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toBeDefined();
      arm.faults.add({ operation: "VirtualMachines_Get", times: 9, end: asking("5") });
      await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
      arm.faults.clear();
      arm.faults.add({ operation: "VirtualMachines_Get", times: 9, end: asking("3600000") });
      await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
        code: "Unavailable",
        retryAfterMs: 3_600_000,
      });
    },
  );

  it("without a body have their code in a header", async () => {
    const { arm, driver } = await aCloud();
    const reply = { status: 409, headers: { "x-ms-error-code": "SkuNotAvailable" }, body: "" };
    arm.faults.add({ operation: "VirtualMachines_CreateOrUpdate", end: { kind: "reply", reply } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "ResourceExhausted" });
  });

  it("are read from a resource in a failed state", async () => {
    const { arm, driver } = await aCloud();
    const body = JSON.stringify({ name: "m-nic", properties: { provisioningState: "Failed" } });
    const reply = { status: 200, headers: { "content-type": "application/json" }, body };
    arm.faults.add({ operation: "NetworkInterfaces_CreateOrUpdate", end: { kind: "reply", reply } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining('creating NIC "m-nic"'),
    });
    await driver.createMachine(aRequest(), aContext());
    expect(arm.inventory().vms).toHaveLength(1);
  });

  it("are logged with the ids by which Azure finds them", async () => {
    const { arm, driver } = await aCloud();
    const idsIn = (lines: readonly string[]): unknown[] =>
      lines.map((line) => JSON.parse(line.slice(line.indexOf("{"))));
    const ids = {
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      correlationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    };
    const refused = aContext();
    arm.faults.add({ operation: "NetworkInterfaces_List", end: refuse("AuthorizationFailed") });
    await expect(driver.createMachine(aRequest(), refused)).rejects.toMatchObject({ code: "PermissionDenied" });
    expect(idsIn(refused.lines)).toEqual([ids]);
    const exhausted = aContext();
    arm.world.capacity.set("Standard_D2s_v5", 0);
    await expect(driver.createMachine(aRequest(), exhausted)).rejects.toMatchObject({ code: "ResourceExhausted" });
    expect(idsIn(exhausted.lines)).toEqual([ids]);
    const answered = aContext();
    await expect(driver.getMachineStatus(aRequest(), answered)).rejects.toMatchObject({ code: "NotFound" });
    expect(answered.lines).toEqual([]);
  });

  it("are repeated only so often within a call", async () => {
    const { arm, driver } = await aCloud();
    arm.faults.add({ operation: "VirtualMachines_Get", times: 99, end: refuse("InternalServerError") });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    expect(arm.log.count("VirtualMachines_Get")).toBe(3);
  });

  it("have constant messages, without request ids", async () => {
    const { arm, driver } = await aCloud();
    const message = "no. Trace ID: 0000-1 Correlation ID: abc-2 Timestamp: 2026-11-21 10:00:00Z";
    arm.faults.add({ operation: "VirtualMachines_Get", end: refuse("AuthorizationFailed", { message }) });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      message: expect.stringMatching(/^looking for the VM: no\. \(AuthorizationFailed\); give the application/),
    });
  });
});

describe("secrets", () => {
  it("are in no message, no cause and no log line", async () => {
    const { arm, driver } = await aCloud();
    const context = aContext();
    const texts: string[] = [];
    for (const code of ["InternalServerError", "InvalidParameter", "AuthorizationFailed", "PreconditionFailed"]) {
      arm.faults.add({ operation: "VirtualMachines_CreateOrUpdate", times: 9, end: refuse(code) });
      for (
        let error: unknown = await failureOf(driver.createMachine(aRequest(), context));
        error instanceof Error;
        error = error.cause
      ) {
        texts.push(`${error.message} ${error.stack ?? ""} ${JSON.stringify(error)}`);
      }
      arm.faults.clear();
    }
    const printed = [...texts, ...context.lines].join("\n");
    expect(texts.length).toBeGreaterThanOrEqual(4);
    const userData = plainSecret["userData"] ?? "";
    for (const secret of [
      plainSecret["clientSecret"] ?? "",
      userData,
      Buffer.from(userData).toString("base64"),
      "token-0",
    ]) {
      expect(printed).not.toContain(secret);
    }
  });
});
