export { aContext, aMachine, secretOf } from "./driver-call.ts";
export { createVirtualClock } from "./virtual-clock.ts";
export type { VirtualClock, VirtualClockOptions } from "./virtual-clock.ts";
