import { createAzureDriver } from "./driver.ts";

export type { ApiService } from "./api/api-call.ts";
export { createAzureDriver } from "./driver.ts";
export type { AzureDriverOptions } from "./driver.ts";
export { azureDiskCsiDriver } from "./get-volume-ids.ts";
export { ownerTagKeys } from "./vm/owner-tags.ts";
export { azureSecretSchema } from "./spec/secret.ts";
export { azureSpecSchema } from "./spec/spec.ts";
export type { AzureSpec } from "./spec/spec.ts";

/** The driver of Azure. Loaded by name at run time. */
export default createAzureDriver();
