import { createAwsDriver } from "./driver.ts";

export { createAwsDriver } from "./driver.ts";
export type { AwsDriverOptions } from "./driver.ts";
export { ebsCsiDriver } from "./get-volume-ids.ts";
export type { Patience } from "./method-call.ts";
export { ownerTagKeys } from "./owner-tags.ts";
export { awsSecretSchema } from "./secret.ts";
export { awsSpecSchema } from "./spec.ts";
export type { AwsSpec } from "./spec.ts";

/** The driver of EC2. Loaded by name at run time. */
export default createAwsDriver();
