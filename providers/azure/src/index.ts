import { createAzureDriver } from "./driver.ts";

export type { ApiService } from "./api-call.ts";
export { createAzureDriver } from "./driver.ts";
export type { AzureDriverOptions } from "./driver.ts";
export { azureDiskCsiDriver } from "./get-volume-ids.ts";
export { ownerTagKeys } from "./owner-tags.ts";
export { azureSecretSchema } from "./secret.ts";
export { azureSpecSchema } from "./spec.ts";
export type { AzureSpec } from "./spec.ts";

/** The driver of Azure. Loaded by name at run time. */
export default createAzureDriver();
