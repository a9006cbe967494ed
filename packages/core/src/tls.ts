/** TLS between processes that authenticate each other. */
export { createTlsServer, explainTlsFailure, followTlsFiles } from "@millwright/base/tls";
export type { TlsFiles, TlsLog } from "@millwright/base/tls";
