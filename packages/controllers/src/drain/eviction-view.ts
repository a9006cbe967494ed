/** What became of an order to a pod to go, an eviction or a deletion. */
export type EvictionView =
  /** It waits for its turn, or the API server has not answered. */
  | { readonly state: "queued" }
  /** The pod was told to go; the cache will show it. */
  | { readonly state: "accepted" }
  | {
      readonly state: "refused";
      /** Why, in the API server's words, with the budget that it names. */
      readonly message: string;
      /** Whether a budget refused; otherwise it is an error. */
      readonly isBudget: boolean;
      /** Wall clock, milliseconds: not asked again before. */
      readonly retryAt: number;
    };
