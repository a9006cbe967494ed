import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent, AgentOptions } from "node:https";
import { getBuiltinModule } from "node:process";
import type { Duplex } from "node:stream";
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
 * @param ca certificates that hosts, and a proxy that is `https`, may have in addition to those of the system, as PEM
 */
export function createEgressAgents(
  { ca, ...options }: AgentOptions & { readonly ca?: string },
  env: Environment = process.env,
): EgressAgents {
  const http = throughProxy(new (getBuiltinModule("node:http").Agent)(options), "http:", env, ca);
  const https = throughProxy(new (getBuiltinModule("node:https").Agent)(options), "https:", env, ca);
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
  const open = async (options: Parameters<CreateConnection>[0]): Promise<Duplex | null | undefined> => {
    const socket = await tunnelTo({ protocol, host: options.host ?? "localhost", port: options.port, proxyOf, ca });
    if (protocol === "http:") return socket ?? connect(options);
    const { systemContext } = await import("../tls/index.ts");
    return connect(Object.assign(options, { socket, secureContext: systemContext(ca) }));
  };
  const createConnection: CreateConnection = (options, settle) => {
    open(options).then(
      (stream) => stream && settle?.(null, stream),
      // The types want a stream even where there is an error, which Node does not read.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      (error: Error) => (settle as ((error: Error) => void) | undefined)?.(error),
    );
    return undefined;
  };
  return Object.assign(agent, { createConnection });
}
