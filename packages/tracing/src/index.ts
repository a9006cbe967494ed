export { startTracing } from "./tracing.ts";
export type { EndedCall, Tracing, TracingOptions } from "./tracing.ts";
