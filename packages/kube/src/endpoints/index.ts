export { limitConnections } from "./limit-connections.ts";
export { createLimitedServer, HEADERS_MS } from "./limited-server.ts";
export type { ServerLimits } from "./limited-server.ts";
export { formatAddress, listen } from "./listen.ts";
export type { ListenAddress } from "./listen.ts";
export { reviewToken } from "./review-token.ts";
export type { RequiredAccess } from "./review-token.ts";
export { createTokenGate } from "./token-gate.ts";
export type { Rejection, TokenGate, TokenGateOptions } from "./token-gate.ts";
