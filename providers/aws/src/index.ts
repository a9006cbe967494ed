import { createAwsDriver } from "./driver.ts";

export { createAwsDriver } from "./driver.ts";
export type { AwsDriverOptions } from "./driver.ts";
export { ebsCsiDriver } from "./get-volume-ids.ts";
export type { PollTimes } from "@millwright/core/driver-kit";
export { ownerTagKeys } from "./vm/owner-tags.ts";
export { awsSecretSchema } from "./spec/secret.ts";
export { awsSpecSchema } from "./spec/spec.ts";
export type { AwsSpec } from "./spec/spec.ts";

/** The driver of EC2. Loaded by name at run time. */
export default createAwsDriver();
