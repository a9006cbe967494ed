import type { ResourceType } from "@millwright/base";
import type { ReadonlyStore } from "../cache/store.ts";
import type { ApiClient } from "../client/api-client.ts";
import { ApiError, isConflict, isNotFound, isPatchMismatch, mayHaveSucceeded } from "../client/api-error.ts";
import { createJsonPatch, type JsonPatchOperation } from "../json/create-json-patch.ts";
import { type ApiObject, keyFor, keyOf, type ObjectRef } from "../objects/kube-object.ts";
import type { ObjectWrite, RefusedWrites } from "./refused-writes.ts";

/**
 * Writes objects of one type and stores each response in the cache, so that the next reconcile sees its own writes. Patching or deleting an object that
 * does not exist succeeds. After a conflict the object is read: its event may come much later, and until then each attempt would be a conflict.
 */
export interface Writer<T extends ApiObject> {
  create(object: T): Promise<T>;
  /** Patch of everything but the status; `metadata.resourceVersion` in it makes it conditional. Default: a JSON merge patch; `strategic` merges lists, of built-in kinds only. */
  patch(ref: ObjectRef, patch: object, kind?: "merge" | "strategic"): Promise<void>;
  /** Strategic patch of the status and, if given, of the metadata, which merges lists by their keys; built-in kinds only. */
  patchStatus(ref: ObjectRef, patch: object, metadata?: object): Promise<void>;
  /**
   * Writes the fields of the status that differ from those that were read; nothing if none does. Another object of this name, or one whose status was
   * removed or added since, is a conflict: kube-apiserver ignores `metadata.uid` in merge patches of the status of a custom resource.
   */
  writeStatus(read: T & { readonly status?: object }, status: object): Promise<void>;
  /** Background deletion of the object with this UID, and in this version if one is given; another one of the same name is kept. */
  delete(ref: ObjectRef, uid: string, resourceVersion?: string): Promise<void>;
}

export interface WriterOptions<T extends ApiObject> {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly store: Pick<ReadonlyStore<T>, "getByRef" | "applyWrite" | "applyDelete">;
  /** Is notified of deletions by this process. Default: none. */
  readonly deletions?: { recordDeletion(uid: string): void; forgetDeletion(uid: string): void } | undefined;
  /** Backs off patches and deletions that are refused. Default: none does. */
  readonly refused?: RefusedWrites;
  /** Whether a cached object lacks what could not be read: its status is replaced. Default: none does. */
  readonly isUnreadable?: (object: object) => boolean;
}

/** Makes a writer of objects of one kind. */
export function createWriter<T extends ApiObject>(options: WriterOptions<T>): Writer<T> {
  const { api, type, store, deletions, refused, isUnreadable = () => false } = options;
  const sendWrite = <R>(write: Omit<ObjectWrite, "type">, request: () => Promise<R>): Promise<R> =>
    refused === undefined ? request() : refused.send({ ...write, type }, request);
  /** The object that a request concerns. When it is answered, there may be another one of that name, which the answer does not concern. */
  const uidOf = (ref: ObjectRef): string | undefined => store.getByRef(ref)?.metadata.uid;
  /** Best effort: the next attempt shows again what is wrong. */
  const readAgain = async (ref: ObjectRef): Promise<void> => {
    const uid = uidOf(ref);
    try {
      store.applyWrite(await api.get<T>(type, ref));
    } catch (error) {
      if (isNotFound(error)) store.applyDelete({ ...ref, uid });
    }
  };
  const patchWith = async (
    ref: ObjectRef,
    patch: unknown,
    options: { readonly kind: "merge" | "strategic" | "json"; readonly subresource?: "status" },
  ): Promise<void> => {
    const send = (): Promise<T> =>
      api.patch<T>(type, ref, patch, options).catch((error: unknown) => {
        throw isPatchMismatch(error) ? replaced(type, ref, error) : error;
      });
    const { subresource } = options;
    const uid = uidOf(ref);
    try {
      store.applyWrite(await sendWrite({ verb: "patch", ref, subresource }, send));
    } catch (error) {
      if (isConflict(error)) await readAgain(ref);
      if (!isNotFound(error)) throw error;
      store.applyDelete({ ...ref, uid });
    }
  };
  return {
    async create(object) {
      const { namespace, name = "" } = object.metadata;
      const created = await sendWrite({ verb: "create", ref: { namespace, name } }, () => api.create<T>(type, object));
      store.applyWrite(created);
      return created;
    },
    patch: (ref, patch, kind = "merge") => patchWith(ref, patch, { kind }),
    patchStatus: (ref, status, metadata) =>
      patchWith(ref, metadata === undefined ? { status } : { metadata, status }, {
        kind: "strategic",
        subresource: "status",
      }),
    async writeStatus(read, status) {
      const changes = statusChanges(read, status, isUnreadable(read));
      const { namespace, name = "", uid } = read.metadata;
      if (changes.length === 0) return;
      const isSame = { op: "test", path: "/metadata/uid", value: uid };
      await patchWith({ namespace, name }, [isSame, ...changes], { kind: "json", subresource: "status" });
    },
    async delete(ref, uid, resourceVersion) {
      deletions?.recordDeletion(uid);
      try {
        const options = {
          uid,
          propagation: "Background",
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        } as const;
        const answer = await sendWrite({ verb: "delete", ref }, () => api.delete(type, ref, options));
        // While finalizers remain, the response is the object with its deletion timestamp; else it is a Status, or the last state.
        const isHeld = answer.metadata.deletionTimestamp !== undefined && (answer.metadata.finalizers ?? []).length > 0;
        // What the server keeps under a key of this type is of this type.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        if (isHeld && keyOf(answer) === keyFor(ref)) store.applyWrite(answer as ApiObject as T);
        else store.applyDelete({ ...ref, uid });
      } catch (error) {
        if (!mayHaveSucceeded(error)) deletions?.forgetDeletion(uid);
        if (isConflict(error)) await readAgain(ref);
        if (!isNotFound(error)) throw error;
        store.applyDelete({ ...ref, uid });
      }
    },
  };
}

/** A JSON patch cannot add a field to a status that does not exist, and would not merge the first status with one that another process has written. */
function statusChanges(
  read: { readonly status?: object },
  status: object,
  isUnreadable: boolean,
): readonly JsonPatchOperation[] {
  const changes = createJsonPatch({ ...read.status }, { ...status }, "/status");
  if (changes.length === 0 || read.status !== undefined) return changes;
  const isFirst: JsonPatchOperation = { op: "test", path: "/status", value: null };
  // A status that cannot be read is replaced.
  return [...(isUnreadable ? [] : [isFirst]), { op: "add", path: "/status", value: status }];
}

const replaced = (type: ResourceType, { name }: ObjectRef, cause: unknown): ApiError =>
  new ApiError({
    status: 409,
    reason: "Conflict",
    message: `${type.kind} ${name} was replaced or changed since it was read`,
    cause,
  });
