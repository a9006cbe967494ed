import { seededRandom, systemClock } from "@millwright/base";
import {
  createApiClient,
  createInformer,
  type Informer,
  type InformerOptions,
  type KubeObject,
  type ResourceType,
} from "@millwright/kube";

/** The kind in the caches of these tests: nothing else creates its objects. */
export const configMaps: ResourceType = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

/** The faults of these tests apply to this user agent only. */
export const userAgent = "cache-under-test";

export const configMap = (name: string, value = ""): KubeObject => ({
  metadata: { namespace: "default", name },
  data: { value },
});

/** A running cache, with its log and the changes that its subscribers received. */
export interface CacheUnderTest {
  readonly informer: Informer<KubeObject>;
  /** Names, sorted. */
  readonly names: () => readonly string[];
  /** `+a`, `~a`, `-a` with the resource version, in the order of delivery. */
  readonly received: readonly string[];
  readonly logged: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts a cache of the objects of a type in the namespace `default`, with connections of its own. */
export function startCache(
  server: string,
  more: Partial<InformerOptions<KubeObject, never>> & { readonly token?: string; readonly watched?: ResourceType } = {},
): CacheUnderTest {
  const { token, watched = configMaps, ...options } = more;
  const credentials =
    token === undefined ? {} : { credentials: async () => ({ headers: { authorization: `Bearer ${token}` } }) };
  const api = createApiClient({ server, ...credentials }, { userAgent, timeoutMs: 5_000 });
  const logged: string[] = [];
  const received: string[] = [];
  const stop = new AbortController();
  const informer = createInformer({
    api,
    type: watched,
    namespace: "default",
    clock: systemClock,
    random: seededRandom(1),
    backoff: { initialMs: 50, maxMs: 500 },
    log: (level, message, fields) => logged.push(`${level} ${message} ${JSON.stringify(fields)}`),
    ...options,
  });
  informer.store.subscribe((old, current) => {
    const { name, resourceVersion } = (current ?? old)?.metadata ?? {};
    received.push(`${old === undefined ? "+" : current === undefined ? "-" : "~"}${name} ${resourceVersion}`);
  });
  const running = informer.run(stop.signal);
  return {
    informer,
    names: () =>
      informer.store
        .list()
        .map(({ metadata }) => metadata.name ?? "")
        .toSorted(),
    received,
    logged,
    stop: async () => {
      stop.abort(new Error("the test ends"));
      await running;
      await api.close();
    },
  };
}
