import { Secret } from "@millwright/base";
import { type DriverContext, MachineError, type MachineRequest, type StandardSchemaV1 } from "@millwright/core";
import { describe, expect, it, vi } from "vitest";
import type { DriverMetrics } from "../metrics/driver-metrics.ts";
import { schema } from "../testing/fake-driver.ts";
import {
  aCall,
  host,
  machine,
  machineClass,
  notFound,
  secret,
  theVm,
  throwing,
  token,
  unaborted,
} from "../testing/hosted-driver.ts";

describe("a fenced host", () => {
  it("makes no VM when leadership ends between the look for one and its creation", async () => {
    let mayAct = true;
    const createMachine = vi.fn<() => Promise<never>>();
    const getMachineStatus = () => {
      mayAct = false;
      return notFound();
    };
    const fence = (): void => {
      if (!mayAct) throw new Error("another instance leads");
    };
    const { ensureVm, deleteVm } = host({ createMachine, getMachineStatus }, { fence });
    const refused = { ok: false, error: { code: "Aborted", message: "another instance leads" } };
    expect(await ensureVm(aCall(), unaborted)).toMatchObject(refused);
    expect(await deleteVm(aCall(), unaborted)).toMatchObject(refused);
    expect(createMachine).not.toHaveBeenCalled();
  });
});

describe("choosing the driver", () => {
  it("goes by the provider of the class, ignoring case", () => {
    const { missingDriver } = host();
    expect(missingDriver(machineClass)).toBeUndefined();
    expect(missingDriver({ ...machineClass, provider: "Mock" })).toBeUndefined();
    expect(missingDriver({ ...machineClass, provider: "aws" })).toBe(
      'provider: no driver "aws" is loaded; expected "other", "mock"',
    );
  });

  it("refuses a call for a class that names no driver", async () => {
    const { provider: _, ...nobodys } = machineClass;
    expect(host().missingDriver(nobodys)).toContain('no driver ""');
    expect(await host().ensureVm(aCall({ machineClass: nobodys }), unaborted)).toMatchObject({
      ok: false,
      error: {
        code: "InvalidArgument",
        message: expect.stringContaining('MachineClass "small": provider: no driver ""'),
      },
    });
  });
});

it("finds and deletes the VM of a class that the driver rejects, and creates none", async () => {
  const specs: unknown[] = [];
  const keepSpec = ({ machineClass: { spec } }: MachineRequest<unknown>): void => void specs.push(spec);
  const issues = [{ message: "unknown key", keys: ["color"] }];
  const { ensureVm, findVm, deleteVm } = host({
    spec: schema((value) => ("color" in Object(value) ? { issues } : { value })),
    getMachineStatus: async (request) => {
      keepSpec(request);
      return theVm();
    },
    deleteMachine: async (request) => {
      keepSpec(request);
      return { vm: "ended" };
    },
  });
  const call = aCall({ machineClass: { ...machineClass, providerSpec: { size: 1, color: "red" } } });
  expect(await findVm(call, unaborted)).toMatchObject({ ok: true });
  expect(await deleteVm(call, unaborted)).toMatchObject({ ok: true });
  expect(await ensureVm(call, unaborted)).toMatchObject({ ok: false, error: { code: "InvalidArgument" } });
  expect(specs).toEqual([{ size: 1 }, { size: 1 }]);
});

describe("the check before a creation", () => {
  const secretOf = (password: string) => ({ ...aCall().secret, password: Secret.of(password) });
  const schemaOf = (validate: StandardSchemaV1["~standard"]["validate"]): StandardSchemaV1 => ({
    "~standard": { version: 1, vendor: "test", validate },
  });

  it("accepts what the driver can read, and makes no call", async () => {
    const createMachine = vi.fn<() => Promise<never>>();
    const { rejectionOf } = host({ createMachine });
    expect(await rejectionOf(machineClass, aCall().secret)).toBeUndefined();
    expect(createMachine).not.toHaveBeenCalled();
  });

  it("names what is wrong with class or Secret, without the values of the Secret", async () => {
    const { rejectionOf } = host({
      secret: schemaOf(() => ({ issues: [{ message: "hunter2 is too short", path: ["password"] }] })),
    });
    expect(await rejectionOf(machineClass, secretOf("hunter2"))).toEqual({
      reason: "InvalidSecret",
      problem: expect.stringMatching(/^Secret of MachineClass "small": secret.password: \[redacted\] is too short/),
    });
    expect(await rejectionOf({ ...machineClass, providerSpec: { ["__proto__"]: 1 } }, aCall().secret)).toMatchObject({
      reason: "InvalidMachineClass",
    });
    expect(await rejectionOf({ ...machineClass, provider: "aws" }, aCall().secret)).toMatchObject({
      reason: "DriverNotFound",
    });
  });

  it("leaves a schema that does not answer to the call, and holds no reconcile for long", async () => {
    const { clock, rejectionOf } = host({ secret: schemaOf(() => new Promise(() => {})) });
    const rejection = rejectionOf(machineClass, aCall().secret);
    await clock.advance(5_000);
    expect(await rejection).toBeUndefined();
  });
});

it("lets a driver log with its name, and without secrets", async () => {
  const { findVm, log } = host({
    getMachineStatus: async (_, context) => {
      context.log("info", `called with ${token}`, { url: `https://x?token=${token}`, attempts: 2, driver: "evil" });
      return theVm();
    },
  });
  await findVm(aCall(), unaborted);
  expect(log).toHaveBeenCalledWith("info", "called with [redacted]", {
    driver: "mock",
    method: "getMachineStatus",
    machine: "m-1",
    fields: { url: "https://x?token=[redacted]", attempts: 2, driver: "evil" },
  });
});

it("logs the end of each call at debug level, with code and duration, and a failure with its stack and without secrets", async () => {
  const thrown = new MachineError("ResourceExhausted", `no quota for ${token}`, { cause: new Error(token) });
  const { findVm, log } = host({ getMachineStatus: throwing(thrown) });
  await findVm(aCall(), unaborted);
  expect(log.mock.calls).toEqual([
    [
      "debug",
      "A call of a driver ended",
      {
        driver: "mock",
        method: "getMachineStatus",
        machine: "m-1",
        code: "ResourceExhausted",
        durationMs: 0,
        error: expect.objectContaining({
          message: "no quota for [redacted]",
          stack: expect.stringContaining("driver-host.test.ts"),
          cause: expect.objectContaining({ message: "[redacted]" }),
        }),
      },
    ],
  ]);
  expect(JSON.stringify(log.mock.calls)).not.toContain(token);
});

it("takes secrets out of everything that a driver logs", async () => {
  const { findVm, log } = host({
    getMachineStatus: async (_, context) => {
      const error = new AggregateError([new Error(token)], token, { cause: new Error(`\u001b${token}`) });
      context.log("info", "x", { deep: [{ [token]: { token } }], error });
      return theVm();
    },
  });
  await findVm(aCall(), unaborted);
  const [line] = log.mock.calls;
  expect(JSON.stringify(line)).not.toContain(token);
  expect(line?.[2]).toMatchObject({
    fields: {
      deep: [{ "[redacted]": expect.anything() }],
      error: { message: "[redacted]", cause: { message: "\uFFFD[redacted]" }, errors: [{ message: "[redacted]" }] },
    },
  });
});

it("takes secrets and control characters out of the state that a driver reports of a VM", async () => {
  const state = async () => ({ ...(await theVm()), lastKnownState: `\u001b[1m${token}` });
  const created = host({ getMachineStatus: notFound, createMachine: state });
  expect(await created.ensureVm(aCall(), unaborted)).toMatchObject({
    value: { lastKnownState: "\uFFFD[1m[redacted]" },
  });
  const deleted = host({ getMachineStatus: notFound, deleteMachine: state });
  expect(await deleted.deleteVm(aCall(), unaborted)).toMatchObject({
    value: { lastKnownState: "\uFFFD[1m[redacted]" },
  });
});

it("protects a class secret whose key is token next to a bootstrap token", async () => {
  const bootstrap = "abcdef.0123456789abcdef";
  const { ensureVm } = host({
    getMachineStatus: notFound,
    createMachine: throwing(new MachineError("Unavailable", `${token} and ${bootstrap}`)),
  });
  const userData = Secret.of(`join <<BOOTSTRAP_TOKEN>>`);
  const call = aCall({ secret: { ...secret, userData }, bootstrapToken: async () => Secret.of(bootstrap) });
  expect(await ensureVm(call, unaborted)).toMatchObject({ error: { message: "[redacted] and [redacted]" } });
});

describe("counting", () => {
  it("notes how each call ended and how long it took, but not one that was not made", async () => {
    const counted: (readonly [string, string, string, number])[] = [];
    const metrics: DriverMetrics = {
      countCall: (...call) => void counted.push(call),
      countApiCall: () => {},
    };
    let mayAct = true;
    const fence = (): void => {
      if (!mayAct) throw new Error("another instance leads");
    };
    const { clock, ensureVm, deleteVm, findVm } = host(
      {
        getMachineStatus: notFound,
        createMachine: async (_, context) => {
          await context.clock.sleep(3_000);
          return theVm();
        },
        deleteMachine: throwing(new Error("a fault")),
      },
      { metrics, fence },
    );
    const created = ensureVm(aCall(), unaborted);
    await clock.advance(3_000);
    await created;
    await deleteVm(aCall(), unaborted);
    mayAct = false;
    await findVm(aCall(), unaborted);
    expect(counted).toEqual([
      ["mock", "getMachineStatus", "NotFound", 0],
      ["mock", "createMachine", "OK", 3],
      ["mock", "deleteMachine", "Internal", 0],
    ]);
  });

  it("counts an abandoned call as timed out or aborted", async () => {
    const countCall = vi.fn<DriverMetrics["countCall"]>();
    const stop = new AbortController();
    const never = () => new Promise<never>(() => {});
    const metrics = { countCall, countApiCall: () => {} };
    const { clock, findVm, deleteVm } = host({ getMachineStatus: never, deleteMachine: never }, { metrics });
    const found = findVm(aCall(), unaborted);
    const deleted = deleteVm(
      aCall({ machine: { ...machine, metadata: { ...machine.metadata, uid: "2" } } }),
      stop.signal,
    );
    await clock.advance(1_000);
    stop.abort(new Error("stopped by test"));
    await deleted;
    await clock.advance(300_000);
    await found;
    expect(countCall.mock.calls).toEqual([
      ["mock", "deleteMachine", "Aborted", 1],
      ["mock", "getMachineStatus", "DeadlineExceeded", 300],
    ]);
  });

  it("hands every call the same function for requests to the cloud, which knows the driver", async () => {
    const countApiCall = vi.fn<DriverMetrics["countApiCall"]>();
    const seen = new Set<unknown>();
    const request = { service: "instance_get", outcome: "ok", seconds: 0.1 };
    const getMachineStatus = async (_: unknown, { reportApiCall }: DriverContext) => {
      seen.add(reportApiCall);
      reportApiCall?.(request);
      return theVm();
    };
    const { findVm } = host({ getMachineStatus }, { metrics: { countCall: () => {}, countApiCall } });
    await findVm(aCall(), unaborted);
    await findVm(aCall(), unaborted);
    expect(countApiCall.mock.calls).toEqual([
      ["mock", request],
      ["mock", request],
    ]);
    expect(seen.size).toBe(1);
  });
});
