import type { Clock, LogFields } from "@millwright/base";
import { ExportResultCode } from "@opentelemetry/core";
import type { SpanExporter } from "@opentelemetry/sdk-trace";

/** After a failure is logged, further ones are only counted for so long, milliseconds. */
const QUIET_MS = 10 * 60_000;

/** What {@link reportFailures} needs to log. */
export interface FailureReport {
  readonly log: (level: "warn", message: string, fields: LogFields) => void;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** An exporter whose failures are logged, at most once in ten minutes: a collector that is down is not the controllers' problem. */
export function reportFailures(exporter: SpanExporter, { log, clock }: FailureReport): SpanExporter {
  let loggedMs: number | undefined;
  let leftOut = 0;
  const report = (error: Error | undefined): void => {
    const nowMs = clock.monotonicMs();
    if (loggedMs !== undefined && nowMs - loggedMs < QUIET_MS) return void leftOut++;
    log("warn", "Failed to send traces; they are dropped", {
      error: error?.message ?? "unknown",
      ...(leftOut === 0 ? {} : { leftOut }),
    });
    loggedMs = nowMs;
    leftOut = 0;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) report(result.error);
        // The processor would report it once more, to a console.
        done({ code: ExportResultCode.SUCCESS });
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}
