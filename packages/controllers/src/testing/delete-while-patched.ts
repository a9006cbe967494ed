import type { ResourceType } from "@millwright/kube";
import type { FakeApi } from "@millwright/kube/testing";
import { beingDeleted, refOf } from "./builders.ts";

/** Lets another client delete an object, which keeps its finalizers, at the moment at which another one of its type is patched. */
export function deleteWhilePatched(
  api: FakeApi,
  type: ResourceType,
  { patched, deleted }: Readonly<Record<"patched" | "deleted", string>>,
): void {
  const patch = api.patch.bind(api);
  const patchAndDelete: typeof api.patch = async (of, ref, body, options) => {
    if (of.plural === type.plural && ref.name === patched) api.change(type, refOf(deleted), beingDeleted());
    return patch(of, ref, body, options);
  };
  Object.assign(api, { patch: patchAndDelete });
}
