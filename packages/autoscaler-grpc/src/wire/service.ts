import { fileURLToPath } from "node:url";
import type { ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { TemplateNode } from "../template/template-node.ts";

const protos = fileURLToPath(new URL("../../proto", import.meta.url));

const loaded = loadSync(["externalgrpc.proto", "node.proto"], {
  includeDirs: [protos],
  keepCase: true,
  longs: Number,
  defaults: true,
  arrays: true,
  objects: true,
});

function serviceNamed(name: string): ServiceDefinition {
  const found = loaded[name];
  if (found === undefined || "format" in found) throw new Error(`${name} must be a service of the proto files`);
  return found;
}

/** The service that the cluster autoscaler calls. */
export const cloudProviderService = serviceNamed("clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider");

/** Encodes a Node as Kubernetes does. */
export function encodeNode(node: TemplateNode): Uint8Array {
  const type = loaded["millwright.autoscaler.v1.Node"];
  if (type === undefined || !("serialize" in type) || typeof type.serialize !== "function")
    throw new Error("node.proto must have the message Node");
  return type.serialize(node);
}
