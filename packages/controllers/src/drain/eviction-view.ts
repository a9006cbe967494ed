/** Why the API server rejected an eviction. */
export interface Rejection {
  /** Its message, with the name of the budget. */
  readonly message: string;
  /** Whether a budget rejected it; otherwise it is an error. */
  readonly isBudget: boolean;
}

/** State of the eviction or deletion of a pod. */
export type EvictionView =
  /** Waiting to be sent, or for the response. `rejection`: of the previous attempt; absent for the first one. */
  | { readonly state: "queued"; readonly rejection?: Rejection }
  /** The eviction was accepted; the cache will show it. */
  | { readonly state: "accepted" }
  /** `retryAt`: wall clock, milliseconds; not retried before. */
  | ({ readonly state: "rejected"; readonly retryAt: number } & Rejection);
