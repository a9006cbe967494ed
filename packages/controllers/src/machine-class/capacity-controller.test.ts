import { MachineError } from "@millwright/core";
import {
  annotationKeys,
  type MachineClass,
  machineClassResource,
  type NodeTemplate,
} from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { conflictError, type FakeApi, serverError } from "@millwright/kube/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { ClassCall, DriverOutcome } from "../model/driver-port.ts";
import { aMachineClass, type Change, named, refOf, testNamespace } from "../testing/builders.ts";
import { runControllers, type RunningControllers } from "../testing/running-controllers.ts";
import type { CapacityDriver } from "./capacity-driver.ts";
import { type CapacityController, createCapacityController } from "./capacity-controller.ts";

const MINUTE = 60_000;
const ref = refOf("small");
const medium = { cpu: 2, gpu: 0, memory: "8Gi" };
const large = { cpu: 8, gpu: 0, memory: "32Gi" };
const aTemplate = (capacity: NodeTemplate["capacity"], more: Partial<NodeTemplate> = {}): NodeTemplate => ({
  capacity,
  instanceType: "m",
  region: "r",
  zone: "z",
  ...more,
});
const failure = (code: "InvalidArgument" | "Unavailable", retryAfterMs?: number): DriverOutcome<NodeTemplate> => ({
  ok: false,
  error: new MachineError(code, "no such type", retryAfterMs === undefined ? {} : { retryAfterMs }),
});

/** A driver whose result depends on the size in the spec, and that records its calls. */
function aDriver(change: Partial<CapacityDriver> = {}): CapacityDriver & { readonly calls: ClassCall[] } {
  const calls: ClassCall[] = [];
  return {
    calls,
    missingDriver: () => undefined,
    reportsCapacity: () => true,
    ...change,
    capacityOf: async (call, signal) => {
      calls.push(call);
      if (change.capacityOf !== undefined) return change.capacityOf(call, signal);
      const isLarge = call.machineClass.providerSpec["size"] === "large";
      return { ok: true, value: aTemplate(isLarge ? large : medium, isLarge ? {} : { architecture: "amd64" }) };
    },
  };
}

const aSecret = (key: string) => ({
  metadata: { name: "small", namespace: testNamespace },
  data: { userData: btoa("boot"), key: btoa(key) },
});

let capacity: CapacityController | undefined;
afterEach(async () => capacity?.close());

const start = (
  driver: CapacityDriver,
  change: Change<MachineClass> = {},
  prepare: (api: FakeApi) => void = () => {},
): Promise<RunningControllers> =>
  runControllers(
    (context) => {
      capacity = createCapacityController(context, driver);
      return [capacity.controller];
    },
    (api) => {
      api.seed(secretResource, aSecret("first"));
      api.seed(machineClassResource, aMachineClass(change));
      prepare(api);
    },
  );
const classOf = ({ api }: RunningControllers) => api.peek<MachineClass>(machineClassResource, ref);
const markOf = (cluster: RunningControllers) =>
  classOf(cluster)?.metadata.annotations?.[annotationKeys.filledNodeTemplate];
const setSpec = ({ api }: RunningControllers, size: string): void =>
  void api.change(machineClassResource, ref, { providerSpec: { size } });

describe("the capacity of a class without nodeTemplate", () => {
  it("is looked up once and set by one patch for the version that was read", async () => {
    const driver = aDriver();
    const cluster = await start(driver);
    expect(classOf(cluster)?.nodeTemplate).toEqual(aTemplate(medium, { architecture: "amd64" }));
    expect(cluster.events).toEqual([
      "FilledNodeTemplate Set nodeTemplate to the values of the cloud for m: cpu 2, gpu 0, memory 8Gi",
    ]);
    await cluster.settle(24 * 60 * MINUTE);
    expect(driver.calls).toHaveLength(1);
    expect(driver.calls[0]?.secret["key"]?.reveal()).toBe("first");
    expect(cluster.api.writes().map(({ verb }) => verb)).toEqual(["patch"]);
    expect(cluster.api.writes()[0]?.body).toHaveProperty("metadata.resourceVersion");
  });

  it("is renewed when the spec changes, with nothing of the old one left", async () => {
    const driver = aDriver();
    const cluster = await start(driver);
    const before = markOf(cluster);
    setSpec(cluster, "large");
    await cluster.settle();
    expect(classOf(cluster)?.nodeTemplate).toEqual(aTemplate(large));
    expect(markOf(cluster)).not.toBe(before);
    expect(driver.calls).toHaveLength(2);
  });

  it("is not looked up again by the next process", async () => {
    const first = await start(aDriver());
    const filled = classOf(first);
    await first.stop();
    const driver = aDriver();
    const cluster = await start(driver, {
      nodeTemplate: filled?.nodeTemplate ?? null,
      metadata: { annotations: filled?.metadata.annotations ?? {} },
    });
    expect(driver.calls).toEqual([]);
    expect(cluster.api.writes()).toEqual([]);
  });

  it("is set again when another client removes it, but not in a loop, and without another lookup", async () => {
    const driver = aDriver();
    const cluster = await start(driver);
    const remove = (): void =>
      void cluster.api.change(machineClassResource, ref, { nodeTemplate: null, metadata: { annotations: null } });
    remove();
    await cluster.settle(9 * MINUTE);
    expect(classOf(cluster)?.nodeTemplate).toBeUndefined();
    await cluster.settle(2 * MINUTE);
    expect(classOf(cluster)?.nodeTemplate).toBeDefined();
    expect(driver.calls).toHaveLength(1);
  });

  it("does not overwrite a template that another client writes at the same moment", async () => {
    const driver = aDriver();
    const theirs = aTemplate(large, { zone: "theirs" });
    const cluster = await start(driver, {}, (api) => {
      api.inject({ verb: "patch", error: conflictError(), times: 1 });
    });
    cluster.api.change(machineClassResource, ref, { nodeTemplate: theirs });
    await cluster.settle(MINUTE);
    expect(classOf(cluster)?.nodeTemplate).toEqual(theirs);
    expect(markOf(cluster)).toBeUndefined();
  });
});

describe("a nodeTemplate of another client", () => {
  it("is never looked up and never changed, whatever happens to the spec", async () => {
    const driver = aDriver();
    const cluster = await start(driver, { nodeTemplate: aTemplate(medium) });
    setSpec(cluster, "large");
    await cluster.settle(MINUTE);
    expect(driver.calls).toEqual([]);
    expect(cluster.api.writes()).toEqual([]);
  });

  it("is theirs from the first change of what was filled in, and loses the mark", async () => {
    const driver = aDriver();
    const cluster = await start(driver);
    cluster.api.change(machineClassResource, ref, { nodeTemplate: { virtualCapacity: { "example.com/slots": 4 } } });
    await cluster.settle();
    expect(markOf(cluster)).toBeUndefined();
    setSpec(cluster, "large");
    await cluster.settle(MINUTE);
    expect(classOf(cluster)?.nodeTemplate?.capacity).toEqual(medium);
    expect(driver.calls).toHaveLength(1);
  });

  it.each(["nonsense", "null", "[]", '{"spec":1,"template":2}'])("is theirs under the mark %s", async (mark) => {
    const driver = aDriver();
    const cluster = await start(driver, {
      nodeTemplate: aTemplate(medium),
      metadata: { annotations: { [annotationKeys.filledNodeTemplate]: mark } },
    });
    expect(classOf(cluster)?.nodeTemplate).toEqual(aTemplate(medium));
    expect(markOf(cluster)).toBeUndefined();
    expect(driver.calls).toEqual([]);
  });
});

describe("a driver that cannot report capacity", () => {
  it.each<[string, Partial<CapacityDriver>, Change<MachineClass>]>([
    ["has no such method", { reportsCapacity: () => false }, {}],
    ["is not loaded", { missingDriver: () => "provider: no driver" }, {}],
    ["is of a class that creates no machines", {}, { secretRef: null }],
    ["is of a class without its secret", {}, { secretRef: { name: "missing" } }],
    [
      "is of a class that is being deleted",
      {},
      { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] } },
    ],
  ])("is not called when it %s", async (_, driverChange, classChange) => {
    const driver = aDriver(driverChange);
    const cluster = await start(driver, classChange);
    await cluster.settle(MINUTE);
    expect(driver.calls).toEqual([]);
    expect(cluster.api.writes()).toEqual([]);
  });

  it("is called again rarely, and its message is reported once", async () => {
    const driver = aDriver({ capacityOf: async () => failure("InvalidArgument") });
    const cluster = await start(driver);
    await cluster.settle(30 * MINUTE);
    // After 1, 3, 7 and 15 minutes.
    expect(driver.calls).toHaveLength(5);
    await cluster.settle(10 * 60 * MINUTE);
    expect(driver.calls.length).toBeLessThan(17);
    expect(cluster.events).toEqual([expect.stringMatching(/^NodeTemplateUnknown InvalidArgument: no such type; set/)]);
    expect(cluster.api.writes()).toEqual([]);
  });

  it("is called again at once when spec or secret have changed", async () => {
    let isFixed = false;
    const driver = aDriver({
      capacityOf: async () => (isFixed ? { ok: true, value: aTemplate(medium) } : failure("InvalidArgument")),
    });
    const cluster = await start(driver);
    setSpec(cluster, "large");
    await cluster.settle();
    expect(driver.calls).toHaveLength(2);
    isFixed = true;
    cluster.api.change(secretResource, ref, { data: { key: btoa("second") } });
    await cluster.settle();
    expect(driver.calls.at(-1)?.secret["key"]?.reveal()).toBe("second");
    expect(classOf(cluster)?.nodeTemplate).toBeDefined();
  });

  it("is called again soon when it was unreachable, but not before its retry-after", async () => {
    let retryAfterMs: number | undefined = 2 * MINUTE;
    const driver = aDriver({ capacityOf: async () => failure("Unavailable", retryAfterMs) });
    const cluster = await start(driver);
    await cluster.settle(MINUTE);
    expect(driver.calls).toHaveLength(1);
    retryAfterMs = undefined;
    await cluster.settle(MINUTE);
    expect(driver.calls).toHaveLength(2);
    await cluster.settle(11_000);
    expect(driver.calls).toHaveLength(3);
  });

  it("is not called with secrets that cannot be read", async () => {
    const driver = aDriver();
    const cluster = await start(driver, {}, (api) => {
      api.inject({ verb: "get", type: secretResource, error: serverError(), times: 1 });
    });
    expect(driver.calls).toEqual([]);
    await cluster.settle(MINUTE);
    expect(classOf(cluster)?.nodeTemplate).toBeDefined();
  });
});

describe("a question that takes its time", () => {
  it("is one at a time, and its answer to an old spec is not used", async () => {
    const answers: ((outcome: DriverOutcome<NodeTemplate>) => void)[] = [];
    const driver = aDriver({ capacityOf: () => new Promise((resolve) => answers.push(resolve)) });
    const cluster = await start(driver);
    setSpec(cluster, "large");
    await cluster.settle(MINUTE);
    expect(driver.calls).toHaveLength(1);
    answers[0]?.({ ok: true, value: aTemplate(medium) });
    await cluster.settle();
    expect(classOf(cluster)?.nodeTemplate).toBeUndefined();
    answers[1]?.({ ok: true, value: aTemplate(large) });
    await cluster.settle();
    expect(classOf(cluster)?.nodeTemplate?.capacity).toEqual(large);
  });

  it("is aborted when the class is deleted and when the process stops", async () => {
    const signals: AbortSignal[] = [];
    const driver = aDriver({
      capacityOf: (_, signal) => {
        signals.push(signal);
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(failure("Unavailable")));
        });
      },
    });
    const cluster = await start(driver, {}, (api) => {
      api.seed(machineClassResource, aMachineClass(named("other")));
    });
    expect(signals).toHaveLength(2);
    cluster.api.remove(machineClassResource, ref);
    await cluster.settle();
    expect(signals.filter(({ aborted }) => aborted)).toHaveLength(1);
    await capacity?.close();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    expect(cluster.api.writes()).toEqual([]);
  });
});
