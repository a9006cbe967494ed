/** TLS between processes that authenticate each other: files that are followed, and a server. */
export { explainTlsFailure } from "./explain-tls-failure.ts";
export { followTlsFiles } from "./follow-tls-files.ts";
export type { TlsFiles, TlsLog, TlsMaterial } from "./follow-tls-files.ts";
export { followingContext } from "./node-internals.ts";
export { certificatesIn, isPair } from "./pem.ts";
export { createTlsServer } from "./serve-tls.ts";
export { systemAuthorities, systemContext } from "./system-authorities.ts";
