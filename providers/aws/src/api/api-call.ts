/**
 * What requests are for, and their actions in EC2, each of which has its own rate. Those that MCM's driver makes too have its names (metric label `service` of
 * `mcm_cloud_api_requests_total`).
 */
export const actions = {
  instance_create: "RunInstances",
  instance_get_by_machine: "DescribeInstances",
  instance_get_by_tag_and_status: "DescribeInstances",
  instance_get_by_id: "DescribeInstances",
  instance_terminate: "TerminateInstances",
  instance_disable_source_dest_check: "ModifyNetworkInterfaceAttribute",
  instance_assign_ipv6_prefixes: "AssignIpv6Addresses",
  image_get: "DescribeImages",
  instance_type_get: "DescribeInstanceTypes",
  subnet_get: "DescribeSubnets",
  instance_type_offering_get: "DescribeInstanceTypeOfferings",
  instance_create_dry_run: "RunInstances",
  instance_get_dry_run: "DescribeInstances",
  instance_terminate_dry_run: "TerminateInstances",
  security_group_get: "DescribeSecurityGroups",
} as const;

/** What a request is for. */
export type ApiService = keyof typeof actions;
