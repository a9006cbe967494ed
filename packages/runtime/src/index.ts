export { createDriverHost } from "./drivers/driver-host.ts";
export type { DriverHostOptions } from "./drivers/driver-host.ts";
export { loadDriver } from "./drivers/load-driver.ts";
export { createFileLog, createJsonLog } from "./json-log.ts";
export { createManagerLeadership, leaseNames } from "./leadership.ts";
export type { ManagerElectionOptions, ManagerLeadership } from "./leadership.ts";
export { createManager } from "./manager.ts";
export type { Manager, ManagerOptions } from "./manager.ts";
