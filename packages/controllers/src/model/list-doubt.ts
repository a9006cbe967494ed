/** Why the answer of a driver that a VM does not exist proves nothing: the credentials or the class may name another account, or another place. */
export type ListDoubt =
  /** The last list lacks VMs of so many of these machines. */
  | { readonly kind: "doubtful"; readonly missing: number; readonly machines: number }
  /** A list has VMs again since then, wall clock in milliseconds: answers from before are still in doubt. */
  | { readonly kind: "over"; readonly atMs: number }
  /** The VMs of the class were not listed yet by this process. */
  | { readonly kind: "no list" };
