import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { findBuilt } from "../../tools/control-plane/build-binary.ts";
import { type Program, startProgram } from "./program.ts";

const path = await findBuilt("otel-collector");

/** Whether `npm run control-plane -- build otel-collector` built an OpenTelemetry Collector here. */
export const hasCollector = path !== undefined;

const value = z.object({ stringValue: z.string() });

/** A span, as OTLP writes it. */
export const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(""),
  name: z.string(),
  kind: z.number().default(0),
  startTimeUnixNano: z.string().transform(Number),
  endTimeUnixNano: z.string().transform(Number),
  attributes: z.array(z.object({ key: z.string(), value })).default([]),
  status: z.object({ code: z.number().default(0) }).default({ code: 0 }),
});

/** A span that the collector received. */
export type Span = z.infer<typeof spanSchema>;

/** One line of OTLP's files. */
const batchSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(z.object({ key: z.string(), value: z.unknown() })) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

/** Starts a real OpenTelemetry Collector that prints what it receives by OTLP over HTTP at a port of the loopback address; its configuration is in the folder. */
export async function startCollector(folder: string, port: number): Promise<Program> {
  const file = join(folder, "collector.yaml");
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { stdout: {} },
    service: { pipelines: { traces: { receivers: ["otlp"], exporters: ["stdout"] } } },
  };
  await writeFile(file, JSON.stringify(config));
  const collector = startProgram("the collector", path ?? "", [`--config=file:${file}`]);
  await collector.waitFor(/Everything is ready/);
  return collector;
}

/** What a collector received so far, with the resources that sent it. */
export const batchesOf = (collector: Program): z.infer<typeof batchSchema>["resourceSpans"] =>
  collector
    .output()
    .split("\n")
    .filter((line) => line.startsWith('{"resourceSpans"') && line.endsWith("}"))
    .flatMap((line) => batchSchema.parse(JSON.parse(line)).resourceSpans);

/** All spans that a collector received so far. */
export const spansOf = (collector: Program): readonly Span[] =>
  batchesOf(collector).flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

/** The attributes of a span by name. */
export const attributesOf = ({ attributes }: Span): Readonly<Record<string, string>> =>
  Object.fromEntries(attributes.map(({ key, value: { stringValue } }) => [key, stringValue]));
