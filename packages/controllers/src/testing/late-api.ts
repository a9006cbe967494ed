import type { ResourceType } from "@millwright/base";
import type { ApiClient } from "@millwright/kube";

/** An API client whose watches can be late. */
export interface LateApi extends ApiClient {
  /** Watches of that kind deliver no event until they are released, and then all of them. Lists are never late. */
  hold(kind: ResourceType["kind"]): void;
  release(): void;
  /** Since when a watch is held, by the caller's clock; undefined while none is. */
  readonly heldSinceMs: () => number | undefined;
}

/** Makes a {@link LateApi} of the client of an API server. */
export function createLateApi(api: ApiClient, nowMs: () => number): LateApi {
  const held = new Set<string>();
  let since: number | undefined;
  let next = Promise.withResolvers<void>();
  const opened = async (kind: string, signal: AbortSignal): Promise<void> => {
    if (!held.has(kind) || signal.aborted) return;
    await next.promise;
    await opened(kind, signal);
  };
  return {
    ...api,
    async *watch(type, options, signal) {
      for await (const event of api.watch(type, options, signal)) {
        await opened(type.kind, signal);
        yield event;
      }
    },
    hold(kind) {
      since ??= nowMs();
      held.add(kind);
    },
    release() {
      since = undefined;
      held.clear();
      next.resolve();
      next = Promise.withResolvers<void>();
    },
    heldSinceMs: () => since,
  };
}
