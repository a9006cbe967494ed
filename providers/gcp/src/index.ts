import { createGcpDriver } from "./driver.ts";

export type { ApiService } from "./api-call.ts";
export { createGcpDriver } from "./driver.ts";
export type { GcpDriverOptions } from "./driver.ts";
export { pdCsiDriver } from "./get-volume-ids.ts";
export type { Patience } from "./method-call.ts";
export { ownerLabelKeys } from "./owner-tags.ts";
export { gcpSecretSchema } from "./secret.ts";
export { gcpSpecSchema } from "./spec.ts";
export type { GcpSpec } from "./spec.ts";

/** The driver of Compute Engine. Loaded by name at run time. */
export default createGcpDriver();
