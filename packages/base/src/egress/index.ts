/** Requests that leave this machine: which proxy they go through, and how. */
export { createEgressAgents } from "./egress-agents.ts";
export type { EgressAgents } from "./egress-agents.ts";
export { createEgressConnector } from "./egress-connector.ts";
export { proxyErrorCode } from "./open-tunnel.ts";
export { proxyFor } from "./proxy-for.ts";
export type { Environment } from "./proxy-for.ts";
export { readProxyUrl } from "./proxy-url.ts";
