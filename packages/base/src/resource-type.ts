/** A resource of a Kubernetes API: what a client needs to build a path. */
export interface ResourceType {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Version, such as `v1alpha1`. */
  readonly version: string;
  /** Kind of the objects. */
  readonly kind: string;
  /** Name in paths. */
  readonly plural: string;
  /** Name of one, as kubectl takes it. */
  readonly singular?: string;
  /** Abbreviations, as kubectl takes them. */
  readonly shortNames?: readonly string[];
  /** Whether the objects live in namespaces. */
  readonly namespaced: boolean;
}
