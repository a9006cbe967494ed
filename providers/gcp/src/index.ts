import { createGcpDriver } from "./driver.ts";

export type { ApiService } from "./api/api-call.ts";
export { createGcpDriver } from "./driver.ts";
export type { GcpDriverOptions } from "./driver.ts";
export { pdCsiDriver } from "./get-volume-ids.ts";
export type { PollTimes } from "@millwright/core/driver-kit";
export { ownerLabelKeys } from "./vm/owner-tags.ts";
export { gcpSecretSchema } from "./spec/secret.ts";
export { gcpSpecSchema } from "./spec/spec.ts";
export type { GcpSpec } from "./spec/spec.ts";

/** The driver of Compute Engine. Loaded by name at run time. */
export default createGcpDriver();
