import type { SecureContext } from "node:tls";
import type { SessionResources } from "@millwright/core/driver-kit";
import { createEgressConnector, proxyFor } from "@millwright/core/egress";
import type { Agent, buildConnector, RequestInit, Response } from "undici";

/** `fetch` over connections of its own, which go through the proxies of the environment. */
export interface EgressFetch {
  (url: string, init: RequestInit): Promise<Response>;
  /** Where exchanges are to be recorded. */
  readonly recorder: SessionResources["recorder"];
  /** Closes the connections. Requests that are under way fail. */
  close(): void;
}

type Build = typeof buildConnector;

/** Connects without TLS as it is, and with TLS to what the system trusts, which is read with the first of these connections. */
function connectorOf(build: Build, systemContext: () => SecureContext): ReturnType<Build> {
  const plain = build({ allowH2: false });
  let secure: ReturnType<Build> | undefined;
  return (options, settle) => {
    if (options.protocol !== "https:") plain(options, settle);
    else (secure ??= build({ allowH2: false, secureContext: systemContext() }))(options, settle);
  };
}

/** Makes the `fetch` of one session. undici, which is the `fetch` of Node with a choice of connections, is loaded with the first request: it takes 0.1 s. */
export function createEgressFetch({ env, recorder }: Pick<SessionResources, "env" | "recorder">): EgressFetch {
  let agent: Agent | undefined;
  let isClosed = false;
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const { Agent, buildConnector, fetch } = await import("undici");
    const { systemContext } = await import("@millwright/core/tls");
    const proxyOf = (target: URL): URL | undefined => proxyFor(target, env);
    agent ??= new Agent({
      allowH2: false,
      connect: createEgressConnector(connectorOf(buildConnector, systemContext), { proxyOf, ca: undefined }),
    });
    if (isClosed) void agent.destroy();
    return fetch(url, { ...init, dispatcher: agent });
  };
  return Object.assign(send, {
    recorder,
    close() {
      isClosed = true;
      void agent?.destroy();
    },
  });
}
