/** What a request is for. Those that MCM's driver makes too have its names (metric label `service` of `mcm_cloud_api_requests_total`). */
export type ApiService =
  | "instance_create"
  | "instance_delete"
  | "instance_get"
  | "instance_list"
  | "disk_list"
  | "disk_delete"
  | "operations_get"
  | "operations_list"
  | "machine_type_get"
  | "region_get"
  | "image_get"
  | "network_get"
  | "subnetwork_get"
  | "permissions_test";
