import type { Json } from "../json.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";
import type { Machinery, ObjectRef } from "../machinery.ts";
import { badRequest } from "../status.ts";
import type { Outcome } from "../verbs/outcome.ts";
import type { WriteOptions } from "../verbs/write-options.ts";

export function applyObject(
  _m: Machinery,
  _d: ResourceDefinition,
  _r: ObjectRef,
  _b: Json | undefined,
  _o: WriteOptions & { readonly manager: string; readonly subresource: string },
): Outcome {
  throw badRequest("server-side apply is not there yet");
}
