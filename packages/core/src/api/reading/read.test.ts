import { describe, expect, it } from "vitest";
import { readMachine, readMachineClass, readMachineDeployment, readMachineSet } from "./read.ts";

const machine = {
  apiVersion: "machine.sapcloud.io/v1alpha1",
  kind: "Machine",
  metadata: { name: "m-1", namespace: "shoot", labels: { node: "n-1" } },
  spec: { class: { kind: "MachineClass", name: "c" }, drainTimeout: "2h0m0s", maxEvictRetries: 3 },
  status: {
    currentStatus: { phase: "Running", timeoutActive: false },
    conditions: [{ type: "Ready", status: "True" }],
  },
};

describe("reading objects", () => {
  it("returns the very object when nothing had to change", () => {
    expect(readMachine(machine)).toEqual({ ok: true, value: machine });
    expect(valueOf(readMachine(machine))).toBe(machine);
  });

  it("does not write to what it reads", () => {
    const frozen = deepFreeze({
      ...machine,
      spec: null,
      status: { lastOperation: { lastUpdateTime: null, type: "Create" } },
    });
    expect(valueOf(readMachine(frozen))).toEqual({
      ...machine,
      spec: {},
      status: { lastOperation: { type: "Create" } },
    });
  });

  it("reads a null time as absent and leaves the parts without one alone", () => {
    const raw = { ...machine, status: { ...machine.status, lastOperation: { lastUpdateTime: null, state: "Failed" } } };
    const value = valueOf(readMachine(raw));
    expect(value.status?.lastOperation).toEqual({ state: "Failed" });
    expect(value.status?.conditions).toBe(machine.status.conditions);
    expect(value.spec).toBe(machine.spec);
  });

  it("fills in the parts that a Go program always has", () => {
    expect(valueOf(readMachine({ metadata: { name: "m" } })).spec).toEqual({});
    expect(valueOf(readMachineSet({ metadata: { name: "s" } })).spec).toEqual({ template: { spec: {} } });
    const deployment = readMachineDeployment({ metadata: { name: "d" }, spec: { template: {} } });
    expect(valueOf(deployment).spec.template).toEqual({ spec: {} });
  });

  it("keeps fields that it does not know", () => {
    const raw = { ...machine, status: { ...machine.status, machineConditions: [1] } };
    expect(valueOf(readMachine(raw))).toHaveProperty("status.machineConditions", [1]);
  });

  it("keeps the nulls of a provider spec and drops those around it", () => {
    const raw = {
      metadata: { name: "c", creationTimestamp: null },
      provider: null,
      providerSpec: { zone: null, a: [null] },
    };
    expect(valueOf(readMachineClass(raw))).toEqual({
      metadata: { name: "c" },
      providerSpec: { zone: null, a: [null] },
    });
  });

  it.each([
    ["a text", "machine", "", "must be an object of kind Machine"],
    ["nothing", undefined, "", "must be an object of kind Machine"],
    ["a list", [], "", "must be an object of kind Machine"],
    ["another kind", { ...machine, kind: "Node" }, "kind", 'must be Machine, is "Node"'],
    [
      "another version",
      { ...machine, apiVersion: 7 },
      "apiVersion",
      "must be machine.sapcloud.io/v1alpha1, is a number",
    ],
    ["no name", { ...machine, metadata: {} }, "metadata.name", "is required: a text"],
    ["no metadata", { spec: {} }, "metadata", "is required: an object"],
    [
      "a label that is a number",
      { ...machine, metadata: { name: "m", labels: { "a.b/c": 1 } } },
      "metadata.labels[a.b/c]",
      "must be a text, is 1",
    ],
    [
      "a fraction",
      { ...machine, spec: { maxEvictRetries: 1.5 } },
      "spec.maxEvictRetries",
      "must be a whole number, is 1.5",
    ],
    [
      "33 bits",
      { ...machine, spec: { maxEvictRetries: 2 ** 32 } },
      "spec.maxEvictRetries",
      "must be at most 2147483647, is 4294967296",
    ],
    ["a list for a text", { ...machine, spec: { drainTimeout: [] } }, "spec.drainTimeout", "must be a text, is a list"],
    [
      "a null in a list",
      { ...machine, status: { addresses: [null] } },
      "status.addresses[0]",
      "must be an object, is null",
    ],
  ])("refuses %s with path and expectation", (_, raw, path, message) => {
    expect(problemsOf(readMachine(raw))).toEqual([
      { path, message, kind: message.startsWith("is required") ? "required" : "invalid" },
    ]);
  });

  it("reports all problems, not the first", () => {
    const problems = problemsOf(readMachine({ metadata: { name: 1 }, spec: { class: [], nodeConditions: {} } }));
    expect(problems.map(({ path }) => path)).toEqual(["metadata.name", "spec.class", "spec.nodeConditions"]);
  });

  it("reads surge and unavailable as number or text and nothing else", () => {
    expect(readMachineDeployment(withSurge(1)).ok).toBe(true);
    expect(readMachineDeployment(withSurge("25%")).ok).toBe(true);
    expect(problemsOf(readMachineDeployment(withSurge({})))).toEqual([
      {
        path: "spec.strategy.rollingUpdate.maxSurge",
        message: "must be a whole number or a text, is an object",
        kind: "invalid",
      },
    ]);
  });

  it("refuses an amount that is no quantity", () => {
    const nodeTemplate = { capacity: { cpu: "4 cores", memory: true }, instanceType: "t", region: "r", zone: "z" };
    expect(problemsOf(readMachineClass({ metadata: { name: "c" }, providerSpec: {}, nodeTemplate }))).toEqual([
      {
        path: "nodeTemplate.capacity.cpu",
        message: 'must be a quantity such as 4, 500m or 16Gi, is "4 cores"',
        kind: "invalid",
      },
      { path: "nodeTemplate.capacity.memory", message: "must be a whole number or a text, is true", kind: "invalid" },
    ]);
  });

  it("refuses a deployment without template, as the API server does", () => {
    expect(problemsOf(readMachineDeployment({ metadata: { name: "d" }, spec: {} }))).toEqual([
      { path: "spec.template", message: "is required: an object", kind: "required" },
    ]);
  });

  it("refuses __proto__ as a key, wherever it is", () => {
    const raw: unknown = JSON.parse('{"metadata":{"name":"c"},"providerSpec":{"a":[{"__proto__":{"admin":true}}]}}');
    expect(problemsOf(readMachineClass(raw))).toEqual([
      { path: "providerSpec.a[0].__proto__", message: "must not be used as a key", kind: "forbidden" },
    ]);
  });

  it("survives nesting that would exhaust the stack", () => {
    const raw: unknown = JSON.parse(
      `{"metadata":{"name":"c"},"providerSpec":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`,
    );
    expect(problemsOf(readMachineClass(raw))).toEqual([
      {
        path: expect.stringMatching(/^providerSpec\.a\[0\]/),
        message: "must not be nested deeper than 100 levels",
        kind: "forbidden",
      },
    ]);
  });

  it.each(["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123456Z", "2026-01-31T12:00:00+02:00"])(
    "reads the time %s",
    (time) => {
      expect(readMachine({ metadata: { name: "m", deletionTimestamp: time } }).ok).toBe(true);
    },
  );

  it("bounds the problems of a hostile object", () => {
    const labels = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index]));
    expect(problemsOf(readMachine({ metadata: { name: "m", labels } }))).toHaveLength(50);
  });
});

function withSurge(maxSurge: unknown) {
  return { metadata: { name: "d" }, spec: { template: {}, strategy: { rollingUpdate: { maxSurge } } } };
}

type Result<Value> = { ok: true; value: Value } | { ok: false; problems: readonly unknown[] };

function valueOf<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`expected a value, got ${JSON.stringify(result.problems)}`);
  return result.value;
}

function problemsOf(result: ReturnType<typeof readMachineClass | typeof readMachineDeployment | typeof readMachine>) {
  return result.ok ? [] : result.problems;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const each of Object.values(value)) deepFreeze(each);
  }
  return value;
}
