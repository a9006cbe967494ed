/** Everything that a drain does to the world. */
export type DrainAction =
  /** JSON merge patch of metadata and spec of a node. */
  | { readonly kind: "PatchNode"; readonly name: string; readonly patch: object }
  | { readonly kind: "EvictPod"; readonly namespace: string; readonly name: string; readonly uid: string }
  | { readonly kind: "DeletePod"; readonly namespace: string; readonly name: string; readonly uid: string };
