import { get, subject } from "../request-script.ts";

const aggregated = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

/** The discovery documents that both servers have. */
export const discovery = subject(
  "discovery",
  [
    get("core group", "/api"),
    get("policy group", "/apis/policy"),
    get("coordination group", "/apis/coordination.k8s.io"),
    get("storage group", "/apis/storage.k8s.io"),
    get("extensions group", "/apis/apiextensions.k8s.io"),
    get("events group", "/apis/events.k8s.io"),
    get("a missing group", "/apis/missing.example.io"),
    get("a missing version", "/apis/policy/v9"),
    get("core resources", "/api/v1"),
    get("policy resources", "/apis/policy/v1"),
    get("coordination resources", "/apis/coordination.k8s.io/v1"),
    get("extensions resources", "/apis/apiextensions.k8s.io/v1"),
    get("storage resources", "/apis/storage.k8s.io/v1"),
    get("events resources", "/apis/events.k8s.io/v1"),
    get("aggregated core", "/api", aggregated),
    get("aggregated groups", "/apis", aggregated),
    get("healthz", "/healthz"),
    get("readyz", "/readyz"),
    get("livez", "/livez"),
    get("a path that is missing", "/nowhere"),
    get("an api path that is missing", "/api/v1/nowhere"),
  ],
  { sharedOnly: true },
);
