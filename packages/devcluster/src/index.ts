export { createApiServer } from "./api-server.ts";
export { kubeconfigFor } from "./kubeconfig.ts";
export type { ApiServer, ApiServerOptions, ListenOptions } from "./api-server.ts";
export type { Log } from "./machinery.ts";
