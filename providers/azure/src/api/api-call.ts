/**
 * What a request is for. Those that MCM's driver makes too have its names (metric label `service` of `mcm_cloud_api_requests_total`).
 */
export type ApiService =
  | "virtual_machine_create"
  | "virtual_machine_delete"
  | "virtual_machine_get"
  | "virtual_machine_list"
  | "virtual_machine_update"
  | "virtual_machine_image_get"
  | "virtual_machine_sizes_list"
  | "market_place_agreement_create"
  | "market_place_agreement_get"
  | "nic_create"
  | "nic_delete"
  | "nic_get"
  | "nic_list"
  | "disk_create"
  | "disk_delete"
  | "disk_get"
  | "disk_list"
  | "operation_get"
  | "token_get"
  | "other";

const kinds: readonly (readonly [RegExp, Readonly<Record<string, ApiService>>])[] = [
  [/\/(disk)?operation(s|results)\/[^/]+$/, { GET: "operation_get" }],
  [
    /\/virtualmachines\/[^/]+$/,
    {
      GET: "virtual_machine_get",
      PUT: "virtual_machine_create",
      PATCH: "virtual_machine_update",
      DELETE: "virtual_machine_delete",
    },
  ],
  [/\/virtualmachines$/, { GET: "virtual_machine_list" }],
  [/\/networkinterfaces\/[^/]+$/, { GET: "nic_get", PUT: "nic_create", DELETE: "nic_delete" }],
  [/\/networkinterfaces$/, { GET: "nic_list" }],
  [/\/disks\/[^/]+$/, { GET: "disk_get", PUT: "disk_create", DELETE: "disk_delete" }],
  [/\/disks$/, { GET: "disk_list" }],
  [/\/artifacttypes\/vmimage\//, { GET: "virtual_machine_image_get" }],
  [/\/agreements\/current$/, { GET: "market_place_agreement_get", PUT: "market_place_agreement_create" }],
  [/\/microsoft\.compute\/skus$/, { GET: "virtual_machine_sizes_list" }],
  [
    /\/oauth2\/v2\.0\/token$|\/openid-configuration$|\/metadata\/identity\/oauth2\/token\/?$/,
    { GET: "token_get", POST: "token_get" },
  ],
];

/** What a request is for, by its method and address. */
export function serviceOf(method: string, url: string): ApiService {
  const path = new URL(url).pathname.toLowerCase();
  for (const [pattern, byMethod] of kinds) if (pattern.test(path)) return byMethod[method] ?? "other";
  return "other";
}
