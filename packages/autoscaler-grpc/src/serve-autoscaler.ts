import { createServer, type Socket } from "node:net";
import { type handleUnaryCall, Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { type Clock, ConfigError, type Random } from "@millwright/base";
import { createTlsServer } from "@millwright/core/tls";
import { type ApiClient, type Log, messageOf } from "@millwright/kube";
import { formatAddress, limitConnections, listen } from "@millwright/kube/endpoints";
import { createCalls } from "./calls/calls.ts";
import { followGroups } from "./calls/groups.ts";
import type { AutoscalerFleet } from "./groups/fleet.ts";
import { CallError, toCallStatus } from "./wire/call-error.ts";
import { cloudProviderService } from "./wire/service.ts";

/** Files of TLS in PEM, which are followed. Both sides authenticate. */
export interface TlsFiles {
  /** Certificates of the authorities that sign certificates of the autoscaler. */
  readonly clientCa: string;
  readonly cert: string;
  readonly key: string;
  /** Common names or DNS names, one of which the certificate of the autoscaler must have. Default: any that its authority has signed. */
  readonly clientNames?: readonly string[];
}

/** How the endpoint is served. */
export interface AutoscalerOptions {
  /** An IP address of this machine. */
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Without it, everyone who reaches the address may create and delete machines. */
  readonly tls?: TlsFiles | undefined;
  /** One for each namespace. */
  readonly fleets: readonly AutoscalerFleet[];
  /** Resolves when the caches are filled; calls before that are rejected as UNAVAILABLE. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Reads Machines and MachineDeployments, and changes the latter. */
  readonly control: Pick<ApiClient, "get" | "patch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** An endpoint that is being served. */
export interface AutoscalerServer {
  readonly port: number;
  /** Accepts no calls any more, and ends those in flight after a while. */
  close(): Promise<void>;
}

/** An autoscaler has one connection. The certificates of others are checked once they are connected. */
const LIMITS = { total: 64, perPeer: 16 };

/** Calls at the same time on a connection. */
const MAX_CALLS = 64;

/** How long calls may take to end, milliseconds. */
const CLOSE_MS = 2_000;

/** Longest time of a call without a deadline, milliseconds; the autoscaler sets 5 s by default. */
const CALL_MS = 30_000;

/** Where one authority signs the certificates of all clients of a cluster, most of them must not scale. */
function checkClient(
  call: Parameters<handleUnaryCall<unknown, unknown>>[0],
  names: readonly string[] | undefined,
): void {
  if (names === undefined) return;
  const { subject, subjectaltname = "" } = call.getAuthContext().sslPeerCertificate ?? {};
  const own = [subject?.CN ?? []].flat().concat(subjectaltname.split(", ").map((text) => text.replace(/^DNS:/, "")));
  if (!own.some((name) => names.includes(name)))
    throw new CallError("PERMISSION_DENIED", "the certificate has none of the names of --autoscaler-client-names");
}

/** Aborts when the call is canceled or its deadline has passed. */
function signalOf(call: Parameters<handleUnaryCall<unknown, unknown>>[0], clock: Clock) {
  const controller = new AbortController();
  const deadline = Number(call.getDeadline());
  const leftMs = Number.isFinite(deadline) ? deadline - clock.now().getTime() : CALL_MS;
  const timer = clock.setTimer(leftMs, () => controller.abort(new CallError("UNAVAILABLE", "the deadline has passed")));
  call.on("cancelled", () => controller.abort(new CallError("UNAVAILABLE", "the autoscaler has canceled the call")));
  return { signal: controller.signal, end: () => timer.cancel() };
}

/**
 * Serves MachineDeployments as node groups of the cluster autoscaler (`--cloud-provider=externalgrpc`). Nothing is remembered between calls: any process with the same fleets may serve the next one.
 *
 * @throws ConfigError when a file of TLS cannot be read, or the address cannot be used
 */
export async function serveAutoscaler(options: AutoscalerOptions): Promise<AutoscalerServer> {
  const { address, port, fleets, control, clock, random, log, tls } = options;
  const server = new Server({ "grpc.max_concurrent_streams": MAX_CALLS });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  /** gRPC gets connections whose clients were verified. */
  const inject = (socket: Socket): void => injector.injectConnection(socket);
  const listener =
    tls === undefined ? createServer(inject) : createTlsServer({ ...tls, ca: tls.clientCa }, inject, { clock, log });
  const groups = followGroups(fleets, log);
  const closed = new AbortController();
  let isReady = false;
  void options.ready(closed.signal).then(
    () => (isReady = true),
    () => undefined,
  );

  const unary =
    <Request, Response>(
      name: string,
      answer: (request: Request, signal: AbortSignal) => Response | Promise<Response>,
    ): handleUnaryCall<Request, Response> =>
    (call, callback) => {
      const { signal, end } = signalOf(call, clock);
      void (async () => {
        try {
          checkClient(call, tls?.clientNames);
          if (!isReady) throw new CallError("UNAVAILABLE", "the caches are not filled yet");
          callback(null, await answer(call.request, signal));
        } catch (error) {
          const rejection = toCallStatus(error);
          log("debug", "A call of the cluster autoscaler failed", { path: name, error: rejection.details });
          callback(rejection);
        } finally {
          end();
        }
      })();
    };
  const calls = createCalls(groups, { control, clock, random, log });
  // Prices are missing: gRPC answers UNIMPLEMENTED.
  const implementation: UntypedServiceImplementation = {
    NodeGroups: unary("NodeGroups", calls.NodeGroups),
    NodeGroupForNode: unary("NodeGroupForNode", calls.NodeGroupForNode),
    GPULabel: unary("GPULabel", calls.GPULabel),
    GetAvailableGPUTypes: unary("GetAvailableGPUTypes", calls.GetAvailableGPUTypes),
    Cleanup: unary("Cleanup", calls.Cleanup),
    Refresh: unary("Refresh", calls.Refresh),
    NodeGroupTargetSize: unary("NodeGroupTargetSize", calls.NodeGroupTargetSize),
    NodeGroupIncreaseSize: unary("NodeGroupIncreaseSize", calls.NodeGroupIncreaseSize),
    NodeGroupDeleteNodes: unary("NodeGroupDeleteNodes", calls.NodeGroupDeleteNodes),
    NodeGroupDecreaseTargetSize: unary("NodeGroupDecreaseTargetSize", calls.NodeGroupDecreaseTargetSize),
    NodeGroupNodes: unary("NodeGroupNodes", calls.NodeGroupNodes),
    NodeGroupTemplateNodeInfo: unary("NodeGroupTemplateNodeInfo", calls.NodeGroupTemplateNodeInfo),
    NodeGroupGetOptions: unary("NodeGroupGetOptions", calls.NodeGroupGetOptions),
  };
  server.addService(cloudProviderService, implementation);
  limitConnections(listener, LIMITS);
  const bound = await listen(listener, { address, port }).catch((cause: unknown) => {
    throw new ConfigError(`cannot listen on ${formatAddress({ address, port })}: ${messageOf(cause)}`, { cause });
  });
  return {
    port: bound,
    async close() {
      closed.abort(new Error("the endpoint is closed"));
      listener.close();
      await new Promise<void>((resolve) => {
        const timer = clock.setTimer(CLOSE_MS, () => server.forceShutdown());
        server.tryShutdown(() => {
          timer.cancel();
          resolve();
        });
      });
      groups.close();
    },
  };
}
