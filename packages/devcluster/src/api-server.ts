import { type Clock, ConfigError, type Random, systemClock, systemRandom } from "@millwright/base";
import { authenticateBy, type TokenUser } from "./access/authenticate.ts";
import { allowAll, rbacAuthorizer } from "./access/authorize.ts";
import { createBootstrapRoles } from "./controllers/bootstrap-roles.ts";
import { createFaults, type Faults } from "./faults/faults.ts";
import { createClusterFaults, type ClusterFaults } from "./cluster-faults/cluster-faults.ts";
import { handleRequest } from "./http/handle-request.ts";
import { builtInKinds } from "./kinds/built-in-kinds.ts";
import { createRegistry } from "./resources/registry.ts";
import { runClusterRoleAggregation } from "./controllers/aggregated-roles.ts";
import { runCrdController } from "./controllers/custom-resources.ts";
import { runDisruptionController } from "./controllers/disruption-budgets.ts";
import { expireEvents } from "./controllers/expire-events.ts";
import { runGarbageCollector } from "./controllers/garbage-collector.ts";
import { runNamespaceController } from "./controllers/namespaces.ts";
import type { Log } from "@millwright/kube";
import type { ServerContext } from "./resources/server-context.ts";
import { createRequestLog, type RequestRecord } from "./observability/request-log.ts";
import { type RunningServer, runServer } from "./http/listen.ts";
import type { Journal } from "./storage/journal.ts";
import { createObjectStore } from "./storage/object-store.ts";
import {
  type CertificateAuthority,
  type CertificateUser,
  createCertificateAuthority,
  type Credentials,
} from "./tls/certificate-authority.ts";

/** Options of {@link createApiServer}. */
export interface ApiServerOptions {
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Default: the system's randomness. */
  readonly random?: Random;
  /** Where objects outlive the process, see `openFileStorage`. Default: nowhere, everything is in memory. */
  readonly storage?: Journal;
  /** Default: nothing is logged. */
  readonly log?: Log;
  /** How many changes of each resource a watch can go back; older versions answer 410. Default 4096. */
  readonly historyLimit?: number;
  /** How many requests `requests` keeps. Default 10,000. */
  readonly requestLogLimit?: number;
  /** Serves HTTPS with a certificate of an authority that is made for this server; see `listen`. Default false. */
  readonly tls?: boolean;
  /**
   * Who bearer tokens stand for. Default: no authentication, everybody without a client certificate is the administrator; `{}` lets
   * certificates alone in.
   */
  readonly tokens?: Readonly<Record<string, TokenUser>>;
  /** `RBAC` evaluates the stored roles and bindings. Default `AlwaysAllow`. */
  readonly authorization?: "AlwaysAllow" | "RBAC";
}

/** Where to listen. */
export interface ListenOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Loopback only. */
  readonly host?: "127.0.0.1";
}

/** Where the server is. */
export interface Listening {
  readonly url: string;
  /** The certificate authority that clients are to trust, in PEM; undefined without TLS. */
  readonly certificateAuthority: string | undefined;
}

/** How to restart. */
export interface RestartOptions {
  /** Default true; false comes back empty, as a cluster whose etcd was lost, with versions that start again. */
  readonly keepData?: boolean;
  /** How long the port is closed in between. Default 0. */
  readonly downMs?: number;
}

/** A Kubernetes API server inside of this process. */
export interface ApiServer {
  /** Starts to listen. Rejects with a ConfigError that names the port when it is taken. */
  listen(options?: ListenOptions): Promise<Listening>;
  /** Ends all watches and connections and closes the storage. Safe to call twice. */
  close(): Promise<void>;
  /** Forgets the history of changes, as etcd's compaction does: older watches answer 410 from here on. */
  compactHistory(): void;
  /** Ends all connections and comes back on the same port, without the history of changes. */
  restart(options?: RestartOptions): Promise<void>;
  /**
   * Issues a client certificate of the server's authority: its holder is known as that user, with those groups. Rejects with a
   * ConfigError when the server does not listen over TLS.
   */
  issueClientCertificate(user: CertificateUser): Promise<Credentials>;
  /** What goes wrong on demand; also at `/millwright/faults`. */
  readonly faults: Faults;
  /**
   * What goes wrong with nodes, pods and volumes; also at `/millwright/cluster-faults`. Simulated nodes and workloads suffer from it when
   * they are given it.
   */
  readonly clusterFaults: ClusterFaults;
  /** The latest requests, oldest first; a watch is noted when it ends. Also at `/millwright/requests`. */
  readonly requests: readonly RequestRecord[];
}

const defaultRequestLogLimit = 10_000;

/**
 * Creates an API server. It serves nothing until `listen` is called.
 *
 * @example
 * const server = createApiServer();
 * const { url } = await server.listen({ port: 8001 });
 * // kubectl --server http://127.0.0.1:8001 get namespaces
 * await server.close();
 */
export function createApiServer(options: ApiServerOptions = {}): ApiServer {
  const { random = systemRandom, log = () => {}, requestLogLimit = defaultRequestLogLimit } = options;
  const faults = createFaults(random);
  const clusterFaults = createClusterFaults();
  const clock = skewed(options.clock ?? systemClock, faults);
  const store = createObjectStore({ journal: options.storage, historyLimit: options.historyLimit });
  const requests = createRequestLog(requestLogLimit);
  /** Made with the first start, because it takes a moment; the same for all starts of this server. */
  let authority: Promise<CertificateAuthority> | undefined;
  let serverCredentials: Promise<Credentials> | undefined;
  const authenticate = authenticateBy(options.tokens);
  const isRbac = options.authorization === "RBAC";
  const authorizer = isRbac ? rbacAuthorizer(store) : allowAll;
  let context: ServerContext = { store, registry: createRegistry(builtInKinds), clock, random, log };
  let stopControllers = startControllers(context, isRbac);
  let closing = new AbortController();
  let running: RunningServer | undefined;
  let address = { host: "127.0.0.1", port: 0 };
  let closed: Promise<void> | undefined;

  const secure = async (): Promise<Credentials & { readonly authorityPem: string }> => {
    authority ??= createCertificateAuthority(clock.now());
    const { certificatePem, issueServer } = await authority;
    serverCredentials ??= issueServer();
    return { ...(await serverCredentials), authorityPem: certificatePem };
  };

  const open = async (): Promise<string | undefined> => {
    const tls = options.tls === true ? await secure() : undefined;
    const { signal } = closing;
    const control = { faults, clusterFaults, requests, store, restart };
    const handler = { context, faults, requests, control, authenticate, authorizer };
    running = await runServer(address, tls, (raw, response) => void handleRequest(handler, raw, response, signal));
    address = { ...address, port: running.port };
    // A timer keeps the process alive, so it starts with the listening and not before.
    const stopExpiry = expireEvents(context);
    signal.addEventListener("abort", stopExpiry, { once: true });
    return tls?.authorityPem;
  };

  const disconnect = async (): Promise<void> => {
    closing.abort();
    stopControllers();
    const stopping = running?.stop();
    running = undefined;
    await stopping;
  };

  async function restart({ keepData = true, downMs = 0 }: RestartOptions = {}): Promise<void> {
    if (closed !== undefined || running === undefined) return;
    await disconnect();
    if (keepData) store.compactHistory();
    else store.clear();
    if (downMs > 0) await clock.sleep(downMs);
    if (closed !== undefined) return;
    context = { ...context, registry: createRegistry(builtInKinds) };
    stopControllers = startControllers(context, isRbac);
    closing = new AbortController();
    await open();
  }

  return {
    async listen({ port = 0, host = "127.0.0.1" } = {}) {
      address = { host, port };
      const certificateAuthority = await open();
      const scheme = certificateAuthority === undefined ? "http" : "https";
      return { url: `${scheme}://${host}:${address.port}`, certificateAuthority };
    },
    close() {
      closed ??= disconnect().then(() => store.close());
      return closed;
    },
    compactHistory: () => store.compactHistory(),
    restart,
    async issueClientCertificate(user) {
      if (authority === undefined) {
        throw new ConfigError("client certificates need a server with `tls: true` that has been told to listen");
      }
      return (await authority).issueClient(user);
    },
    faults,
    clusterFaults,
    get requests() {
      return requests.latest();
    },
  };
}

/** Starts what a controller manager does, from the objects that are there. Returns the function that ends it. */
function startControllers(context: ServerContext, isRbac: boolean): () => void {
  if (isRbac) createBootstrapRoles(context);
  const stops = [
    runCrdController(context),
    runNamespaceController(context),
    runClusterRoleAggregation(context),
    runGarbageCollector(context),
    runDisruptionController(context),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** A clock whose wall time is off by what the faults say; durations are right. */
function skewed(clock: Clock, faults: Faults): Clock {
  return {
    now() {
      const now = clock.now();
      return faults.clockSkewMs === 0 ? now : new Date(now.getTime() + faults.clockSkewMs);
    },
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    setTimer: (ms, run) => clock.setTimer(ms, run),
  };
}
