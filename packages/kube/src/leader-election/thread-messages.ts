import type { ClusterConfig } from "../connection/cluster-config.ts";
import type { LoadKubeConfigOptions } from "../connection/load-kube-config.ts";
import type { LogLevel } from "../log.ts";
import type { ObjectRef } from "../objects/kube-object.ts";
import type { ElectionSettings } from "./settings.ts";

/** How the thread connects to the cluster. Functions cannot be passed to a thread, so it loads a kubeconfig itself. */
export type ElectionCluster =
  | { readonly kubeConfig: LoadKubeConfigOptions }
  | {
      readonly cluster: Omit<ClusterConfig, "credentials" | "current">;
      /** Sent with each request. */
      readonly headers?: Readonly<Record<string, string>>;
    };

/** An election that the thread takes part in. */
export interface ThreadElection {
  /** Names it in all messages. */
  readonly id: number;
  readonly memory: SharedArrayBuffer;
  readonly cluster: ElectionCluster;
  readonly leases: readonly (ObjectRef & { readonly namespace: string })[];
  readonly identity: string;
  readonly settings: ElectionSettings;
  readonly userAgent: string;
  /** The lease is released when the main thread sent no heartbeat for so long; 0: never. */
  readonly stalledAfterMs: number;
}

/** Messages to the thread. */
export type ElectionThreadRequest =
  | { readonly kind: "start"; readonly election: ThreadElection }
  | { readonly kind: "stop"; readonly id: number };

/** What the thread reports of one election. */
export type ElectionReport =
  | { readonly kind: "leading" }
  | { readonly kind: "holder"; readonly identity: string }
  | { readonly kind: "rewound"; readonly found: string }
  | { readonly kind: "ended"; readonly because: string }
  | { readonly kind: "failed"; readonly message: string }
  | {
      readonly kind: "log";
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

/** Messages of the thread. */
export type ElectionThreadMessage =
  | { readonly id: number; readonly report: ElectionReport }
  /** Nothing of this election is left in the thread. */
  | { readonly id: number; readonly report?: undefined };
