import type { ResourceType } from "@millwright/core";
import {
  type ApiClient,
  type ApiObject,
  isNotFound,
  keyFor,
  keyOf,
  mayHaveSucceeded,
  type ObjectRef,
  type ReadonlyStore,
} from "@millwright/kube";
import type { CrdGuard } from "../model/crd-guard.ts";
import type { RefusedWrites } from "./refused-writes.ts";

/**
 * Writes objects of one type and stores each response in the cache, so that the next reconcile sees its own writes. Patching or deleting an object that
 * does not exist succeeds.
 */
export interface Writer<T extends ApiObject> {
  create(object: T): Promise<T>;
  /** JSON merge patch of everything but the status; `metadata.resourceVersion` in it makes it conditional. */
  patch(ref: ObjectRef, patch: object): Promise<void>;
  /** Patch of the status: a JSON merge patch, or, for built-in kinds, a strategic one, which merges lists by their keys. */
  patchStatus(ref: ObjectRef, patch: object, kind?: "merge" | "strategic"): Promise<void>;
  /** Background deletion of the object with this UID, and in this version if one is given; another one of the same name is kept. */
  delete(ref: ObjectRef, uid: string, resourceVersion?: string): Promise<void>;
}

/** Options of {@link createWriter}. */
export interface WriterOptions<T extends ApiObject> {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly store: Pick<ReadonlyStore<T>, "applyWrite" | "applyDelete">;
  /** Is notified of deletions by this process. Default: none. */
  readonly crdGuard?: Pick<CrdGuard, "recordDeletion" | "forgetDeletion"> | undefined;
  /** Backs off patches that are refused. Default: none does. */
  readonly refused?: RefusedWrites;
}

/** Makes a writer of objects of one kind. */
export function createWriter<T extends ApiObject>({
  api,
  type,
  store,
  crdGuard,
  refused,
}: WriterOptions<T>): Writer<T> {
  const patchWith = async (
    ref: ObjectRef,
    patch: object,
    options: { readonly kind: "merge" | "strategic"; readonly subresource?: "status" },
  ): Promise<void> => {
    const send = (): Promise<T> => api.patch<T>(type, ref, patch, options);
    // The status and the rest of an object are refused by different rules.
    const id = `${type.plural}/${options.subresource ?? ""}/${keyFor(ref)}`;
    try {
      store.applyWrite(await (refused === undefined ? send() : refused.send(id, send)));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      store.applyDelete(ref);
    }
  };
  return {
    async create(object) {
      const created = await api.create<T>(type, object);
      store.applyWrite(created);
      return created;
    },
    patch: (ref, patch) => patchWith(ref, patch, { kind: "merge" }),
    patchStatus: (ref, status, kind = "merge") => patchWith(ref, { status }, { kind, subresource: "status" }),
    async delete(ref, uid, resourceVersion) {
      crdGuard?.recordDeletion(uid);
      try {
        const answer = await api.delete(type, ref, {
          uid,
          propagation: "Background",
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        });
        // While finalizers remain, the response is the object with its deletion timestamp; else it is a Status, or the last state.
        const isHeld = answer.metadata.deletionTimestamp !== undefined && (answer.metadata.finalizers ?? []).length > 0;
        // What the server keeps under a key of this type is of this type.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        if (isHeld && keyOf(answer) === keyFor(ref)) store.applyWrite(answer as ApiObject as T);
        else store.applyDelete({ ...ref, uid });
      } catch (error) {
        if (!mayHaveSucceeded(error)) crdGuard?.forgetDeletion(uid);
        if (!isNotFound(error)) throw error;
        store.applyDelete({ ...ref, uid });
      }
    },
  };
}
