export { limitConnections } from "./limit-connections.ts";
export { createLimitedServer, HEADERS_MS } from "./limited-server.ts";
export type { ServerLimits } from "./limited-server.ts";
export { formatAddress, listen } from "@millwright/base/listen";
export type { ListenAddress } from "@millwright/base/listen";
export { reviewToken } from "./review-token.ts";
export type { RequiredAccess } from "./review-token.ts";
export { createTokenGate } from "./token-gate.ts";
export type { Rejection, TokenGate, TokenGateOptions } from "./token-gate.ts";
