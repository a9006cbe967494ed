export {
  createFastClock,
  createSkippingClock,
  createVirtualClock,
  normalizeDelayMs,
  sleepWith,
  startRecordingProxy,
} from "@millwright/base/testing";
export type {
  AskedTunnel,
  RecordingProxy,
  RecordingProxyOptions,
  SkippingClock,
  VirtualClock,
  VirtualClockOptions,
} from "@millwright/base/testing";
export { aContext, aMachine, failureOf, secretOf } from "./driver-call.ts";
export { secretProblems, specProblems } from "./driver-problems.ts";
export { withoutPending } from "./without-pending.ts";
export type { ImmediateDriver } from "./without-pending.ts";
