/** What a request is for. Those that MCM's driver makes too have its names (metric label `service` of `mcm_cloud_api_requests_total`). */
export type ApiService =
  | "instance_create"
  | "instance_delete"
  | "instance_get"
  | "instance_list"
  | "operations_get"
  | "operations_list"
  | "machine_type_get";

/** One request to Compute Engine, with its repetitions. For metrics. */
export interface ApiCall {
  readonly service: ApiService;
  readonly project: string;
  /** From when it was sent, without waiting for its turn. */
  readonly durationMs: number;
  /** How often it was sent. */
  readonly attempts: number;
  /** `ok`, or the reason of Compute Engine or of the connection. */
  readonly outcome: string;
}
