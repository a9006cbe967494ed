/** Why the API server did not do as it was told. */
export interface Rejection {
  /** In its words, with the budget that it names. */
  readonly message: string;
  /** Whether a budget refused; otherwise it is an error. */
  readonly isBudget: boolean;
}

/** What became of an order to a pod to go, an eviction or a deletion. */
export type EvictionView =
  /** It waits for its turn, or the API server has not answered. `rejection`: how the last try ended; absent for the first one. */
  | { readonly state: "queued"; readonly rejection?: Rejection }
  /** The pod was told to go; the cache will show it. */
  | { readonly state: "accepted" }
  /** `retryAt`: wall clock, milliseconds; not asked again before. */
  | ({ readonly state: "rejected"; readonly retryAt: number } & Rejection);
