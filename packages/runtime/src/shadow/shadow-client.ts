import type { ResourceType } from "@millwright/base";
import { type ApiClient, type ApiObject, type KubeObject, type ObjectRef } from "@millwright/kube";
import type { RefusedWrite } from "./intended-action.ts";

/** The UID in answers to writes that were not sent. No object has it. */
const NO_UID = "not-written";

/**
 * Answer to a write that was not sent. It is older than every state of a real object, so no cache changes by it: version 0, and for all but deletions
 * already deleted.
 */
const answerTo = (type: ResourceType, { namespace, name }: ObjectRef, isDeletion: boolean): KubeObject => ({
  apiVersion: type.group === "" ? type.version : `${type.group}/${type.version}`,
  kind: type.kind,
  metadata: {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid: NO_UID,
    resourceVersion: "0",
    deletionTimestamp: "1970-01-01T00:00:00Z",
    // Held: the object stays in the cache.
    ...(isDeletion ? { finalizers: [NO_UID] } : {}),
  },
});

/**
 * A client that reads and watches through another one, and sends no write: each is reported and answered as if it had succeeded, so that a reconcile goes on with the
 * rest of its decision. The answer changes no cache, so the next reconcile decides on what the API server has.
 *
 * @throws Error for any request other than GET, by `request`
 */
export function createShadowClient(api: ApiClient, onWrite: (write: RefusedWrite) => void): ApiClient {
  const refuse = <T extends ApiObject>(write: RefusedWrite): Promise<T> => {
    onWrite(write);
    // As for a real answer, the type argument is the expectation of the caller.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return Promise.resolve(answerTo(write.type, write.ref, write.verb === "delete") as ApiObject as T);
  };
  const refOf = ({ metadata }: ApiObject): ObjectRef => ({
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    name: metadata.name ?? "",
  });
  // Named one by one: a method that is added to the client later writes nothing through this one.
  return {
    get: api.get,
    list: api.list,
    watch: api.watch,
    create: (type, object, options = {}) =>
      refuse({ verb: "create", type, ref: refOf(object), body: object, subresource: options.subresource }),
    patch: (type, ref, patch, options) =>
      refuse({ verb: "patch", type, ref, body: patch, subresource: options.subresource }),
    replace: (type, object, options = {}) =>
      refuse({ verb: "replace", type, ref: refOf(object), body: object, subresource: options.subresource }),
    delete: (type, ref) => refuse<KubeObject>({ verb: "delete", type, ref }),
    request: (request) =>
      request.method === "GET"
        ? api.request(request)
        : Promise.reject(new Error(`${request.method} ${request.path} is not sent: this process only reads`)),
    ...(api.connectivity === undefined ? {} : { connectivity: api.connectivity }),
    ...(api.serverTime === undefined ? {} : { serverTime: api.serverTime }),
    ...(api.history === undefined ? {} : { history: api.history }),
    ...(api.load === undefined ? {} : { load: api.load }),
    ...(api.observe === undefined ? {} : { observe: api.observe }),
    ...(api.host === undefined ? {} : { host: api.host }),
    close: api.close,
  };
}
