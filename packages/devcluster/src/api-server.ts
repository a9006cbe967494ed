import type { RequestListener } from "node:http";
import { type Clock, ConfigError, type Random, systemClock, systemRandom } from "@millwright/base";
import { authenticateBy, type TokenUser } from "./access/authenticate.ts";
import { allowAll, rbacAuthorizer } from "./access/authorize.ts";
import { createBootstrapRoles } from "./controllers/bootstrap-roles.ts";
import { createFaults, type Faults } from "./faults/faults.ts";
import { createClusterFaults, type ClusterFaults } from "./cluster-faults/cluster-faults.ts";
import { handleRequest } from "./http/handle-request.ts";
import { builtInKinds } from "./kinds/built-in-kinds.ts";
import { createRegistry } from "./resources/registry.ts";
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
import { type Backup, createObjectStore, type ObjectStore } from "./storage/object-store.ts";
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
  /** Default: the system's random source. */
  readonly random?: Random;
  /** Where objects are persisted, see `openFileStorage`. Default: in memory only. */
  readonly storage?: Journal;
  /** Default: no log. */
  readonly log?: Log;
  /** How many changes of each resource a watch can replay; older versions get 410. Default 4096. */
  readonly historyLimit?: number;
  /** How often a watch gets a bookmark, milliseconds. Default: a minute, as from kube-apiserver. */
  readonly bookmarkEveryMs?: number;
  /** How many requests `requests` keeps. Default 10,000. */
  readonly requestLogLimit?: number;
  /** Serves HTTPS with a certificate of the server's own authority; see `listen`. Default false. */
  readonly tls?: boolean;
  /**
   * The users of bearer tokens. Default: no authentication, every request without a client certificate is the administrator's.
   * `{}` accepts certificates only.
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
  readonly host?: "127.0.0.1" | "::1";
}

/** The address of the server. */
export interface Listening {
  readonly url: string;
  /** The certificate authority that clients must trust, in PEM; undefined without TLS. */
  readonly certificateAuthority: string | undefined;
}

/** Options of a restart. */
export interface RestartOptions {
  /**
   * Default true. With false the server is empty afterwards, like a cluster that lost its etcd, and versions start again.
   */
  readonly keepData?: boolean;
  /** The server continues from this backup, like a cluster whose etcd was restored. Default: from its own data. */
  readonly restore?: Backup;
  /** How much higher than in the backup versions continue, like `--bump-revision` of `etcdutl snapshot restore`. Default 0. */
  readonly addedRevisions?: number;
  /** How long the port is closed. Default 0. */
  readonly downMs?: number;
}

/** A Kubernetes API server inside this process. */
export interface ApiServer {
  /** Starts to listen. Rejects with a ConfigError that names the port when it is taken. */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Starts to serve without a port, for a simulated network: the function handles one request. While the server is down, it destroys the response.
   * Call once, instead of {@link ApiServer.listen}.
   */
  serveInProcess(): RequestListener;
  /** Ends all watches and connections and closes the storage. Safe to call twice. */
  close(): Promise<void>;
  /** Forgets the history of changes, like a compaction of etcd: older watches get 410 from here on. */
  compactHistory(): void;
  /** A copy of all objects, like a snapshot of etcd, for {@link RestartOptions.restore}. */
  backup(): Backup;
  /** Ends all connections and comes back on the same port, without the history of changes. */
  restart(options?: RestartOptions): Promise<void>;
  /**
   * Issues a client certificate of the server's authority for a user with groups. Rejects with a ConfigError when the server
   * does not listen over TLS.
   */
  issueClientCertificate(user: CertificateUser): Promise<Credentials>;
  /** Faults of API requests; also at `/millwright/faults`. */
  readonly faults: Faults;
  /**
   * Faults of nodes, pods, volumes and the garbage collector; also at `/millwright/cluster-faults`. Simulated nodes and workloads obey those
   * that are passed to them.
   */
  readonly clusterFaults: ClusterFaults;
  /** The latest requests, oldest first; a watch is recorded when it ends. Also at `/millwright/requests`. */
  readonly requests: readonly RequestRecord[];
  /**
   * What is stored, read beside all requests, such as by a simulation that compares it with the caches of its controllers. `put` is neither validated nor
   * recorded in managed fields: for writes whose cost would hide everything else, such as the heartbeats of a large fleet.
   */
  readonly objects: Pick<ObjectStore, "get" | "list" | "subscribe" | "put">;
}

const defaultRequestLogLimit = 10_000;
const defaultBookmarkMs = 60_000;

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
  const {
    random = systemRandom,
    log = () => {},
    requestLogLimit = defaultRequestLogLimit,
    bookmarkEveryMs = defaultBookmarkMs,
  } = options;
  const faults = createFaults(random);
  const clusterFaults = createClusterFaults();
  const clock = skewed(options.clock ?? systemClock, faults);
  const store = createObjectStore({ journal: options.storage, historyLimit: options.historyLimit });
  const requests = createRequestLog(requestLogLimit);
  const certificates = createCertificates(clock);
  const authenticator = authenticateBy(options.tokens);
  const isRbac = options.authorization === "RBAC";
  const authorizer = isRbac ? rbacAuthorizer(store) : allowAll;
  let context: ServerContext = { store, registry: createRegistry(builtInKinds), clock, random, log, bookmarkEveryMs };
  let stopControllers = startControllers(context, isRbac, clusterFaults);
  let closing = new AbortController();
  let running: RunningServer | undefined;
  /** Serves a request; undefined while the server is down. */
  let handle: RequestListener | undefined;
  let isInProcess = false;
  let address: { readonly host: string; readonly port: number } = { host: "127.0.0.1", port: 0 };
  let closed: Promise<void> | undefined;

  const open = async (): Promise<string | undefined> => {
    const tls = options.tls === true ? await certificates.ofServer() : undefined;
    const { signal } = closing;
    const control = { faults, clusterFaults, requests, store, restart };
    const handler = { context, faults, requests, control, authenticator, authorizer };
    handle = (raw, response) => void handleRequest(handler, raw, response, signal);
    if (!isInProcess) {
      running = await runServer(address, tls, handle);
      address = { ...address, port: running.port };
    }
    // A timer keeps the process alive, so it starts when the server listens.
    const stopExpiry = expireEvents(context);
    signal.addEventListener("abort", stopExpiry, { once: true });
    return tls?.authorityPem;
  };

  const disconnect = async (): Promise<void> => {
    closing.abort();
    handle = undefined;
    stopControllers();
    const stopping = running?.stop();
    running = undefined;
    await stopping;
  };

  async function restart({
    keepData = true,
    restore,
    addedRevisions = 0,
    downMs = 0,
  }: RestartOptions = {}): Promise<void> {
    if (closed !== undefined || handle === undefined) return;
    await disconnect();
    if (restore !== undefined) store.restore(restore, addedRevisions);
    else if (keepData) store.compactHistory();
    else store.clear();
    if (downMs > 0) await clock.sleep(downMs);
    if (closed !== undefined) return;
    context = { ...context, registry: createRegistry(builtInKinds) };
    stopControllers = startControllers(context, isRbac, clusterFaults);
    closing = new AbortController();
    await open();
  }

  return {
    async listen({ port = 0, host = "127.0.0.1" } = {}) {
      address = { host, port };
      const certificateAuthority = await open();
      const scheme = certificateAuthority === undefined ? "http" : "https";
      return { url: `${scheme}://${host === "::1" ? "[::1]" : host}:${address.port}`, certificateAuthority };
    },
    serveInProcess() {
      isInProcess = true;
      void open();
      return (raw, response) => {
        if (handle === undefined) response.destroy();
        else handle(raw, response);
      };
    },
    close() {
      closed ??= disconnect().then(() => store.close());
      return closed;
    },
    compactHistory: () => store.compactHistory(),
    backup: () => store.backup(),
    restart,
    issueClientCertificate: (user) => certificates.ofClient(user),
    faults,
    clusterFaults,
    get requests() {
      return requests.latest();
    },
    objects: { get: store.get, list: store.list, subscribe: store.subscribe, put: store.put },
  };
}

/** The certificates of a server. Its authority is created at the first start, because that takes a moment, and kept. */
function createCertificates(clock: Clock) {
  let authority: Promise<CertificateAuthority> | undefined;
  let credentials: Promise<Credentials> | undefined;
  return {
    async ofServer(): Promise<Credentials & { readonly authorityPem: string }> {
      authority ??= createCertificateAuthority(clock.now());
      const { certificatePem, issueServer } = await authority;
      credentials ??= issueServer();
      return { ...(await credentials), authorityPem: certificatePem };
    },
    async ofClient(user: CertificateUser): Promise<Credentials> {
      if (authority === undefined) {
        throw new ConfigError(
          "Cannot issue client certificates: the server must be created with `tls: true` and listen",
        );
      }
      return (await authority).issueClient(user);
    },
  };
}

/** Starts the controllers. Returns the function that stops them. */
function startControllers(context: ServerContext, isRbac: boolean, clusterFaults: ClusterFaults): () => void {
  if (isRbac) createBootstrapRoles(context);
  const stops = [
    runCrdController(context),
    runNamespaceController(context),
    runGarbageCollector(context, clusterFaults),
    runDisruptionController(context),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** A clock whose wall time has the skew of the faults; durations are right. */
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
