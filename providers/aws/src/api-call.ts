/**
 * What a request is for. Those that MCM's driver makes too have its names (metric label `service` of `mcm_cloud_api_requests_total`).
 */
export type ApiService =
  | "instance_create"
  | "instance_get_by_machine"
  | "instance_get_by_tag_and_status"
  | "instance_get_by_id"
  | "instance_terminate"
  | "instance_disable_source_dest_check"
  | "instance_assign_ipv6_prefixes"
  | "image_get"
  | "instance_type_get"
  | "subnet_get";

/** One request to EC2, with its repetitions by the SDK. For metrics. */
export interface ApiCall {
  readonly service: ApiService;
  readonly region: string;
  /** From when it was sent, without waiting for its turn. */
  readonly durationMs: number;
  /** How often the SDK sent it. */
  readonly attempts: number;
  /** `ok`, or the error code of EC2 or of the connection. */
  readonly outcome: string;
}
