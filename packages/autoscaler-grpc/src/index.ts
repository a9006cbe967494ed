export { serveAutoscaler } from "./serve-autoscaler.ts";
export type { AutoscalerOptions, AutoscalerServer, TlsFiles } from "./serve-autoscaler.ts";
export type { AutoscalerFleet } from "./groups/fleet.ts";
