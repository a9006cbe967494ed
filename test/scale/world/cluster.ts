import type { RequestCount } from "../measure/request-counts.ts";

/** The API server of a measurement. */
export interface BenchCluster {
  /** Name and version, for results. */
  readonly name: string;
  readonly kubeconfig: string;
  /** Requests since the start, by client. */
  requests(): Promise<readonly RequestCount[]>;
  /** Its processes by name. */
  processes(): Promise<readonly { readonly name: string; readonly pid: number }[]>;
  close(): Promise<void>;
}
