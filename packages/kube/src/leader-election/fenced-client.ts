import type { ApiClient } from "../client/api-client.ts";
import type { CallOptions } from "../client/call-options.ts";
import type { Leadership } from "./leadership.ts";

/**
 * A client whose writes are rejected once the process is no longer the leader: each checks {@link Leadership.fence} at the moment
 * in which it is called, and again right before each attempt is sent, however long it waited and however late the event loop is. It is
 * aborted when leadership ends while it is under way. Reads and watches go on, so that caches stay warm.
 *
 * A write that had been sent before may still be carried out. It arrives within the time between the renew deadline and the
 * end of the lease, unless the network holds it back for longer, which only preconditions (`resourceVersion`, `uid`) can fence.
 */
export function createFencedClient(api: ApiClient, leadership: Pick<Leadership, "fence" | "lost">): ApiClient {
  const fenced = <Options extends CallOptions>(options: Options): Options => {
    leadership.fence();
    const { signal } = options;
    return {
      ...options,
      signal: signal === undefined ? leadership.lost : AbortSignal.any([signal, leadership.lost]),
      beforeSend: leadership.fence,
    };
  };
  return {
    ...api,
    create: async (type, object, options = {}) => api.create(type, object, fenced(options)),
    patch: async (type, ref, patch, options) => api.patch(type, ref, patch, fenced(options)),
    replace: async (type, object, options = {}) => api.replace(type, object, fenced(options)),
    delete: async (type, ref, options = {}) => api.delete(type, ref, fenced(options)),
    request: async (request) => api.request(request.method === "GET" ? request : fenced(request)),
  };
}
