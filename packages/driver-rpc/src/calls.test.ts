import { createVirtualClock } from "@millwright/core/testing";
import { Secret, systemClock } from "@millwright/base";
import {
  type ApiCall,
  type CloudExchange,
  type CreateMachineRequest,
  type DriverContext,
  isMachineError,
  MachineError,
} from "@millwright/core";
import { rejectionCodes } from "@millwright/core/driver-host";
import { unknownKeysOf } from "@millwright/core/driver-kit";
import { afterEach, describe, expect, it } from "vitest";
import { connectDriver } from "./client/connect-driver.ts";
import { serveDriver } from "./server/serve-driver.ts";
import {
  anything,
  contextWith,
  driverWith,
  request,
  serveAndConnect,
  temporarySocket,
} from "./testing/served-driver.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const serve = async (...args: Parameters<typeof serveAndConnect>) => {
  const served = await serveAndConnect(...args);
  ends.push(served.end);
  return served;
};

const creation: CreateMachineRequest<unknown> = { ...request, idempotencyToken: "token", userData: Secret.of("#!") };

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

describe("a call over the wire", () => {
  it("is canceled at the driver when its signal aborts, and fails with the reason at once", async () => {
    const seen = Promise.withResolvers<unknown>();
    const started = Promise.withResolvers<void>();
    const { driver } = await serve(
      driverWith({
        async createMachine(_request, { signal }) {
          started.resolve();
          signal.addEventListener("abort", () => seen.resolve(signal.reason));
          return new Promise(() => undefined);
        },
      }),
    );
    const controller = new AbortController();
    const call = failureOf(driver.createMachine(creation, contextWith({ signal: controller.signal })));
    await started.promise;
    const reason = new MachineError("Aborted", "stopping");
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(await seen.promise).toMatchObject({ code: "Aborted", message: "the client has canceled the call" });
  });

  it("needs user data in the secret only where it creates a VM", async () => {
    const secret = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) =>
          Object.hasOwn(Object(value), "userData")
            ? { value }
            : { issues: [{ message: "is required", path: ["userData"] }] },
      },
    } as const;
    const vm = { providerId: "vm-1", nodeName: "m-1" };
    const { driver } = await serve(
      driverWith({
        secret,
        createMachine: async () => vm,
        deleteMachine: async () => ({ vm: "ended" }),
        getMachineStatus: async () => vm,
        listMachines: async () => ({ machines: [] }),
      }),
    );
    await expect(driver.deleteMachine(request, contextWith())).resolves.toEqual({ vm: "ended" });
    await expect(driver.getMachineStatus(request, contextWith())).resolves.toMatchObject(vm);
    await expect(driver.listMachines?.(request, contextWith())).resolves.toEqual({ machines: [] });
    expect(await failureOf(driver.createMachine(creation, contextWith()))).toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("secret.userData: is required"),
    });
  });

  it("is not made when its signal has aborted before", async () => {
    let calls = 0;
    const { driver } = await serve(driverWith({ deleteMachine: async () => (calls++, {}) }));
    const signal = AbortSignal.abort(new MachineError("Unavailable", "stopping"));
    expect(await failureOf(driver.deleteMachine(request, contextWith({ signal })))).toBe(signal.reason);
    await expect(driver.deleteMachine(request, contextWith())).resolves.toEqual({});
    expect(calls).toBe(1);
  });

  it("fails with an error of the contract when the reason of its abort is none", async () => {
    const { driver } = await serve(driverWith({}));
    const late = new DOMException("the deadline has passed", "TimeoutError");
    const failures = [late, new Error("the process stops")].map((reason) =>
      failureOf(driver.deleteMachine(request, contextWith({ signal: AbortSignal.abort(reason) }))),
    );
    const codes = (await Promise.all(failures)).map((error) => (isMachineError(error) ? error.code : error));
    expect(codes).toEqual(["DeadlineExceeded", "Aborted"]);
  });

  it("has the deadline of its context at the driver, and fails with DeadlineExceeded", async () => {
    const seen = Promise.withResolvers<readonly unknown[]>();
    const { driver } = await serve(
      driverWith({
        async getMachineStatus(_request, { signal, remainingMs }) {
          const leftMs = remainingMs?.();
          await untilAborted(signal).catch((reason: unknown) => seen.resolve([leftMs, reason]));
          throw new MachineError("NotFound", "too late to matter");
        },
      }),
    );
    const failure = await failureOf(driver.getMachineStatus(request, contextWith({ remainingMs: () => 300 })));
    expect(failure).toMatchObject({ code: "DeadlineExceeded" });
    const [leftMs, reason] = await seen.promise;
    expect(leftMs).toBeLessThanOrEqual(301);
    expect(reason).toMatchObject({ message: expect.stringMatching(/deadline|canceled/) });
  });

  it("waits for a canceled call of the same machine, and for none of another", async () => {
    const order: string[] = [];
    const release = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const { driver } = await serve(
      driverWith({
        async createMachine() {
          started.resolve();
          await release.promise;
          order.push("created");
          return { providerId: "x:///1", nodeName: "n" };
        },
        async deleteMachine({ machine }) {
          order.push(`deleted ${machine.uid}`);
          return {};
        },
      }),
    );
    const controller = new AbortController();
    const call = failureOf(driver.createMachine(creation, contextWith({ signal: controller.signal })));
    await started.promise;
    controller.abort(new Error("stopped"));
    await call;
    const deletion = driver.deleteMachine(request, contextWith());
    await driver.deleteMachine({ ...request, machine: { ...request.machine, uid: "other" } }, contextWith());
    expect(order).toEqual(["deleted other"]);
    release.resolve();
    await deletion;
    expect(order).toEqual(["deleted other", "created", "deleted uid-1"]);
  });

  it("reports what the driver logs, measures and records, secrets as themselves in none of it", async () => {
    const { driver } = await serve(
      driverWith({
        async getMachineStatus({ secret }, context) {
          context.log("warn", "slow", { secret, error: new Error("e"), size: 12n, nested: { list: [1] } });
          context.reportApiCall?.({ service: "vm_get", outcome: "ok", seconds: 0.25 });
          context.recordExchange?.({
            method: "GET",
            url: "https://cloud/vm",
            requestHeaders: { a: "b" },
            requestBody: "",
            status: 404,
            responseHeaders: {},
            responseBody: "none",
            seconds: 1,
          });
          throw new MachineError("NotFound", "no VM");
        },
      }),
    );
    const logged: unknown[] = [];
    const calls: ApiCall[] = [];
    const exchanges: CloudExchange[] = [];
    const context: Partial<DriverContext> = {
      log: (...line) => logged.push(line),
      reportApiCall: (call) => calls.push(call),
    };
    await failureOf(driver.getMachineStatus(request, contextWith(context)));
    expect(exchanges).toEqual([]);
    const recording = { ...context, recordExchange: (exchange: CloudExchange) => exchanges.push(exchange) };
    await failureOf(driver.getMachineStatus(request, contextWith(recording)));
    const fields = {
      secret: { token: "[redacted]" },
      error: { name: "Error", message: "e" },
      size: "12",
      nested: { list: [1] },
    };
    expect(logged).toMatchObject([
      ["warn", "slow", fields],
      ["warn", "slow", fields],
    ]);
    const reported = { service: "vm_get", outcome: "ok", seconds: 0.25 };
    expect(calls).toEqual([reported, reported]);
    expect(exchanges).toMatchObject([
      { url: "https://cloud/vm", status: 404, responseBody: "none", responseHeaders: {} },
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ["a text", "just a text", /just a text/],
    ["nothing", undefined, /undefined/],
    ["an error without a code", new TypeError("x is not a function"), /x is not a function/],
    [
      "an object that cannot be printed",
      {
        toString: () => {
          throw new Error("no");
        },
      },
      /cannot be printed/,
    ],
  ])("fails with Internal when the driver throws %s", async (_what, thrown, message) => {
    const { driver } = await serve(
      driverWith({
        getMachineStatus: () => {
          throw thrown;
        },
      }),
    );
    const failure = await failureOf(driver.getMachineStatus(request, contextWith()));
    expect(failure).toMatchObject({ code: "Internal", message: expect.stringMatching(message) });
  });
});

describe("a lost connection", () => {
  it("fails calls with Unavailable, in flight or new, which allows no conclusion about the VM, and is opened again", async () => {
    const { address, remove } = await temporarySocket();
    ends.push(remove);
    const started = Promise.withResolvers<void>();
    const hanging = driverWith({
      createMachine: () => (started.resolve(), new Promise<never>(() => undefined)),
    });
    const clock = createVirtualClock();
    const first = await serveDriver(hanging, address, { clock });
    const { driver, close } = await connectDriver(address);
    ends.push(close);
    const call = failureOf(driver.createMachine(creation, contextWith()));
    await started.promise;
    const closed = first.close();
    // Calls in flight may end for a while.
    await clock.advance(10_000);
    await closed;
    const failures = [await call, await failureOf(driver.createMachine(creation, contextWith()))];
    for (const failure of failures) {
      expect(failure).toMatchObject({
        code: "Unavailable",
        message: expect.stringContaining('driver "example" at unix://'),
      });
      expect(rejectionCodes.has((failure as MachineError).code)).toBe(false);
      expect((failure as MachineError).tokenIsSpent).toBeUndefined();
    }
    const second = await serveDriver(driverWith({ deleteMachine: async () => ({ vm: "ended" }) }), address);
    ends.push(() => second.close());
    await expect
      .poll(() => driver.deleteMachine(request, contextWith()).catch(() => undefined))
      .toEqual({ vm: "ended" });
  });

  it("is not used when another driver listens there afterwards", async () => {
    const { address, remove } = await temporarySocket();
    ends.push(remove);
    let deletions = 0;
    const deleteMachine = async () => (deletions++, {});
    const first = await serveDriver(driverWith({ deleteMachine }), address);
    const { driver, close } = await connectDriver(address);
    ends.push(close);
    await driver.deleteMachine(request, contextWith());
    await first.close();
    const second = await serveDriver(driverWith({ name: "impostor", deleteMachine }), address);
    ends.push(() => second.close());
    await expect
      .poll(() => failureOf(driver.deleteMachine(request, contextWith())))
      .toMatchObject({
        code: "Unavailable",
        message: expect.stringContaining('serves driver "impostor" in place of "example"'),
      });
    expect(deletions).toBe(1);
  });
});

describe("connectDriver", () => {
  it("waits for a driver that is not there yet, and reports that once", async () => {
    const { address, remove } = await temporarySocket();
    ends.push(remove);
    const reported = Promise.withResolvers<void>();
    const lines: unknown[] = [];
    const connecting = connectDriver(address, {
      log: (...line) => {
        lines.push(line);
        reported.resolve();
      },
    });
    await reported.promise;
    await systemClock.sleep(600);
    const server = await serveDriver(driverWith(), address, { version: "1.2.3" });
    ends.push(() => server.close());
    const { driver, version, close } = await connecting;
    ends.push(close);
    expect([driver.name, version]).toEqual(["example", "1.2.3"]);
    expect(lines).toMatchObject([["warn", "Waiting for a driver", { address }]]);
  });

  it("stops waiting when its signal aborts", async () => {
    const { address, remove } = await temporarySocket();
    ends.push(remove);
    const controller = new AbortController();
    const reason = new Error("stopped");
    const connecting = failureOf(
      connectDriver(address, { signal: controller.signal, log: () => controller.abort(reason) }),
    );
    expect(await connecting).toBe(reason);
  });

  it("is to a driver whose keys are known, where it declares them", async () => {
    const jsonSchema = { input: () => ({ type: "object", properties: { machineType: {} } }) };
    const props = { ...anything["~standard"], jsonSchema };
    const served = await serve(driverWith({ spec: { "~standard": props } }));
    expect(unknownKeysOf(served.driver, { machineTyp: "m" })).toEqual([
      { path: "providerSpec.machineTyp", nearest: "machineType" },
    ]);
    const silent = await serve(driverWith());
    expect(unknownKeysOf(silent.driver, { machineTyp: "m" })).toEqual([]);
  });

  it("derives the capabilities from those of the driver", async () => {
    const listMachines = async () => ({ machines: [] });
    const { driver } = await serve(driverWith({ listMachines }));
    expect(driver.capabilities).toEqual({
      listMachines: true,
      initializeMachine: false,
      volumeIds: false,
      drift: false,
      nodeTemplate: false,
      classChecks: false,
    });
    expect(driver.findDrift).toBeUndefined();
    await expect(driver.getVolumeIds({ volumes: [{}] }, contextWith())).resolves.toEqual({ volumeIds: [undefined] });
  });

  it("matches Nodes by the rule that the driver declares, and by names only for a rule that cannot be passed", async () => {
    const vm = { machineName: "m", providerId: "x:///p/a", nodeName: "", addresses: [] };
    const node = { name: "n", providerId: "x:///q/a", systemUuid: "", addresses: [] };
    const matchNode = () => "different" as const;
    const { driver: byDefault } = await serve(driverWith());
    expect(byDefault.matchNode).toBeUndefined();
    const { driver: byTemplates } = await serve(driverWith({ matchNode, providerIdTemplates: ["x:///{pool}/{name}"] }));
    expect(byTemplates.matchNode?.(vm, node)).toBe("different");
    const { driver: byNames } = await serve(driverWith({ matchNode }));
    expect(byNames.matchNode?.(vm, node)).toBe("unknown");
    expect(byNames.matchNode?.(vm, { ...node, providerId: vm.providerId })).toBe("same");
  });
});
