import { AlwaysOffSampler, AlwaysOnSampler, type Sampler, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";

/**
 * The sampler of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. A trace begins here, so `parentbased_…` is the same as without. It decides by the id of the trace, so
 * that a trace is whole, also after a takeover. Default and fallback: all traces.
 */
export function samplerOf({
  OTEL_TRACES_SAMPLER: name = "",
  OTEL_TRACES_SAMPLER_ARG: argument,
}: NodeJS.ProcessEnv): Sampler {
  switch (name.replace(/^parentbased_/, "")) {
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio": {
      const ratio = Number(argument ?? "1");
      return new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1);
    }
    default:
      return new AlwaysOnSampler();
  }
}
