export { connectDriver } from "./client/connect-driver.ts";
export type { ConnectDriverOptions, DriverConnection, DriverRpcLog } from "./client/connect-driver.ts";
export { serveDriver } from "./server/serve-driver.ts";
export type { DriverServer, ServeDriverOptions } from "./server/serve-driver.ts";
export type { TlsFiles } from "@millwright/core/tls";
export { guardProcess } from "./process/guard.ts";
export type { GuardOptions } from "./process/guard.ts";
export { startDriverProcess } from "./process/start-driver-process.ts";
export type { DriverProcessOptions } from "./process/start-driver-process.ts";
