import { text } from "../schema/fields.ts";

/** API group of the four kinds, shared with Gardener's Machine Controller Manager. */
export const machineGroup = "machine.sapcloud.io";

/** Group and version of the four kinds, as in `apiVersion` of an object. */
export const machineApiVersion = "machine.sapcloud.io/v1alpha1";

/** A resource of a Kubernetes API: what a client needs to build a path, and what the four kinds say of themselves. */
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

/** Schema of `apiVersion`. */
export const apiVersionField = text("Group and version of the object: machine.sapcloud.io/v1alpha1.").exactOptional();

/** Schema of `kind`. */
export const kindField = text("Kind of the object.").exactOptional();
