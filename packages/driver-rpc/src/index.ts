export { connectDriver } from "./client/connect-driver.ts";
export type { ConnectDriverOptions, DriverConnection, DriverRpcLog } from "./client/connect-driver.ts";
export { serveDriver } from "./server/serve-driver.ts";
export type { DriverServer, ServeDriverOptions } from "./server/serve-driver.ts";
export type { TlsFiles } from "./wire/credentials.ts";
