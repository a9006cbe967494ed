import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent, AgentOptions } from "node:https";
import type { Socket } from "node:net";
import { getBuiltinModule } from "node:process";
import { type Environment, proxyFor } from "./proxy-for.ts";
import { tunnelTo } from "./tunnel-to.ts";

/** Keeps connections to many hosts, each through the proxy that the environment has for it. */
export interface EgressAgents {
  /** For `http` URLs, which are tunnelled as well. */
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** Closes all connections. */
  destroy(): void;
}

/**
 * Makes agents for node:http and for SDKs that are built on it. The proxy of a host is that of {@link proxyFor}.
 *
 * @param options those of TLS are for the host; a proxy that is `https` may also have a certificate of `ca`
 */
export function createEgressAgents(
  options: AgentOptions & { readonly ca?: string },
  env: Environment = process.env,
): EgressAgents {
  const http = throughProxy(new (getBuiltinModule("node:http").Agent)(options), "http:", env, undefined);
  const https = throughProxy(new (getBuiltinModule("node:https").Agent)(options), "https:", env, options.ca);
  return {
    http,
    https,
    destroy() {
      http.destroy();
      https.destroy();
    },
  };
}

type CreateConnection = HttpAgent["createConnection"];

function throughProxy<Agent extends HttpAgent>(
  agent: Agent,
  protocol: string,
  env: Environment,
  ca: string | undefined,
): Agent {
  const connect: CreateConnection = agent.createConnection.bind(agent);
  const proxyOf = (url: URL): URL | undefined => proxyFor(url, env);
  const createConnection: CreateConnection = (options, settle) => {
    const tunnel = tunnelTo({ protocol, host: options.host ?? "localhost", port: options.port, proxyOf, ca });
    if (tunnel === undefined) return connect(options, settle);
    const connectWithin = (socket: Socket): void => {
      const stream = protocol === "http:" ? socket : connect(Object.assign(options, { socket }));
      if (stream) settle?.(null, stream);
    };
    // The types want a stream even where there is an error, which Node does not read.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    tunnel.then(connectWithin, (error: Error) => (settle as ((error: Error) => void) | undefined)?.(error));
    return undefined;
  };
  return Object.assign(agent, { createConnection });
}
