import type { RemediationBudgetView } from "../model/remediation-budget.ts";

/** How far the caches of machines and nodes can be trusted. */
export interface ConnectivityView {
  /** The API server of one of them has not answered for a while: what is seen may be old news. */
  readonly isLost: boolean;
  /** When connectivity came back after it had been lost; wall clock, milliseconds. Undefined while it has held since the start. */
  readonly regainedAt: number | undefined;
}

/** Many machines turned Unknown at once. */
export interface OutageView {
  /** When it ends, should nothing else happen; wall clock, milliseconds. */
  readonly until: number;
  /** The zone that is hit; undefined for the whole namespace. */
  readonly zone: string | undefined;
}

/** What may hold back the replacement of an unhealthy machine. Read only in phases in which it may come to that. */
export interface RemediationView extends RemediationBudgetView {
  /** In words: `deployment pool`. */
  readonly group: string;
  /** What is wrong with the limit that somebody set. */
  readonly note: string | undefined;
  /** The machine was allowed to be replaced, and its phase does not show it yet. */
  readonly isInFlight: boolean;
  readonly outage: OutageView | undefined;
  readonly connectivity: ConnectivityView;
}

/** Nothing in the way, nobody else there. */
export const noRemediationHold: RemediationView = {
  group: "",
  peers: [],
  inFlight: [],
  limit: 1,
  note: undefined,
  isInFlight: false,
  outage: undefined,
  connectivity: { isLost: false, regainedAt: undefined },
};
