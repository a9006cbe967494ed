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
