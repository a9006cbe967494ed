export { createApiServer } from "./api-server.ts";
export { kubeconfigFor } from "./kubeconfig.ts";
export type { ApiServer, ApiServerOptions, ListenOptions } from "./api-server.ts";
export type { Log } from "./machinery.ts";
export { openFileStorage } from "./storage/file-storage.ts";
export type { FileStorageOptions } from "./storage/file-storage.ts";
export type { Journal, JournalContent, JournalRecord } from "./storage/journal.ts";
