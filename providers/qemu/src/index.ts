import { createQemuDriver } from "./driver.ts";

export { createQemuDriver } from "./driver.ts";
export type { QemuDriverOptions } from "./driver.ts";
export type { QemuHost } from "./launch/create-machine.ts";
export { maxUserDataBytes } from "./launch/prepare.ts";
export { qemuSpecSchema } from "./spec/spec.ts";
export type { QemuSpec } from "./spec/spec.ts";
export { systemUuidOf } from "./vm/identity.ts";
export { ownerTagKeys } from "./vm/record.ts";

/** The driver of VMs on this computer. Loaded by name at run time. */
export default createQemuDriver();
