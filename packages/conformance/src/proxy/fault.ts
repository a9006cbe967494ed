/** What the proxy does with a request and its response. */
export type ProxyFault =
  /** The connection is closed before the cloud gets the request. */
  | { readonly kind: "cut-before" }
  /** The cloud gets the request; the connection is closed instead of a response. */
  | { readonly kind: "cut-after" }
  /** The cloud does not get the request, and there is no response. */
  | { readonly kind: "hang" }
  /** Half of the response, and the connection is closed. */
  | { readonly kind: "truncate" }
  /** A response that is not the cloud's. The cloud does not get the request. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** A response of 200 whose body arrives byte by byte and never ends. */
  | { readonly kind: "slow" }
  /** A response of 200 with a body of this size. */
  | { readonly kind: "large"; readonly bytes: number };

/** A page of a proxy that knows nothing of the cloud. */
export const htmlPage = (status: number): ProxyFault => ({
  kind: "answer",
  status,
  headers: { "content-type": "text/html" },
  body: "<html><head><title>Proxy error</title></head><body><h1>The proxy failed</h1></body></html>",
});
