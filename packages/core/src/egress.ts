/** Requests that leave this machine, for drivers: which proxy they go through, and how. */
export {
  createEgressAgents,
  createEgressConnector,
  proxyErrorCode,
  proxyFor,
  readProxyUrl,
} from "@millwright/base/egress";
export type { EgressAgents, Environment } from "@millwright/base/egress";
