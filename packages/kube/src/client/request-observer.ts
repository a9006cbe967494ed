/** The methods that the Kubernetes API knows. */
export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request as metrics show it: of which kind it is, and never of which object. */
export interface RequestKind {
  readonly method: HttpMethod;
  /** As in the metrics of kube-apiserver: a GET of a collection is `LIST` or `WATCH`. */
  readonly verb: HttpMethod | "LIST" | "WATCH";
  /** As in RBAC, `machines` or `machines/status`; empty for other paths, such as `/version`. */
  readonly resource: string;
}

/** Observes what a client sends, for metrics: each attempt by itself. Must not throw. */
export interface RequestObserver {
  /** The client limits itself: an attempt got its place after so long, milliseconds. Watches have connections of their own. */
  waited(request: RequestKind, ms: number): void;
  /** The headers of the response arrived after so long; status `undefined`: there was none, because of a broken connection or a deadline. */
  answered(request: RequestKind, status: number | undefined, ms: number): void;
  /** The attempt is repeated, because of this status; `undefined`: of a broken connection. */
  retried(request: RequestKind, status: number | undefined): void;
}

/** The kind of a request to a path, which may have a query. Source: kube-apiserver, `pkg/endpoints/request/requestinfo.go`. */
export function requestKindOf(method: HttpMethod, path: string): RequestKind {
  const [location = "", query = ""] = path.split("?", 2);
  const [, root, ...rest] = location.split("/");
  const scoped = root === "api" ? rest.slice(1) : root === "apis" ? rest.slice(2) : [];
  const [plural = "", name, subresource] = scoped[0] === "namespaces" && scoped.length > 2 ? scoped.slice(2) : scoped;
  if (method !== "GET" || plural === "" || name !== undefined) {
    return { method, verb: method, resource: subresource === undefined ? plural : `${plural}/${subresource}` };
  }
  return { method, verb: /(?:^|&)watch=(?:true|1)(?:&|$)/.test(query) ? "WATCH" : "LIST", resource: plural };
}

/** Passes requests on to those who observe them. Without one it costs nothing. */
export interface RequestObservers extends RequestObserver {
  /** Returns what ends it. */
  add(observer: RequestObserver): () => void;
}

/** Makes the list of those who observe a client. */
export function createRequestObservers(): RequestObservers {
  const observers = new Set<RequestObserver>();
  return {
    add(observer) {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    waited: (...args) => {
      for (const observer of observers) observer.waited(...args);
    },
    answered: (...args) => {
      for (const observer of observers) observer.answered(...args);
    },
    retried: (...args) => {
      for (const observer of observers) observer.retried(...args);
    },
  };
}
