import type { LogFields } from "@millwright/base";
import { type ApiObject, parseKey } from "./kube-object.ts";

/** The fields of a log line about an object. */
export const objectFields = ({ kind, metadata: { namespace, name } }: ApiObject): LogFields => ({
  ...(kind === undefined ? {} : { kind }),
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

/** The fields of a log line about the object with a key of a store or queue. */
export function keyFields(key: string): LogFields {
  const { namespace, name } = parseKey(key);
  return namespace === undefined ? { name } : { namespace, name };
}
