import type { ConnectivityView } from "@millwright/kube";
import type { RemediationBudgetView } from "../model/remediation-budget.ts";

/** Many machines became Unknown at once. */
export interface OutageView {
  /** When it ends, if nothing else happens; wall clock, milliseconds. */
  readonly until: number;
  /** The affected zone; undefined for the whole namespace. */
  readonly zone: string | undefined;
}

/** What may pause or defer the remediation of an unhealthy machine. Read only in phases from which it may be remediated. */
export interface RemediationView extends RemediationBudgetView {
  /** For people: `deployment pool`. */
  readonly group: string;
  /** What is wrong with the limit in the annotation of the deployment. */
  readonly note: string | undefined;
  /** The remediation of the machine was started, and the phase in the cache does not show it yet. */
  readonly isInFlight: boolean;
  readonly outage: OutageView | undefined;
  readonly connectivity: ConnectivityView;
}

/** Nothing pauses or defers the remediation, and there are no other machines. */
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
