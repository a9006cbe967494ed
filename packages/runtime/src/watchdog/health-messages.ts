import type { Rejection } from "@millwright/kube/endpoints";

/** Where the thread serves, and to whom. */
export interface HealthEndpoints {
  readonly address: string;
  readonly port: number;
  /** Whether `/metrics` needs a token, which the main thread reviews. */
  readonly needsToken: boolean;
}

/** What the health thread is started with. */
export interface HealthThreadData {
  /** One BigInt64: the heartbeat of the main thread, which changes while its event loop runs. */
  readonly memory: SharedArrayBuffer;
  /** The call of a driver that began last: it may be what blocks the event loop. Written by `writeLastCall`. */
  readonly lastCall: SharedArrayBuffer;
  /** Absent: no HTTP is served. */
  readonly endpoints?: HealthEndpoints | undefined;
  /** The process is killed when its event loop was blocked for so long; see {@link releaseMs}. 0: never. */
  readonly stallMs: number;
}

/** How long the leases of a process whose event loop is blocked may take to be released, before it is killed. Milliseconds. */
export const releaseMs = 10_000;

/** Whether the main thread is ready, and what runs in it. */
export interface HealthReport {
  /** Why it is not ready; none: it is. */
  readonly problems: readonly string[];
  /** What runs, the longest first. */
  readonly running: readonly string[];
}

/** Messages to the thread. */
export type ToHealthThread =
  | ({ readonly kind: "report" } & HealthReport)
  /** Metrics in Prometheus' text format, in order. */
  | { readonly kind: "metrics part"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: "metrics end"; readonly id: number; readonly isComplete: boolean }
  /** `undefined`: the token may be used; `"failed"`: it cannot be reviewed at the moment. */
  | { readonly kind: "reviewed"; readonly id: number; readonly result: Rejection | "failed" | undefined };

/** Messages of the thread. */
export type FromHealthThread =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  | { readonly kind: "metrics"; readonly id: number }
  | { readonly kind: "review"; readonly id: number; readonly token: string };
