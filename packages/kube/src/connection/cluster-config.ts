/** Certificates and what is expected of the server. PEM text or bytes. */
export interface TlsMaterial {
  readonly ca?: string | Uint8Array;
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** Name to check the server's certificate against, when it is not the host of the address. */
  readonly serverName?: string;
  /** Accepts whatever certificate the server shows. Default false. */
  readonly insecureSkipVerify?: boolean;
}

/** What a request is sent with to prove who asks. */
export interface Credentials {
  /** Headers of each request, `authorization` mostly. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Client certificate of an exec plugin, which comes with its answer. When it changes, connections are made anew. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
}

/** How to reach one API server. */
export interface ClusterConfig {
  /** `https://host:port`, or `http://` for loopback servers without TLS; a path prefix is kept. */
  readonly server: string;
  /** The namespace of the context, if it names one. */
  readonly namespace?: string;
  readonly tls?: TlsMaterial;
  /**
   * The TLS material as it is now, instead of `tls`: asked before each request and each watch. When it answers another object,
   * new connections are made; those that are open end in peace.
   */
  readonly currentTls?: () => Promise<TlsMaterial>;
  /** URL of the proxy that requests go through: `http`, `https` or `socks5`, with user and password where it wants them. Left out: none, whatever the environment has. */
  readonly proxyUrl?: string;
  /**
   * Asked before each request, so it must be quick: it caches, and renews when that is due.
   * Left out: requests carry no credentials.
   *
   * @param refused the server just answered 401 to these: they are to be fetched anew. When the same come back, the 401 stands
   */
  readonly credentials?: (signal?: AbortSignal, refused?: Credentials) => Promise<Credentials>;
}
