import { Secret } from "@millwright/base";
import {
  type CreateMachineRequest,
  type Driver,
  type DriverContext,
  type DriverDefinition,
  isMachineError,
  isMachineErrorCode,
  MachineError,
} from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contextWith, driverWith, request, serveAndConnect, type ServedDriver } from "./testing/served-driver.ts";

/** Whatever the driver behind the wire gets and answers. */
let received: readonly unknown[] = [];
let answer: () => unknown = () => undefined;

const respond = (...parts: readonly unknown[]): Promise<never> => {
  received = parts;
  // The answer of a test is that of the method under test.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Promise.resolve().then(() => answer() as never);
};

const methods = {
  createMachine: (each, context) => respond(each, context),
  deleteMachine: (each, context) => respond(each, context),
  getMachineStatus: (each, context) => respond(each, context),
  initializeMachine: (each, context) => respond(each, context),
  listMachines: (each, context) => respond(each, context),
  getVolumeIds: (each, context) => respond(each, context),
  findDrift: (each, context) => respond(each, context),
  getNodeTemplate: (each, context) => respond(each, context),
  checkClass: (each, context) => respond(each, context),
} satisfies Partial<DriverDefinition<unknown>>;

let served: ServedDriver;
let remote: Driver;
beforeAll(async () => {
  served = await serveAndConnect(driverWith(methods));
  remote = served.driver;
});
afterAll(() => served.end());

/** Texts that every language can hold: no halves of characters. */
const text = fc.string({ unit: "grapheme" });
const name = fc.string({ unit: "grapheme", minLength: 1 });
const optional = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined });
const texts = optional(
  fc.dictionary(
    name.filter((key) => key !== "__proto__"),
    text,
    { minKeys: 1, noNullPrototype: true },
  ),
);
/** Specs with `__proto__` are rejected before a driver sees them. */
const jsonObject = fc
  .dictionary(name, fc.jsonValue({ noUnicodeString: false }), { noNullPrototype: true })
  .map((value) => JSON.stringify(value))
  .filter((value) => !value.includes("__proto__"))
  .map((value): Record<string, unknown> => JSON.parse(value));
const addresses = optional(fc.array(fc.record({ type: text, address: text }), { minLength: 1 }));
const bytes = fc.uint8Array().map((value) => Secret.of(value));
const secretData = fc.dictionary(
  name.filter((key) => key !== "__proto__"),
  bytes,
  { noNullPrototype: true },
);
const withoutUndefined = <Value extends object>(value: Value): Value =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value;
const records = <Value extends object>(fields: { readonly [Key in keyof Value]: fc.Arbitrary<Value[Key]> }) =>
  fc.record<Value>(fields).map(withoutUndefined);

const machine = records({
  name: text,
  namespace: text,
  uid: text,
  providerId: optional(text),
  labels: texts,
  annotations: texts,
  nodeAnnotations: texts,
});
/** A spec has no integers beyond 2^53: they are rejected. */
const spec = jsonObject.map((value) =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    Number.isInteger(each) && !Number.isSafeInteger(each) ? 0 : each,
  ),
);
const machineClass = records({ name: text, spec, nodeTemplate: optional(jsonObject) });
const vm = { providerId: text, nodeName: text, addresses };
const pending = fc.record({
  pending: fc.record({ message: text, checkAfterMs: fc.double({ noNaN: true }) }),
});
const code = fc
  .constantFrom(...Object.keys(machineErrorCodes).filter(isMachineErrorCode))
  .filter((each) => each !== "OK");
const errors = fc
  .record({
    code,
    message: text,
    options: records({
      retryAfterMs: optional(fc.maxSafeNat()),
      lastKnownState: optional(text),
      tokenIsSpent: optional(fc.constant(true)),
    }),
  })
  .map(({ code, message, options }) => new MachineError(code, message, withoutUndefined(options) as object));

const replies = {
  createMachine: fc.oneof(records({ ...vm, lastKnownState: optional(text) }), pending),
  deleteMachine: fc.oneof(
    records({ vm: optional(fc.constantFrom("ended", "missing")), lastKnownState: optional(text) }),
    pending,
  ),
  getMachineStatus: records({ ...vm, initialized: optional(fc.boolean()) }),
  initializeMachine: records(vm),
  listMachines: fc.record({
    machines: fc.array(
      records({
        providerId: text,
        machineName: text,
        machineUid: optional(text),
        machineNamespace: optional(text),
      }),
    ),
  }),
  getVolumeIds: fc.record({ volumeIds: fc.array(optional(name)) }),
  findDrift: fc.record({
    providerId: text,
    differences: fc.array(fc.record({ field: text, wanted: text, found: text })),
  }),
  getNodeTemplate: fc.record({ nodeTemplate: jsonObject }),
  checkClass: fc.record({
    checks: fc.array(
      records({
        name: text,
        status: fc.constantFrom("ok", "warning", "failed", "skipped"),
        message: text,
        remedy: optional(name),
      }),
    ),
  }),
} as const;

type Method = keyof typeof replies;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const methodNames = Object.keys(replies) as readonly Method[];

const call = (method: Method, argument: unknown, context: DriverContext = contextWith()): Promise<unknown> => {
  const invoke: unknown = remote[method];
  return typeof invoke === "function"
    ? Reflect.apply(invoke, remote, [argument, context])
    : Promise.reject(new Error(method));
};

/** Secrets compare as their bytes. */
const plain = (value: unknown): unknown =>
  value instanceof Secret
    ? { bytes: [...value.revealBytes()] }
    : Array.isArray(value)
      ? value.map(plain)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
        : value;

async function failureOf(running: Promise<unknown>): Promise<unknown> {
  try {
    return await running;
  } catch (thrown) {
    return thrown;
  }
}

const partsOf = (error: unknown): unknown => {
  if (!isMachineError(error)) return error;
  const { code, message, retryAfterMs, lastKnownState, tokenIsSpent } = error;
  return { code, message, retryAfterMs, lastKnownState, tokenIsSpent };
};

describe("the wire", () => {
  it("passes every request about a machine as it is", async () => {
    const requests = fc.record({ machine, machineClass, secret: secretData });
    const creation = fc.record({ machine, machineClass, secret: secretData, idempotencyToken: text, userData: bytes });
    answer = () => ({});
    await fc.assert(
      fc.asyncProperty(creation, async (each) => {
        await call("createMachine", each);
        expect(plain(received[0])).toEqual(plain(each));
      }),
    );
    const others = fc.constantFrom<Method>("deleteMachine", "getMachineStatus", "initializeMachine");
    await fc.assert(
      fc.asyncProperty(requests, others, async (each, method) => {
        await call(method, each);
        expect(plain(received[0])).toEqual(plain(each));
      }),
    );
  });

  it("passes every request about a class, or about volumes, as it is", async () => {
    const requests = fc.record({ machineClass, secret: secretData });
    await fc.assert(
      fc.asyncProperty(requests, async (each) => {
        answer = () => ({ machines: [] });
        await call("listMachines", each);
        expect(plain(received[0])).toEqual(plain(each));
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(jsonObject), async (volumes) => {
        answer = () => ({ volumeIds: [] });
        await call("getVolumeIds", { volumes });
        expect(received[0]).toEqual({ volumes });
      }),
    );
  });

  it.each(methodNames)("passes every response of %s as it is", async (method) => {
    const values: fc.Arbitrary<object> = replies[method];
    await fc.assert(
      fc.asyncProperty(values, async (reply) => {
        answer = () => reply;
        expect(await call(method, request)).toEqual(reply);
      }),
    );
  });

  it("passes every error as it is, whatever the method", async () => {
    await fc.assert(
      fc.asyncProperty(errors, fc.constantFrom(...methodNames), async (error, method) => {
        answer = () => {
          throw error;
        };
        const failure = await failureOf(call(method, request));
        expect(partsOf(failure)).toEqual(partsOf(error));
      }),
    );
  });

  it("passes a spec with whole numbers of 64 bits that a number holds, and quantities as they are written", async () => {
    const spec = { size: Number.MAX_SAFE_INTEGER, least: Number.MIN_SAFE_INTEGER, memory: "16Gi", share: 0.1 };
    const creation: CreateMachineRequest<unknown> = {
      ...request,
      machineClass: { name: "c", spec },
      idempotencyToken: "t",
      userData: Secret.of(""),
    };
    answer = () => ({});
    await call("createMachine", creation);
    expect(received[0]).toMatchObject({ machineClass: { spec } });
  });
});
