/** Certificates and what is expected of the server. PEM text or bytes. */
export interface TlsMaterial {
  readonly ca?: string | Uint8Array;
  /** Where authorities come from, as a noun for messages: `ca.crt`. */
  readonly caSource?: string;
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** Name to check the server's certificate against, when it is not the host of the address. */
  readonly serverName?: string;
  /** Accepts whatever certificate the server shows. Default false. */
  readonly insecureSkipVerify?: boolean;
}

/** What a request is sent with to prove who asks. */
export interface Credentials {
  /** Headers of each request, `authorization` mostly; a list is sent as several headers. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Client certificate of an exec plugin, which comes with its credential. When it changes, connections are recreated. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
}

/** How to reach one API server. */
export interface ClusterConfig {
  /** `https://host:port`, or `http://` for loopback servers without TLS; a path prefix is kept. */
  readonly server: string;
  /** The namespace of the context, if it names one. */
  readonly namespace?: string;
  /** Deadline of a call, milliseconds, for a client without one of its own. Left out: that of the client. */
  readonly requestTimeoutMs?: number;
  readonly tls?: TlsMaterial;
  /**
   * The configuration as it is now, instead of this one: asked before each request and each watch, so it must be fast. When its server, proxy or TLS material is a different one, new connections are opened; open ones
   * are closed when their requests end.
   *
   * @param isRejected whether the server just rejected the credentials: what may be out of date is read again
   */
  readonly current?: (isRejected?: boolean) => Promise<ClusterConfig>;
  /** Whether connections to link-local addresses fail, also for a name that resolves to one. A proxy resolves names by itself. Default false. */
  readonly rejectsLinkLocal?: boolean;
  /** URL of the proxy that requests go through: `http`, `https` or `socks5`, with user and password if needed. Left out: none, regardless of the environment. */
  readonly proxyUrl?: string;
  /**
   * Called before each request, so it must be fast: it caches, and renews when needed.
   * Left out: requests carry no credentials.
   *
   * @param rejected credentials that the server just rejected with 401: renew them. If the same are returned, the request fails with 401
   */
  readonly credentials?: (signal?: AbortSignal, rejected?: Credentials) => Promise<Credentials>;
}
