import type { Image } from "@aws-sdk/client-ec2";
import { candidatesOf } from "../launch/launch.ts";
import type { AwsSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** Whether the image exists, can be launched, and fits the type of the class. Where it only does not fit a fallback, VMs can be created. */
export async function checkImage(spec: AwsSpec, { session, context }: MethodCall): Promise<Finding> {
  const { ami } = spec;
  const { api, region } = session;
  const image = await api.describeImage(ami, context.signal);
  if (image === undefined) {
    return { status: "failed", message: `providerSpec.ami: there is no image "${ami}" in ${region}.` };
  }
  const { State = "available" } = image;
  if (State !== "available") {
    return { status: "failed", message: `providerSpec.ami: image "${ami}" is ${State}, not available.` };
  }
  const unfit = await checkArchitecture(spec, image, { session, context });
  if (unfit !== undefined) return unfit;
  if (image.DeprecationTime !== undefined && Date.parse(image.DeprecationTime) < context.clock.now().getTime()) {
    return { status: "warning", message: `Image "${ami}" is deprecated since ${image.DeprecationTime}.` };
  }
  return { status: "ok", message: `"${ami}" is available.` };
}

/** Whether the types of the class and its fallbacks run the image; undefined where they do, or where EC2 does not show it. */
async function checkArchitecture(
  spec: AwsSpec,
  { Architecture }: Image,
  { session, context }: Pick<MethodCall, "session" | "context">,
): Promise<Finding | undefined> {
  const problems: string[] = [];
  let isOwnType = false;
  for (const [index, { machineType }] of candidatesOf(spec).entries()) {
    const type = await session.api.describeInstanceType(machineType, context.signal).catch(() => undefined);
    context.signal.throwIfAborted();
    const supported: readonly string[] = type?.ProcessorInfo?.SupportedArchitectures ?? [];
    if (Architecture === undefined || supported.length === 0 || supported.includes(Architecture)) continue;
    isOwnType ||= index === 0;
    problems.push(`image "${spec.ami}" is for ${Architecture}, ${machineType} for ${supported.join(", ")}`);
  }
  if (problems.length === 0) return undefined;
  return { status: isOwnType ? "failed" : "warning", message: `providerSpec.ami: ${problems.join("; ")}.` };
}
