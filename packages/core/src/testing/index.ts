export { createVirtualClock } from "./virtual-clock.ts";
export type { VirtualClock, VirtualClockOptions } from "./virtual-clock.ts";
