/** A request on its way to the API server. */
export interface SentRequest {
  /** Who sent it: the name of a process. */
  readonly sender: string;
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
}

/** What the network, or a server that is not well, makes of a request. */
export type RequestFate =
  /** No response ever comes; the request was served or not. */
  | { readonly kind: "lost"; readonly served: boolean }
  /** The connection is reset; the request was served or not. */
  | { readonly kind: "reset"; readonly served: boolean }
  /** The server refuses it. Default message: that it is simulated. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly reason: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: "slow"; readonly ms: number }
  /** No connection is made at all. */
  | { readonly kind: "unreachable" };

/** The outcome of a line of a watch. */
export type LineFate =
  | { readonly kind: "late"; readonly ms: number }
  | { readonly kind: "twice" }
  /** The watch ends before it. */
  | { readonly kind: "lost" }
  /** Half of it arrives, and the watch ends. */
  | { readonly kind: "cut" }
  /** The connection stays and nothing comes any more. */
  | { readonly kind: "silence" }
  /** An ERROR event arrives instead, and the watch ends. */
  | { readonly kind: "expired" };

/** A fault of the network that lasts until it is removed. */
export interface NetworkFault {
  /** Undefined leaves the request to the other faults. */
  readonly ofRequest?: (request: SentRequest) => RequestFate | undefined;
  readonly ofLine?: (request: SentRequest) => LineFate | undefined;
}

/** The faults that are active now; the oldest decides. */
export interface NetworkFaults {
  /** Returns what removes it. */
  add(fault: NetworkFault): () => void;
  fateOf(request: SentRequest): RequestFate | undefined;
  lineFateOf(request: SentRequest): LineFate | undefined;
}

/** Makes an empty set of faults. */
export function createNetworkFaults(): NetworkFaults {
  const active = new Set<NetworkFault>();
  return {
    add(fault) {
      active.add(fault);
      return () => void active.delete(fault);
    },
    fateOf(request) {
      for (const { ofRequest } of active) {
        const fate = ofRequest?.(request);
        if (fate !== undefined) return fate;
      }
      return undefined;
    },
    lineFateOf(request) {
      for (const { ofLine } of active) {
        const fate = ofLine?.(request);
        if (fate !== undefined) return fate;
      }
      return undefined;
    },
  };
}
