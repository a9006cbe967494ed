export type { Emulator, EmulatorReply, EmulatorRequest, Refusal, RequestSubject } from "./emulator.ts";
export { createEmulatorServer } from "./emulator-server.ts";
export type { EmulatorServer, EmulatorServerOptions } from "./emulator-server.ts";
export type { FaultEnd, FaultPlan, FaultRule } from "./fault-plan.ts";
export type { LoggedRequest, RequestEnd, RequestLog } from "./request-log.ts";
export { selfSignedCertificate } from "./self-signed-certificate.ts";
export type { SelfSignedCertificate } from "./self-signed-certificate.ts";
export { createTokenBuckets } from "./token-bucket.ts";
export type { BucketSize, TakeToken } from "./token-bucket.ts";
