import { createRequire } from "node:module";
import type { Agent, buildConnector } from "undici";

/** The part of undici that the API client needs. */
export interface HttpClients {
  readonly Agent: typeof Agent;
  readonly buildConnector: typeof buildConnector;
}

const load = createRequire(import.meta.url);

/**
 * Loads the clients of undici without the rest of it, such as `fetch`, caches, mocks and web sockets: these take 6 MiB more in each
 * thread that connects. Its `index.js` does the same with these modules.
 */
export function loadHttpClients(): HttpClients {
  const dispatcher: { readonly prototype: object } = load("undici/lib/dispatcher/dispatcher.js");
  Object.assign(dispatcher.prototype, load("undici/lib/api/index.js"));
  return {
    Agent: load("undici/lib/dispatcher/agent.js"),
    buildConnector: load("undici/lib/core/connect.js"),
  };
}
