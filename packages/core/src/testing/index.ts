export { aContext, aMachine, failureOf, secretOf } from "./driver-call.ts";
export { secretProblems, specProblems } from "./driver-problems.ts";
export { createSkippingClock } from "./skipping-clock.ts";
export type { SkippingClock } from "./skipping-clock.ts";
export { createVirtualClock } from "./virtual-clock.ts";
export type { VirtualClock, VirtualClockOptions } from "./virtual-clock.ts";
export { withoutPending } from "./without-pending.ts";
export type { ImmediateDriver } from "./without-pending.ts";
