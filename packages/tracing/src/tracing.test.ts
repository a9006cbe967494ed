import type { Machine } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { ExportResultCode } from "@opentelemetry/core";
import { InMemorySpanExporter, type SpanExporter } from "@opentelemetry/sdk-trace";
import { expect, test, vi } from "vitest";
import { traceIdsOf } from "./spans/span-ids.ts";
import { startTracing, type TracingOptions } from "./tracing.ts";

const aMachine = (phase: string, more: object = {}): Machine => {
  const machine: unknown = {
    metadata: { name: "m", namespace: "n", uid: "u-1", creationTimestamp: "2026-01-01T00:00:00Z", ...more },
    spec: { class: { kind: "MachineClass", name: "small" }, providerID: "mock:///vm-1" },
    status: {
      currentStatus: { phase },
      lastOperation: { description: "login failed: password=hunter2" },
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that are read
  return machine as Machine;
};
const nowMs = Date.parse("2026-01-01T00:01:00Z");

/** Runs something with tracing, and gives the spans. */
async function trace(run: (tracing: ReturnType<typeof startTracing>) => void, env: NodeJS.ProcessEnv = {}) {
  const exporter = new InMemorySpanExporter();
  const exported: ReturnType<InMemorySpanExporter["getFinishedSpans"]> = [];
  const tracing = startTracing({
    env,
    log: vi.fn<TracingOptions["log"]>(),
    exporter: {
      export: (spans, done) => {
        exported.push(...spans);
        exporter.export(spans, done);
      },
      shutdown: () => exporter.shutdown(),
    },
  });
  run(tracing);
  await tracing.close();
  return exported;
}
const create = (tracing: ReturnType<typeof startTracing>): void => {
  tracing.changed(undefined, aMachine(""), nowMs);
  const call = { uid: "u-1", driver: "mock", durationMs: 250 };
  tracing.called({ ...call, method: "getMachineStatus", code: "NotFound" }, nowMs + 300);
  tracing.called({ ...call, method: "createMachine", code: "ResourceExhausted" }, nowMs + 600);
  tracing.changed(aMachine(""), aMachine("Running"), nowMs + 1_000);
  tracing.called({ ...call, method: "getMachineStatus", code: "OK" }, nowMs + 2_000);
};

test("phases and calls of the driver are parts of one trace, whose ids follow from the UID", async () => {
  const spans = await trace(create);
  const { traceId, rootSpanId } = traceIdsOf("u-1", "create");
  expect(spans.map(({ name }) => name)).toEqual(["getMachineStatus", "createMachine", "Requested", "create machine"]);
  expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
  const root = spans.at(-1);
  expect(root?.spanContext().spanId).toBe(rootSpanId);
  expect(root?.parentSpanContext).toBeUndefined();
  expect(spans.slice(0, -1).map((span) => span.parentSpanContext?.spanId)).toEqual([
    rootSpanId,
    rootSpanId,
    rootSpanId,
  ]);
  expect(root?.startTime).toEqual([Date.parse("2026-01-01T00:00:00Z") / 1_000, 0]);
  expect(root?.duration).toEqual([61, 0]);
  expect(new Set(spans.map((span) => span.spanContext().spanId)).size).toBe(4);
});

test("attributes are those of the semantic conventions where there are some, and hold no text of a cloud", async () => {
  const spans = await trace(create);
  expect(spans[1]).toMatchObject({
    kind: SpanKind.CLIENT,
    status: { code: SpanStatusCode.ERROR },
    attributes: {
      "k8s.namespace.name": "n",
      "millwright.machine.name": "m",
      "millwright.machine.uid": "u-1",
      "millwright.machine_class.name": "small",
      "millwright.vm.provider_id": "mock:///vm-1",
      "millwright.driver.name": "mock",
      "rpc.method": "createMachine",
      "error.type": "ResourceExhausted",
    },
  });
  // A VM that is not there yet must not be an error.
  expect(spans[0]?.status.code).toBe(SpanStatusCode.UNSET);
  expect(spans[0]?.attributes).not.toHaveProperty("error.type");
  expect(spans[3]?.resource.attributes).toMatchObject({ "service.name": "millwright" });
  const texts = spans.map(({ name, attributes, status, events }) =>
    JSON.stringify({ name, attributes, status, events }),
  );
  expect(texts.join("")).not.toContain("hunter2");
});

test("the deletion is a trace of its own, and the machine is forgotten with it", async () => {
  const deleting = { deletionTimestamp: "2026-01-01T00:00:59Z" };
  const spans = await trace((tracing) => {
    tracing.changed(undefined, aMachine("Running"), nowMs - 2_000);
    tracing.changed(aMachine("Running"), aMachine("Terminating", deleting), nowMs);
    tracing.called({ uid: "u-1", driver: "mock", method: "deleteMachine", code: "OK", durationMs: 5 }, nowMs + 10);
    tracing.changed(aMachine("Terminating", deleting), undefined, nowMs + 1_000);
    tracing.called({ uid: "u-1", driver: "mock", method: "deleteMachine", code: "OK", durationMs: 5 }, nowMs + 2_000);
  });
  expect(spans.map(({ name }) => name)).toEqual(["deleteMachine", "delete machine"]);
  expect(spans[1]?.spanContext()).toMatchObject(
    (({ traceId, rootSpanId }) => ({ traceId, spanId: rootSpanId }))(traceIdsOf("u-1", "delete")),
  );
  expect(traceIdsOf("u-1", "delete").traceId).not.toBe(traceIdsOf("u-1", "create").traceId);
});

test.each([
  [{ OTEL_TRACES_SAMPLER: "always_off" }, 0],
  [{ OTEL_TRACES_SAMPLER: "parentbased_always_off" }, 0],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" }, 0],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "1" }, 4],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "many" }, 4],
  [{ OTEL_TRACES_SAMPLER: "unknown" }, 4],
])("with %j, %i spans of a creation are sent", async (env, count) => {
  expect(await trace(create, env)).toHaveLength(count);
});

test("a collector that is down is logged once in ten minutes, with how often it was left out", async () => {
  const clock = createVirtualClock();
  const log = vi.fn<TracingOptions["log"]>();
  const failing: SpanExporter = {
    export: (_, done) => done({ code: ExportResultCode.FAILED, error: new Error("ECONNREFUSED") }),
    shutdown: () => Promise.resolve(),
  };
  const { reportFailures } = await import("./report-failures.ts");
  const exporter = reportFailures(failing, { log, clock });
  for (let minute = 0; minute < 25; minute++) {
    exporter.export([], () => undefined);
    await clock.advance(60_000);
  }
  expect(log.mock.calls).toEqual([
    ["warn", "Failed to send traces; they are dropped", { error: "ECONNREFUSED" }],
    ["warn", "Failed to send traces; they are dropped", { error: "ECONNREFUSED", leftOut: 9 }],
    ["warn", "Failed to send traces; they are dropped", { error: "ECONNREFUSED", leftOut: 9 }],
  ]);
});

test("a collector that never answers fills no memory, and does not delay the end", async () => {
  let waiting = 0;
  const hanging: SpanExporter = {
    export: (spans) => void (waiting += spans.length),
    shutdown: () => Promise.resolve(),
  };
  const clock = createVirtualClock();
  const tracing = startTracing({ env: {}, log: vi.fn<TracingOptions["log"]>(), exporter: hanging, clock });
  for (let count = 0; count < 5_000; count++) {
    tracing.changed(undefined, aMachine("", { uid: `u-${count}` }), nowMs);
    tracing.changed(aMachine("", { uid: `u-${count}` }), aMachine("Running", { uid: `u-${count}` }), nowMs);
  }
  const closing = tracing.close();
  await clock.advance(2_000);
  await closing;
  // Of 10,000 spans: one batch under way and a full queue.
  expect(waiting).toBe(512 + 2_048);
});
