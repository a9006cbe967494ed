import type { Schema } from "./schema.ts";
import {
  anything,
  coreConditions,
  flag,
  int32,
  int64,
  kindSchema,
  list,
  mapList,
  quantities,
  set,
  struct,
  text,
  time,
} from "./schema-notation.ts";

/** `v1.Node`. */
export const nodeSchema: Schema = kindSchema({
  spec: struct({
    podCIDR: text,
    podCIDRs: set(text),
    providerID: text,
    unschedulable: flag,
    externalID: text,
    taints: list(struct({ key: text, value: text, effect: text, timeAdded: time })),
  }),
  status: struct({
    addresses: mapList(["type"], struct({ type: text, address: text })),
    allocatable: quantities,
    capacity: quantities,
    conditions: coreConditions,
    config: anything,
    daemonEndpoints: struct({ kubeletEndpoint: struct({ Port: int32 }) }),
    images: list(struct({ names: list(text), sizeBytes: int64 })),
    nodeInfo: struct({
      architecture: text,
      bootID: text,
      containerRuntimeVersion: text,
      kernelVersion: text,
      kubeProxyVersion: text,
      kubeletVersion: text,
      machineID: text,
      operatingSystem: text,
      osImage: text,
      systemUUID: text,
    }),
    phase: text,
    volumesAttached: list(struct({ name: text, devicePath: text })),
    volumesInUse: list(text),
  }),
});
