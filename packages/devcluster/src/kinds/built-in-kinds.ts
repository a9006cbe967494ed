import { clusterKinds } from "./cluster-kinds.ts";
import { coreKinds } from "./core-kinds.ts";
import { eventKinds } from "./event-kinds.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { policyKinds } from "./policy-kinds.ts";
import { volumeKinds } from "./volume-kinds.ts";
import { workloadKinds } from "./workload-kinds.ts";

/** Every built-in resource in every served version. */
export const builtInKinds: readonly ResourceDefinition[] = [
  ...coreKinds,
  ...eventKinds,
  ...volumeKinds,
  ...clusterKinds,
  ...workloadKinds,
  ...policyKinds,
];
