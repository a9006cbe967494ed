import { isSecret, redacted } from "@millwright/base";
import type { ApiCall, CloudExchange, DriverContext, DriverLogLevel } from "@millwright/core";
import { parseRecord } from "./json-text.ts";
import { textOfThrown } from "./machine-error.ts";
import type { Texts, WireExchange, WireReport } from "./messages.ts";
import { nonEmpty, present } from "./present.ts";

/** The most entries of a kind in one response: a driver that logs in a loop must not fill the memory of the host. */
const MAX_ENTRIES = 1_000;

/** The most exchanges of one response, in characters: a response has 64 MiB. */
const MAX_EXCHANGED = 8_000_000;

/** Longest fields of a log entry, characters. */
const MAX_FIELDS = 16_384;

const levels: readonly DriverLogLevel[] = ["info", "debug", "info", "warn", "error"];

const INFO = 2;

type WireCall = NonNullable<WireReport["apiCalls"]>[number];
type WireEntry = NonNullable<WireReport["log"]>[number];

/** What a driver reports during calls, until a response takes it to the host. */
export interface ReportCollector extends Required<Pick<DriverContext, "log" | "reportApiCall" | "recordExchange">> {
  /** What was reported since the last time; undefined for nothing. */
  take(): WireReport | undefined;
}

const plainFields = (_key: string, value: unknown): unknown => {
  if (isSecret(value)) return redacted;
  if (typeof value === "bigint" || typeof value === "symbol") return value.toString();
  if (value instanceof Error) {
    const code: unknown = Reflect.get(value, "code");
    return { name: value.name, message: value.message, code, stack: value.stack, cause: value.cause };
  }
  if (value instanceof Map || value instanceof Set) return [...value.values()];
  return ArrayBuffer.isView(value) ? `(${value.byteLength} bytes)` : value;
};

function fieldsText(fields: Readonly<Record<string, unknown>> | undefined): string {
  if (fields === undefined) return "";
  try {
    const text = JSON.stringify(fields, plainFields) ?? "";
    return text.length > MAX_FIELDS ? JSON.stringify({ fields: `(${text.length} characters left out)` }) : text;
  } catch {
    return JSON.stringify({ fields: "(cannot be printed)" });
  }
}

const textMap = (map: Texts | undefined): Texts | undefined => nonEmpty(map);

const toWireExchange = (exchange: CloudExchange): WireExchange =>
  present({
    method: exchange.method,
    url: exchange.url,
    requestHeaders: textMap(exchange.requestHeaders),
    requestBody: exchange.requestBody,
    status: exchange.status,
    responseHeaders: textMap(exchange.responseHeaders),
    responseBody: exchange.responseBody,
    error: exchange.error,
    seconds: exchange.seconds,
  });

const fromWireExchange = (exchange: WireExchange): CloudExchange =>
  present({
    method: exchange.method ?? "",
    url: exchange.url ?? "",
    requestHeaders: exchange.requestHeaders ?? {},
    requestBody: exchange.requestBody ?? "",
    status: exchange.status,
    // A map cannot be absent on the wire; an answer without headers has an empty one.
    responseHeaders: exchange.status === undefined ? undefined : (exchange.responseHeaders ?? {}),
    responseBody: exchange.responseBody,
    error: exchange.error,
    seconds: exchange.seconds ?? 0,
  });

const sizeOf = ({ url, requestBody, responseBody = "" }: CloudExchange): number =>
  url.length + requestBody.length + responseBody.length + 1_000;

/** Collects what a driver reports. Drivers are not trusted: what has another type is left out. */
export function createReportCollector(): ReportCollector {
  let apiCalls: WireCall[] = [];
  let log: WireEntry[] = [];
  let exchanges: WireExchange[] = [];
  let exchanged = 0;
  return {
    log(level, message, fields) {
      if (log.length >= MAX_ENTRIES) return;
      const known = levels.indexOf(level, 1);
      log.push({ level: known < 0 ? INFO : known, message: textOfThrown(message), fields: fieldsText(fields) });
    },
    reportApiCall(call) {
      const { service, outcome, seconds }: { readonly [Key in keyof ApiCall]?: unknown } = { ...call };
      if (apiCalls.length >= MAX_ENTRIES || typeof service !== "string" || typeof outcome !== "string") return;
      apiCalls.push({ service, outcome, seconds: typeof seconds === "number" ? seconds : Number.NaN });
    },
    recordExchange(exchange) {
      const size = sizeOf(exchange);
      if (exchanges.length >= MAX_ENTRIES || exchanged + size > MAX_EXCHANGED) return;
      exchanged += size;
      exchanges.push(toWireExchange(exchange));
    },
    take() {
      const report = present({
        apiCalls: apiCalls.length === 0 ? undefined : apiCalls,
        log: log.length === 0 ? undefined : log,
        exchanges: exchanges.length === 0 ? undefined : exchanges,
      });
      [apiCalls, log, exchanges, exchanged] = [[], [], [], 0];
      return Object.keys(report).length === 0 ? undefined : report;
    },
  };
}

function deliverEntry({ level = 0, message = "", fields = "" }: WireEntry, context: DriverContext): void {
  const read = fields === "" ? {} : (parseRecord(fields) ?? { fields });
  context.log(levels[level] ?? "info", message, read);
}

const firstOf = <Entry>(entries: readonly Entry[] | undefined): readonly Entry[] =>
  entries?.slice(0, MAX_ENTRIES) ?? [];

/** Gives the report of a response to the context of its call, as if the driver had reported it there. */
export function deliverReport(report: WireReport | null | undefined, context: DriverContext): void {
  for (const { service = "", outcome = "", seconds = 0 } of firstOf(report?.apiCalls))
    context.reportApiCall?.({ service, outcome, seconds });
  for (const entry of firstOf(report?.log)) deliverEntry(entry, context);
  for (const exchange of firstOf(report?.exchanges)) context.recordExchange?.(fromWireExchange(exchange));
}
