import type { AwsSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** Whether the image exists, can be launched, and fits the type of the class. */
export async function checkImage({ ami, machineType }: AwsSpec, { session, context }: MethodCall): Promise<Finding> {
  const { api, region } = session;
  const image = await api.describeImage(ami, context.signal);
  if (image === undefined) {
    return { status: "failed", message: `providerSpec.ami: there is no image "${ami}" in ${region}.` };
  }
  const { State = "available", Architecture } = image;
  if (State !== "available") {
    return { status: "failed", message: `providerSpec.ami: image "${ami}" is ${State}, not available.` };
  }
  if (image.DeprecationTime !== undefined && Date.parse(image.DeprecationTime) < context.clock.now().getTime()) {
    return { status: "warning", message: `Image "${ami}" is deprecated since ${image.DeprecationTime}.` };
  }
  const type = await api.describeInstanceType(machineType, context.signal).catch(() => undefined);
  const supported: readonly string[] = type?.ProcessorInfo?.SupportedArchitectures ?? [];
  if (Architecture !== undefined && supported.length > 0 && !supported.includes(Architecture)) {
    const message = `providerSpec.ami: image "${ami}" is for ${Architecture}, ${machineType} for ${supported.join(", ")}.`;
    return { status: "failed", message };
  }
  return { status: "ok", message: `"${ami}" is available.` };
}
