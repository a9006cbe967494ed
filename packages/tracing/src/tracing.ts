import { type Clock, type LogFields, systemClock } from "@millwright/base";
import type { MachineErrorCode } from "@millwright/core";
import type { Machine } from "@millwright/core/machine-api";
import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, RandomIdGenerator, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import {
  ATTR_ERROR_TYPE,
  ATTR_K8S_NAMESPACE_NAME,
  ATTR_K8S_NODE_NAME,
  ATTR_RPC_METHOD,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from "@opentelemetry/semantic-conventions";
import { reportFailures } from "./report-failures.ts";
import { samplerOf } from "./sampler.ts";
import { followGone, followMachine, type MachineProgress, type MachineSpan } from "./spans/follow-machine.ts";
import { traceIdsOf } from "./spans/span-ids.ts";

/** How traces are sent. */
export interface TracingOptions {
  /** Base URL of the collector, such as `http://collector:4318`; OTLP over HTTP. Default: the environment variables of OpenTelemetry, then `http://localhost:4318`. */
  readonly endpoint?: string;
  /** Of Millwright. */
  readonly version?: string;
  /** `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`; the exporter reads those of the collector itself. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: (level: "warn", message: string, fields: LogFields) => void;
  /** Default: sends to the collector. */
  readonly exporter?: SpanExporter;
  readonly clock?: Clock;
}

/** A call of a driver about a machine that has ended. */
export interface EndedCall {
  /** Of the Machine. */
  readonly uid: string;
  readonly driver: string;
  readonly method: string;
  readonly code: MachineErrorCode | "OK";
  readonly durationMs: number;
}

/** Traces of machines. Its methods take some microseconds, never wait and never throw. */
export interface Tracing {
  /** A Machine is there, has changed, or is gone (`after` is absent). */
  changed(before: Machine | undefined, after: Machine | undefined, nowMs: number): void;
  /** A call of a driver has ended. */
  called(call: EndedCall, nowMs: number): void;
  /** Sends what is left, for two seconds at most. */
  close(): Promise<void>;
}

/** How long the last spans may take, milliseconds. */
const CLOSE_MS = 2_000;

/** Of one attempt to send, milliseconds. */
const EXPORT_MS = 5_000;

/** There are no conventions for these. */
const attributeNames = {
  machine: "millwright.machine.name",
  uid: "millwright.machine.uid",
  machineClass: "millwright.machine_class.name",
  providerId: "millwright.vm.provider_id",
  driver: "millwright.driver.name",
} as const;

/** What identifies a machine. No text that a driver or a cloud made is in it: it could have a secret. */
function attributesOf({ metadata, spec }: Machine): Attributes {
  const { namespace, name, uid, labels } = metadata;
  const attributes: Readonly<Record<string, string | undefined>> = {
    [ATTR_K8S_NAMESPACE_NAME]: namespace,
    [ATTR_K8S_NODE_NAME]: labels?.["node"],
    [attributeNames.machine]: name,
    [attributeNames.uid]: uid,
    [attributeNames.machineClass]: spec.class?.name,
    [attributeNames.providerId]: spec.providerID,
  };
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined && value !== ""));
}

/** The SDK takes the ids of new spans from here. Those of roots follow from the machine. */
function createIds() {
  const random = new RandomIdGenerator();
  let next: { readonly traceId: string; readonly rootSpanId: string } | undefined;
  return {
    generator: {
      generateTraceId: () => next?.traceId ?? random.generateTraceId(),
      generateSpanId: () => next?.rootSpanId ?? random.generateSpanId(),
    },
    /** Runs something that starts one span, a root with these ids. */
    using<Result>(ids: { readonly traceId: string; readonly rootSpanId: string }, run: () => Result): Result {
      next = ids;
      try {
        return run();
      } finally {
        next = undefined;
      }
    },
  };
}

function createExporter({ endpoint, log, clock = systemClock, exporter }: TracingOptions): SpanExporter {
  const url = endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, "")}/v1/traces` };
  return reportFailures(exporter ?? new OTLPTraceExporter({ ...url, timeoutMillis: EXPORT_MS }), { log, clock });
}

/**
 * Starts to send traces of machines to an OpenTelemetry Collector. At most 2048 spans wait to be sent; what comes beyond that while a collector does not
 * answer is dropped.
 */
export function startTracing(options: TracingOptions): Tracing {
  const { version = "", env, clock = systemClock } = options;
  const ids = createIds();
  const resource = defaultResource()
    .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: "millwright", [ATTR_SERVICE_VERSION]: version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({
    idGenerator: ids.generator,
    resource,
    sampler: samplerOf(env),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(options), exportTimeoutMillis: EXPORT_MS })],
  });
  const tracer = provider.getTracer("millwright", version);
  const progressOf = new Map<string, { progress: MachineProgress; machine: Machine }>();

  const parentOf = (uid: string, name: MachineSpan["trace"]) => {
    const { traceId, rootSpanId } = traceIdsOf(uid, name);
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: rootSpanId, traceFlags: TraceFlags.SAMPLED });
  };
  const record = (machine: Machine, { trace: of, isRoot, name, startMs, endMs, failure }: MachineSpan): void => {
    const uid = machine.metadata.uid ?? "";
    const attributes = {
      ...attributesOf(machine),
      ...(failure === undefined ? {} : { [ATTR_ERROR_TYPE]: failure }),
    };
    const options = { startTime: startMs, attributes, kind: SpanKind.INTERNAL };
    const span = isRoot
      ? ids.using(traceIdsOf(uid, of), () => tracer.startSpan(name, { ...options, root: true }, ROOT_CONTEXT))
      : tracer.startSpan(name, options, parentOf(uid, of));
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endMs);
  };
  return {
    changed(before, after, nowMs) {
      const uid = (after ?? before)?.metadata.uid ?? "";
      const known = progressOf.get(uid);
      if (after === undefined) {
        progressOf.delete(uid);
        if (known !== undefined && before !== undefined)
          for (const span of followGone(known.progress, nowMs)) record(before, span);
        return;
      }
      const { progress, spans } = followMachine(known?.progress, after, nowMs);
      progressOf.set(uid, { progress, machine: after });
      for (const span of spans) record(after, span);
    },
    called({ uid, driver, method, code, durationMs }, nowMs) {
      const { progress, machine } = progressOf.get(uid) ?? {};
      if (progress?.trace === undefined || machine === undefined) return;
      // Each creation first asks whether the VM is there.
      const isFailure = code !== "OK" && !(code === "NotFound" && method === "getMachineStatus");
      const attributes = {
        ...attributesOf(machine),
        [ATTR_RPC_METHOD]: method,
        [attributeNames.driver]: driver,
        ...(isFailure ? { [ATTR_ERROR_TYPE]: code } : {}),
      };
      const options = { startTime: nowMs - durationMs, attributes, kind: SpanKind.CLIENT };
      const span = tracer.startSpan(method, options, parentOf(uid, progress.trace));
      if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(nowMs);
    },
    async close() {
      const late = new AbortController();
      const closing = provider.shutdown().catch(() => undefined);
      await Promise.race([closing, clock.sleep(CLOSE_MS, late.signal).catch(() => undefined)]);
      late.abort();
    },
  };
}
