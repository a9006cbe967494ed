export { normalizeDelayMs, sleepWith } from "../clock.ts";
export { createFastClock } from "./fast-clock.ts";
export { startRecordingProxy } from "./recording-proxy.ts";
export type { AskedTunnel, RecordingProxy, RecordingProxyOptions } from "./recording-proxy.ts";
export { createSkippingClock } from "./skipping-clock.ts";
export type { SkippingClock } from "./skipping-clock.ts";
export { createVirtualClock } from "./virtual-clock.ts";
export type { VirtualClock, VirtualClockOptions } from "./virtual-clock.ts";
