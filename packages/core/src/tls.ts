/** TLS between processes that authenticate each other, and to servers that the system trusts; how servers listen. */
export { listen } from "@millwright/base/listen";
export {
  createTlsServer,
  explainTlsFailure,
  followingContext,
  followTlsFiles,
  systemContext,
} from "@millwright/base/tls";
export type { TlsFiles, TlsLog } from "@millwright/base/tls";
